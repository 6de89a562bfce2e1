package io.conclave.locks;

import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Registration;
import io.conclave.coordinator.Waiting;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.LossReason;
import io.conclave.line.Contender;
import io.conclave.line.LineRole;
import io.conclave.line.Tenant;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.spi.Check;
import io.conclave.spi.Create;
import io.conclave.spi.Delete;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import io.conclave.spi.Multi;
import io.conclave.spi.Operation;
import io.conclave.spi.Request;
import io.conclave.spi.SessionState;
import io.conclave.spi.Sync;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Somebody who wants some permits of a semaphore, from his place in the admission line to the deletion of his leases.
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>Stand in the admission line, which is a mutex's ({@link Contender}). Its head alone is concerned with permits, so a release wakes one whatever the
 *       number of waiters, and who needs many is not overtaken by those who need few.
 *   <li>Head: count the leases, with a watch, until there is room for all that is wanted ({@link Room}). Nobody else makes leases meanwhile, so room that was
 *       seen stays. The first look is sent behind the entrance: it counts if the entrance's own look at the line has admitted us, because it was
 *       executed behind that.
 *   <li>Turn the place into leases, in one transaction: check the place and the version of the number of permits, create the leases, delete the place. So
 *       permits come all at once or not at all, and nothing is held while waiting for more.
 *   <li>Watch the own leases: when one vanishes, the grant is lost, and the others are given back ({@link LeaseWatch}).
 *   <li>Whatever way it ends, place and leases are deleted ({@link Contender}, {@link LeaseReturn}).
 * </ol>
 *
 * <p>What if the transaction's reply is lost? All leases carry one guid in their names. After a sync they are all there (granted), or none is: then the place is still
 * there, and it is tried again, or it is not, and somebody has deleted it, or all of the leases.
 *
 * <p>Where the leases are a few, somebody has deleted the others: the grant fails, and the few are given back. All state belongs to the session's dispatcher; methods that others may call say so.
 */
final class PermitTenant implements Tenant {
    private static final Logger LOG = LoggerFactory.getLogger(PermitTenant.class);
    private static final int CHECK_OF_PLACE = 0; // its position in the transaction

    private final RecipeSession session;
    private final DistributedSemaphore semaphore;
    private final SemaphoreLayout layout;
    private final int wanted;
    private final boolean patient;
    private final byte[] data;
    private final String guid = UUID.randomUUID().toString();
    private final CompletableFuture<PermitTenant> granted = new CompletableFuture<>();
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final CompletableFuture<Void> revocation = new CompletableFuture<>();
    private final CompletableFuture<Void> placeGone = new CompletableFuture<>();
    private final CompletableFuture<Void> gone;
    private final Room room;
    private final LeaseWatch leaseWatch;
    private final LeaseReturn leaseReturn;
    private final PermitMeasurements measurements;
    private final Contender place;
    private Registration sessionListener = () -> {};
    private boolean turnUnanswered;
    private volatile Leases leases = new Leases(List.of(), 0); // written on the dispatcher only
    private volatile PermitState state = PermitState.QUEUED; // written on the dispatcher only

    /**
     * What was granted.
     *
     * @param paths the znodes
     * @param czxid the change that has created them all, and tells them from others of the same names
     */
    record Leases(List<NodePath> paths, long czxid) {}

    private PermitTenant(
            RecipeSession session, DistributedSemaphore semaphore, int wanted, boolean patient, byte[] data) {
        this.session = session;
        this.semaphore = semaphore;
        this.layout = semaphore.layout();
        this.wanted = wanted;
        this.patient = patient;
        this.data = data;
        this.room = new Room(this, layout, semaphore.fixedPermits());
        this.leaseWatch = new LeaseWatch(this);
        this.leaseReturn = new LeaseReturn(session, layout, guid);
        this.gone = CompletableFuture.allOf(placeGone, leaseReturn.done().toCompletableFuture());
        this.measurements = new PermitMeasurements(session, layout.path());
        this.place = patient
                ? Contender.enter(session, layout.line(), LineRole.MUTEX, data)
                : Contender.enterIfFree(session, layout.line(), LineRole.MUTEX, data);
    }

    /**
     * Asks for permits. Never blocks.
     *
     * @param patient whether to wait if they cannot be had at once
     * @param data what others see of us; not copied
     */
    static PermitTenant enter(
            RecipeSession session, DistributedSemaphore semaphore, int wanted, boolean patient, byte[] data) {
        PermitTenant tenant = new PermitTenant(session, semaphore, wanted, patient, data);
        session.execute(tenant::begin); // behind the beginning of the place
        return tenant;
    }

    @Override
    public RecipeSession session() {
        return session;
    }

    @Override
    public CompletionStage<PermitTenant> granted() {
        return granted;
    }

    @Override
    public CompletionStage<LossReason> lost() {
        return lost;
    }

    @Override
    public CompletionStage<Void> gone() {
        return gone;
    }

    /** Completes when somebody has asked for one of the leases. */
    @Override
    public CompletionStage<Void> revocationRequested() {
        return revocation;
    }

    /** The leases, once they are granted. Any thread. */
    Leases leases() {
        return leases;
    }

    @Override
    public Duration remaining() {
        return state == PermitState.HELD ? session.remaining() : Duration.ZERO;
    }

    @Override
    public boolean deadlineIsStrict() {
        return session.deadlineIsStrict();
    }

    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        session.execute(() -> depart(why, LossReason.RELEASED));
        return gone;
    }

    @Override
    public void giveUpWaiting(ConclaveException why) {
        session.execute(() -> {
            if (state != PermitState.HELD) {
                depart(why, LossReason.RELEASED);
            }
        });
    }

    private void begin() {
        place.gone().thenRun(() -> placeGone.complete(null));
        sessionListener = session.onStateChange(this::onSessionState);
        if (!session.state().isLive()) {
            onSessionState(session.state());
            return;
        }
        room.look(false); // behind the entrance
        place.granted().whenComplete((admitted, failure) -> {
            if (failure == null) {
                guarded(this::onHead);
            } else {
                guarded(() -> fail(Waiting.cause(failure)));
            }
        });
        place.lost().thenAccept(reason -> guarded(() -> onPlaceLost(reason)));
    }

    private void onHead() {
        if (state == PermitState.QUEUED) {
            become(PermitState.HEAD);
            if (!room.isLooking()) {
                room.look(true);
            } // else the look behind the entrance is answered after the look that has admitted us
        }
    }

    private void onPlaceLost(LossReason reason) {
        if (reason == LossReason.SESSION_LOST) {
            onSessionState(SessionState.LOST); // the place may hear of it first
        } else if (reason == LossReason.COORDINATOR_CLOSED) {
            onSessionState(SessionState.CLOSED);
        } else if (state == PermitState.HEAD) {
            placeVanished(reason);
        } // while it is turned into leases the answer tells
    }

    private void placeVanished(LossReason reason) {
        fail(new GrantLostException(
                reason == LossReason.REVOKED
                        ? "Revoked while " + describe()
                        : "The znode was deleted by somebody else while " + describe()));
    }

    void onSeen(Room.Seen seen) {
        if (state != PermitState.HEAD) {
            return;
        }
        if (seen.has(wanted)) {
            if (seen.hasParent()) {
                turn(seen);
            } else {
                makeParent(() -> turn(seen));
            }
        } else if (!patient) {
            depart(
                    new AcquireTimeoutException(layout.path() + " has no room for " + wanted + ": " + seen.leases()
                            + " of " + seen.permits() + " permits are out"),
                    LossReason.RELEASED);
        } else if (!seen.watched()) {
            room.look(true);
        } // else the watches tell
    }

    void onRoomMayHaveChanged() {
        if (state == PermitState.HEAD) {
            room.look(true);
        }
    }

    void onNumberMissing() {
        if (state == PermitState.HEAD) {
            PermitNumber.makeIfMissing(session, layout.permits(), semaphore.initialPermits())
                    .whenComplete((made, failure) -> guarded(() -> {
                        if (failure == null) {
                            onRoomMayHaveChanged();
                        } else {
                            onLookFailed(Waiting.cause(failure));
                        }
                    }));
        }
    }

    void onLookFailed(Throwable cause) {
        if (state == PermitState.HEAD) {
            if (cause instanceof OutcomeUnknownException) {
                room.look(true);
            } else {
                fail(cause);
            }
        } // the look behind the entrance is none that must succeed
    }

    private void makeParent(Runnable then) {
        ParentMaker.makeContainers(session, layout.leases())
                .whenComplete((made, failure) -> guarded(() -> {
                    if (state != PermitState.HEAD) {
                        return;
                    }
                    if (failure == null) {
                        then.run();
                    } else {
                        onLookFailed(Waiting.cause(failure));
                    }
                }));
    }

    private void turn(Room.Seen seen) {
        NodePath ours = place.path().orElseThrow();
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(Check.exists(ours));
        seen.version().ifPresent(version -> operations.add(new Check(layout.permits(), version)));
        int checks = operations.size();
        for (int lease = 0; lease < wanted; lease++) {
            operations.add(Create.of(layout.leaseOf(guid)).withData(data).withMode(CreateMode.EPHEMERAL_SEQUENTIAL));
        }
        operations.add(Delete.of(ours));
        become(PermitState.TURNING);
        turnUnanswered = true;
        place.turnInto(
                new Multi(operations),
                results -> guarded(() -> onTurned(results)),
                cause -> guarded(() -> onNotTurned(cause, checks)));
    }

    private void onTurned(List<Multi.Result> results) {
        turnUnanswered = false;
        List<NodePath> paths =
                results.stream().flatMap(result -> result.path().stream()).toList();
        long czxid = results.stream()
                .flatMap(result -> result.stat().stream())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("The backend created " + paths + " and told no stat"))
                .czxid();
        have(new Leases(paths, czxid));
    }

    private void have(Leases ours) {
        if (state == PermitState.LEAVING) {
            leaseReturn.give(ours);
            return;
        }
        if (state != PermitState.TURNING || session.remaining().isZero()) {
            return; // the session's loss is known, or on its way here
        }
        leases = ours;
        become(PermitState.HELD);
        room.stop();
        leaseReturn.found();
        leaseWatch.watch(ours);
        measurements.granted();
        LOG.debug("{}: granted", this);
        granted.complete(this);
    }

    private void onNotTurned(Throwable cause, int checks) {
        turnUnanswered = false;
        boolean unknown = cause instanceof OutcomeUnknownException;
        if (state == PermitState.LEAVING) {
            if (unknown) {
                leaseReturn.search();
            } else {
                leaseReturn.nothingLeft();
            }
        } else if (state == PermitState.TURNING) {
            if (unknown) {
                findOut();
            } else if (cause instanceof RefusedException refused && isOfPlace(refused)) {
                placeMissing();
            } else if (cause instanceof RefusedException refused && isWorthAnotherLook(refused, checks)) {
                lookAgain();
            } else {
                fail(cause);
            }
        }
    }

    /** Whether our own place was not there. */
    private static boolean isOfPlace(RefusedException refused) {
        return refused.reason() == RefusalReason.NO_NODE
                && refused.operationIndex().orElse(-1) == CHECK_OF_PLACE;
    }

    /** Whether what we saw was out of date: of the number of permits, or of the leases' parent. */
    private static boolean isWorthAnotherLook(RefusedException refused, int checks) {
        int operation = refused.operationIndex().orElse(0);
        boolean ofNumber = operation > 0 && operation < checks;
        boolean missing = refused.reason() == RefusalReason.NO_NODE;
        return missing || (ofNumber && refused.reason() == RefusalReason.BAD_VERSION);
    }

    private void lookAgain() {
        becomeHeadAgain();
        if (state == PermitState.HEAD) {
            room.look(true);
        }
    }

    /** Somebody has deleted it, of which the place itself may not have heard. */
    private void placeMissing() {
        becomeHeadAgain();
        if (state == PermitState.HEAD && !session.remaining().isZero()) {
            boolean asked = place.revocationRequested().toCompletableFuture().isDone();
            placeVanished(asked ? LossReason.REVOKED : LossReason.NODE_DELETED);
        } // else the session's loss is on its way here
    }

    private void becomeHeadAgain() {
        become(PermitState.HEAD);
        CompletableFuture<LossReason> placeLost = place.lost().toCompletableFuture();
        if (placeLost.isDone()) {
            onPlaceLost(placeLost.join());
        }
    }

    /** The transaction was not answered: the guid tells what came of it. */
    private void findOut() {
        measurements.recovering();
        // One after the other: a list that came by another connection than the sync may be older than the transaction.
        send(
                Sync.of(layout.leases()),
                synced -> send(
                        GetChildren.of(layout.leases()),
                        children -> onFound(layout.leasesOf(guid, children.names())),
                        this::onNotFoundOut),
                this::onNotFoundOut);
    }

    private void onNotFoundOut(Throwable cause) {
        if (state != PermitState.TURNING) {
            return; // whoever leaves searches for himself
        }
        if (cause instanceof OutcomeUnknownException) {
            findOut();
        } else if (Refusals.isNoNode(cause)) {
            onFound(List.of()); // there is no parent of leases, or somebody has deleted one since it was listed
        } else {
            fail(cause);
        }
    }

    private void onFound(List<NodePath> found) {
        if (state != PermitState.TURNING) {
            return;
        }
        if (found.size() == wanted) {
            send(
                    GetData.of(found.get(0)),
                    node -> have(new Leases(found, node.stat().czxid())),
                    this::onFoundNotRead);
        } else if (found.isEmpty()) {
            lookAgain();
        } else {
            fail(new GrantLostException("Leases were deleted by somebody else while " + describe()));
        }
    }

    private void onFoundNotRead(Throwable cause) {
        if (state == PermitState.TURNING && Refusals.isNoNode(cause)) {
            findOut(); // deleted since it was listed, and the others may be there still
        } else {
            onNotFoundOut(cause);
        }
    }

    /** The word that asks for it stands in one of the leases. */
    void askedToGiveUp() {
        if (state == PermitState.HELD && !revocation.isDone()) {
            LOG.debug("{}: asked to give up", this);
            revocation.complete(null);
        }
    }

    /** One of the leases is not there any more, or not ours: the grant is lost, and the others are given back. */
    void leaseVanished() {
        if (state != PermitState.HELD) {
            return;
        }
        GrantLostException why = new GrantLostException("A lease was deleted by somebody else while " + describe());
        if (session.remaining().isZero()) {
            // the backend may have ended the session, and tell of its znodes before it hangs up
            end(LossReason.SESSION_LOST, why);
        } else {
            depart(why, revocation.isDone() ? LossReason.REVOKED : LossReason.NODE_DELETED);
        }
    }

    private void onSessionState(SessionState next) {
        if (next == SessionState.LOST) {
            end(LossReason.SESSION_LOST, new SessionGoneException("The session was lost while " + describe()));
        } else if (next == SessionState.CLOSED) {
            end(LossReason.COORDINATOR_CLOSED, new ClosedException("The coordinator was closed while " + describe()));
        }
    }

    /** What cannot be mended here. */
    void fail(Throwable cause) {
        if (cause instanceof ClosedException closed) {
            end(LossReason.COORDINATOR_CLOSED, closed);
        } else if (cause instanceof SessionGoneException gone) {
            end(LossReason.SESSION_LOST, gone);
        } else {
            ConclaveException why = cause instanceof ConclaveException known
                    ? known
                    : new OutcomeUnknownException("Unexpected failure while " + describe(), cause);
            depart(why, LossReason.REFUSED);
        }
    }

    /** Nothing of us is left at the backend. */
    private void end(LossReason reason, ConclaveException why) {
        if (state == PermitState.GONE) {
            return;
        }
        PermitState before = state;
        become(PermitState.GONE);
        announce(before, reason, why); // whoever hears of the loss is not told any more that they are held
        placeGone.complete(null);
        leaseReturn.nothingLeft();
        room.stop();
        sessionListener.close();
    }

    private void depart(ConclaveException why, LossReason reason) {
        if (!state.isActive()) {
            return;
        }
        PermitState before = state;
        become(PermitState.LEAVING);
        announce(before, reason, why);
        gone.thenRun(this::departed);
        place.leave(why);
        if (before == PermitState.HELD) {
            leaseReturn.give(leases);
        } else if (before != PermitState.TURNING) {
            leaseReturn.nothingLeft();
        } else if (!turnUnanswered) {
            leaseReturn.search();
        } // else the answer finds us leaving
        room.stop();
    }

    private void departed() {
        if (state == PermitState.LEAVING) {
            become(PermitState.GONE);
        }
        sessionListener.close();
    }

    private void announce(PermitState before, LossReason reason, ConclaveException why) {
        if (before == PermitState.HELD) {
            measurements.noLongerHeld(reason);
            if (reason != LossReason.RELEASED) {
                LOG.warn("{}: lost: {}", this, reason);
            }
            lost.complete(reason);
        } else {
            granted.completeExceptionally(why);
        }
    }

    /** What goes wrong here ends the tenant: with a log line alone he would keep others from the permits for ever. */
    <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        session.send(
                request,
                answer -> guarded(() -> onAnswer.accept(answer)),
                cause -> guarded(() -> onFailure.accept(cause)));
    }

    void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("{}: unexpected failure", this, e);
            fail(e);
        }
    }

    private void become(PermitState next) {
        PermitState previous = state;
        if (!previous.mayBecome(next)) {
            throw new IllegalStateException(this + " cannot go from " + previous + " to " + next);
        }
        state = next;
    }

    boolean isHeld() {
        return state == PermitState.HELD;
    }

    /** Whether watches on the semaphore's room are still of use. */
    boolean needsRoom() {
        return state == PermitState.QUEUED || state == PermitState.HEAD || state == PermitState.TURNING;
    }

    private String describe() {
        return (isHeld() ? "holding " : "waiting for ") + wanted + " permits of " + layout.path() + " as " + guid;
    }

    @Override
    public String toString() {
        return "Permits[" + wanted + " of " + layout.path() + ", " + guid + ", " + state + "]";
    }
}
