package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.Holder;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.line.AbstractGrantRequest;
import io.conclave.line.Contender;
import io.conclave.line.GrantMeasurements;
import io.conclave.line.LineRole;
import io.conclave.metrics.Ongoing;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.request.Watcher;
import io.conclave.session.SessionState;
import io.conclave.spi.Elapsed;
import io.conclave.time.TimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A request for a lease, from its place in the line to the grant, which {@link LeaseHold} has from then on.
 *
 * <ol>
 *   <li>Look at the leases once, so that their time counts from here; stand in the line, which is a mutex's.
 *   <li>Head: look again, with a watch on their coming and going. A lease that has not changed for as long as it lasts
 *       is over ({@link LeaseSightings}); until the next one may be, wait for the watch and for that time.
 *   <li>Room: one transaction leaves the line, writes the resource's znode in the version that was seen, which every
 *       grant does, deletes the leases that are over in the versions that were seen, and creates the own one. So what
 *       others have done since refuses it: a grant, or an extension.
 *   <li>Its reply is lost: the lease's name tells. However the request ends without a grant, the lease is deleted, on
 *       the coordinator's next session if need be: it would outlive this one.
 * </ol>
 *
 * <p>State belongs to the session's dispatcher.
 */
final class LeaseRequest extends AbstractGrantRequest {
    private static final LineRole LINE = LineRole.mutex("lease.turn");
    private static final int DELETION_OF_PLACE = 0; // its position in the transaction

    private final Coordinator coordinator;
    private final LeaseLayout layout;
    private final Wish wish;
    private final LeaseRecord record;
    private final boolean patient;
    private final String id = LeaseLayout.newId();
    private final Watcher watcher = this::onLeasesChanged;
    private final Contender place;
    private final GrantMeasurements measurements;
    private final CompletableFuture<Void> leaseGone = new CompletableFuture<>();
    private PermitState state = PermitState.QUEUED;
    private boolean looking;
    private boolean watched;
    private TimeSource.Timer nextEnd = () -> {};
    private volatile List<LeaseLook.Lease> held = List.of(); // written on the dispatcher only, as the next
    private volatile @Nullable LeaseHold hold;

    /**
     * What is wanted.
     *
     * @param total how many permits there are
     */
    record Wish(LeaseRecord record, int total) {}

    private LeaseRequest(
            Coordinator coordinator, RecipeSession session, LeaseLayout layout, Wish wish, boolean patient) {
        super(session);
        this.coordinator = coordinator;
        this.layout = layout;
        this.wish = wish;
        this.record = wish.record().writtenBy(LeaseRecord.newWriter());
        this.patient = patient;
        this.measurements = new GrantMeasurements(session, layout.path(), "lease");
        measurements.waits();
        byte[] data = wish.record().owner().getBytes(StandardCharsets.UTF_8);
        this.place = Contender.enter(session, layout.line(), LINE, data, patient);
    }

    /** Asks for a lease. Never blocks. */
    static LeaseRequest enter(
            Coordinator coordinator, RecipeSession session, LeaseLayout layout, Wish wish, boolean patient) {
        LeaseRequest request = new LeaseRequest(coordinator, session, layout, wish, patient);
        session.execute(request::begin); // behind the beginning of the place
        return request;
    }

    private void begin() {
        tie();
        if (!session.state().isLive()) {
            sessionIs(session.state());
            return;
        }
        look(GetChildren.of(layout.path())); // behind the entrance
        whenDone(place.granted(), head -> onHead(), this::fail);
        place.lost().thenAccept(reason -> guarded(() -> onPlaceLost(reason)));
    }

    private void onHead() {
        if (state == PermitState.QUEUED) {
            become(PermitState.HEAD);
            if (!looking) {
                lookAgain();
            }
        }
    }

    /** At the head: with a watch, which makes no second one if it stands. */
    private void lookAgain() {
        if (state == PermitState.HEAD && !looking) {
            nextEnd.cancel();
            watched = true;
            look(GetChildren.of(layout.path()).withWatcher(watcher));
        }
    }

    private void look(GetChildren list) {
        looking = true;
        whenDone(
                LeaseLook.of(session, this, layout, list),
                seen -> {
                    looking = false;
                    if (state == PermitState.HEAD) {
                        seen.ifPresentOrElse(this::onSeen, this::makeResource);
                    }
                },
                cause -> {
                    looking = false;
                    onLookFailed(cause);
                });
    }

    private void onSeen(LeaseLook.Seen seen) {
        int free = wish.total() - seen.taken();
        if (free >= record.permits()) {
            grant(seen);
            return;
        }
        held = seen.leases().stream().filter(lease -> !lease.isOver()).toList();
        measurements.progress().waitsFor(layout.path().toString(), Optional.empty());
        if (!patient) {
            depart(timedOut(Duration.ZERO), LossReason.RELEASED);
        } else if (!watched) {
            lookAgain();
        } else {
            seen.untilNextEnd()
                    .ifPresent(left -> nextEnd =
                            session.time().schedule(left, () -> session.execute(() -> guarded(this::lookAgain))));
        }
    }

    private void grant(LeaseLook.Seen seen) {
        become(PermitState.TURNING);
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(Delete.of(place.path().orElseThrow()));
        operations.add(
                SetData.of(layout.path(), id.getBytes(StandardCharsets.UTF_8)).withVersion(seen.version()));
        for (LeaseLook.Lease over : seen.over()) {
            operations.add(
                    Delete.of(layout.lease(over.id())).withVersion(over.stat().version()));
        }
        operations.add(Create.of(layout.lease(id)).withData(record.encoded()));
        Elapsed sentAt = Elapsed.since(session.time());
        place.turnInto(
                new Multi(operations),
                results -> guarded(() -> onMade(results.get(results.size() - 1).stat(), sentAt)),
                cause -> guarded(() -> onNotMade(cause, sentAt)));
    }

    private void onMade(Optional<NodeStat> stat, Elapsed sentAt) {
        if (state != PermitState.TURNING) {
            remove();
        } else if (stat.isPresent()) {
            have(stat.get(), sentAt);
        } else {
            findOut(sentAt); // ZooKeeper 3.5 tells no stat of what a transaction creates
        }
    }

    private void have(NodeStat stat, Elapsed sentAt) {
        if (sentAt.remainingOf(record.lease()).isZero()) {
            depart(
                    new GrantLostException(
                            LossReason.TIME_OVER,
                            layout.path().toString(),
                            "The lease of " + layout.path() + " was granted, but "
                                    + Waiting.text(record.lease())
                                    + " were over before that was known. Acquire again, with a longer lease"),
                    LossReason.TIME_OVER);
            remove();
            return;
        }
        LeaseHold granted = LeaseHold.granted(coordinator, layout, id, record, session, stat, sentAt);
        hold = granted;
        become(PermitState.HELD);
        place.leave(new ClosedException("Granted")); // after a lost reply it does not know that it has gone
        stopLooking();
        stopListening();
        gone.complete(null); // what is left is the grant's
        measurements.granted();
        measurements.progress().detail(Ongoing.ZNODE, granted.path().toString());
        granted.lost().thenAccept(measurements::noLongerHeld);
        tellGranted();
    }

    // So far the way to the grant. From here on, what can come in between.

    private void onNotMade(Throwable cause, Elapsed sentAt) {
        boolean maybeMade = !(cause instanceof RefusedException);
        if (state != PermitState.TURNING) {
            if (maybeMade) {
                remove();
            } else {
                leaseGone.complete(null);
            }
        } else if (cause instanceof OutcomeUnknownException) {
            findOut(sentAt);
        } else if (Failures.is(cause, RefusalReason.NO_NODE, DELETION_OF_PLACE)) {
            leaseGone.complete(null);
            placeVanished();
        } else if (Failures.isStale(cause)) {
            headAgain(); // somebody else has acted meanwhile
        } else {
            leaseGone.complete(null);
            fail(cause);
        }
    }

    /** The reply was lost: if the transaction took effect, the lease is there. */
    private void findOut(Elapsed sentAt) {
        measurements.recovering();
        readLatest(
                layout.lease(id),
                GetData.of(layout.lease(id)),
                node -> {
                    if (state == PermitState.TURNING) {
                        have(node.stat(), sentAt);
                    } else {
                        remove();
                    }
                },
                cause -> {
                    boolean isThere = !Failures.isNoNode(cause);
                    if (state != PermitState.TURNING) {
                        if (isThere) {
                            remove();
                        } else {
                            leaseGone.complete(null);
                        }
                    } else if (isThere) {
                        fail(cause);
                        remove();
                    } else {
                        headAgain();
                    }
                });
    }

    /** Behind a sync: what has refused the transaction may not have reached our server. */
    private void headAgain() {
        become(PermitState.HEAD);
        CompletableFuture<LossReason> placeLost = place.lost().toCompletableFuture();
        if (placeLost.isDone()) {
            onPlaceLost(placeLost.join());
            return;
        }
        send(Sync.of(layout.path()), synced -> lookAgain(), this::onLookFailed);
    }

    private void onLookFailed(Throwable cause) {
        if (state != PermitState.HEAD) {
            return;
        }
        if (cause instanceof OutcomeUnknownException) {
            lookAgain();
        } else {
            fail(cause);
        }
    }

    private void makeResource() {
        whenDone(ParentMaker.makeContainers(session, layout.path()), made -> lookAgain(), this::onLookFailed);
    }

    private void onLeasesChanged(NodeEvent event) {
        if (event.type() != NodeEvent.Type.WATCH_REMOVED) {
            watched = false;
            guarded(this::lookAgain);
        }
    }

    private void onPlaceLost(LossReason reason) {
        if (reason == LossReason.SESSION_LOST) {
            sessionIs(SessionState.LOST); // the place may hear of it first
        } else if (reason == LossReason.COORDINATOR_CLOSED) {
            sessionIs(SessionState.CLOSED);
        } else if (state == PermitState.HEAD) {
            placeVanished();
        } // while it is turned into the lease the answer tells
    }

    private void placeVanished() {
        boolean asked = place.revocationRequested().toCompletableFuture().isDone();
        LossReason reason = asked ? LossReason.REVOKED : LossReason.NODE_DELETED;
        depart(
                new GrantLostException(
                        reason,
                        layout.path().toString(),
                        "The place in the line, or the lease that it had become, was deleted by another client while "
                                + describe()),
                reason);
    }

    private void stopLooking() {
        nextEnd.cancel();
        if (watched) {
            watched = false;
            session.unwatch(layout.path(), watcher);
        }
    }

    // The end without a grant, by whatever cause.

    /** The session is gone, and the place with it; but not the lease, if it was made. */
    @Override
    protected void end(LossReason reason, ConclaveException why) {
        if (state == PermitState.HELD || state == PermitState.GONE) {
            return;
        }
        PermitState before = state;
        become(PermitState.GONE);
        stopLooking();
        stopListening();
        if (before != PermitState.LEAVING) {
            announce(reason, why);
        }
        gone.complete(null); // a transaction on its way is answered, and its lease removed
    }

    @Override
    protected void depart(ConclaveException why, LossReason reason) {
        LeaseHold granted = hold;
        if (granted != null) {
            granted.leave(why);
            return;
        }
        if (!state.isActive()) {
            return;
        }
        if (state != PermitState.TURNING) {
            leaseGone.complete(null);
        } // else the answer finds us leaving
        become(PermitState.LEAVING);
        stopLooking();
        announce(reason, why);
        CompletableFuture<Void> placeGone = new CompletableFuture<>();
        place.leave(why).thenRun(() -> placeGone.complete(null));
        CompletableFuture.allOf(placeGone, leaseGone).thenRun(() -> session.execute(this::departed));
    }

    private void departed() {
        if (state == PermitState.LEAVING) {
            become(PermitState.GONE);
            stopListening();
            gone.complete(null);
        }
    }

    private void announce(LossReason reason, ConclaveException why) {
        measurements.notGranted(why, reason);
        tellFailed(why);
    }

    private void become(PermitState next) {
        PermitState previous = state;
        if (!previous.mayBecome(next)) {
            throw new IllegalStateException(this + " cannot go from " + previous + " to " + next);
        }
        state = next;
    }

    /** The lease may be there, and nobody wants it. */
    private void remove() {
        LeaseRemoval.of(coordinator, layout.lease(id)).whenComplete((removed, failure) -> leaseGone.complete(null));
    }

    /** What was granted. */
    LeaseHold hold() {
        LeaseHold granted = hold;
        if (granted == null) {
            throw new IllegalStateException("Not granted: " + this);
        }
        return granted;
    }

    @Override
    protected boolean isHeld() {
        return hold != null;
    }

    @Override
    protected String describe() {
        return "waiting for a lease of " + layout.path();
    }

    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        String message = layout.path() + " was not granted within " + Waiting.text(waited) + ": " + whyNotGranted(held);
        Optional<Holder> holder = held.stream().map(this::holder).findFirst();
        return new AcquireTimeoutException(layout.path().toString(), waited, holder, message);
    }

    private String whyNotGranted(List<LeaseLook.Lease> others) {
        if (others.isEmpty() || session.state() != SessionState.CONNECTED) {
            return place.whyNotGranted();
        }
        return others.stream().map(lease -> "held by " + lease).collect(Collectors.joining(" and "));
    }

    private Holder holder(LeaseLook.Lease lease) {
        String owner = lease.record().map(LeaseRecord::owner).orElse("");
        return new Holder(
                layout.path().child(lease.id()).toString(), owner, lease.stat().ephemeralOwner());
    }

    @Override
    public void timeIsRunningOut() {
        place.timeIsRunningOut();
    }

    @Override
    public String what() {
        return layout.path().toString();
    }

    @Override
    public String toString() {
        return "LeaseRequest[" + layout.path() + ", " + id + ", " + state + "]";
    }
}
