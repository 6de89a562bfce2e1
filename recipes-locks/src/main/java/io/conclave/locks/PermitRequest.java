package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.line.AbstractGrantRequest;
import io.conclave.line.Contender;
import io.conclave.line.GrantMeasurements;
import io.conclave.line.LineRole;
import io.conclave.metrics.Ongoing;
import io.conclave.node.NodePath;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.GuaranteedDelete;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A request for permits of a semaphore, from its place in the admission line to the deletion of its leases.
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>Stand in the admission line, which is a mutex's ({@link Contender}). Its head alone is concerned with permits,
 *       so a release wakes one for any number of waiters, and one that needs many is not overtaken by those that need
 *       few.
 *   <li>Head: count the leases, with a watch, until there is room for all that is wanted ({@link PermitAvailability}).
 *       No other client makes leases meanwhile, so permits that were seen to be free stay free. The first look is sent
 *       behind the entrance: it counts if the entrance's own look at the line has admitted us, because it was executed
 *       behind that.
 *   <li>Turn the place into leases, in one transaction ({@link PermitExchange}). So permits come all at once or not at
 *       all, and nothing is held while waiting for more.
 *   <li>Watch the own leases: when one vanishes, the grant is lost, and the others are given back
 *       ({@link PermitWatch}).
 *   <li>However it ends, place and leases are deleted ({@link Contender}, {@link GuaranteedDelete}).
 * </ol>
 *
 * <p>Here are the states and every change of them. Availability and exchange answer what they are asked, by stages, and
 * know nothing of the request. All state belongs to the session's dispatcher; methods that others may call say so.
 */
final class PermitRequest extends AbstractGrantRequest {
    private static final LineRole ADMISSION = LineRole.mutex("semaphore.admission");

    private final SemaphoreLayout layout;
    private final int wanted;
    private final boolean patient;
    private final String guid = UUID.randomUUID().toString();
    private final CompletableFuture<Void> placeGone = new CompletableFuture<>();
    private final CompletableFuture<Void> leasesGone = new CompletableFuture<>();
    private final PermitAvailability room;
    private final PermitWatch permitWatch;
    private final GuaranteedDelete leaseRelease;
    private final GrantMeasurements measurements;
    private final Contender place;
    private final PermitExchange exchange;
    /** Why there was no room when it was last looked; written on the dispatcher only. */
    private volatile @Nullable String shortage;

    private volatile Leases leases = Leases.NONE; // written on the dispatcher only
    private volatile PermitState state = PermitState.QUEUED; // written on the dispatcher only
    private volatile @Nullable LossReason lossReason; // written before the state that it explains

    /**
     * What was granted.
     *
     * @param paths the znodes
     * @param czxid the change that has created them all, and tells them from others of the same names
     */
    record Leases(List<NodePath> paths, long czxid) {
        static final Leases NONE = new Leases(List.of(), 0);
    }

    private PermitRequest(
            RecipeSession session, SemaphoreDefinition semaphore, int wanted, boolean patient, byte[] data) {
        super(session);
        this.layout = semaphore.layout();
        this.wanted = wanted;
        this.patient = patient;
        this.room = new PermitAvailability(session, this, semaphore, () -> guarded(this::onRoomMayHaveChanged));
        this.permitWatch = new PermitWatch(this);
        this.leaseRelease =
                new GuaranteedDelete(session, layout.leases(), names -> layout.leasesOf(guid, names), leasesGone);
        CompletableFuture.allOf(placeGone, leasesGone).thenRun(() -> gone.complete(null));
        this.measurements = new GrantMeasurements(session, layout.path(), "semaphore");
        measurements.waits();
        this.place = Contender.enter(session, layout.line(), ADMISSION, data, patient);
        this.exchange = new PermitExchange(this, place, layout, measurements, guid, wanted, data);
    }

    /**
     * Asks for permits. Never blocks.
     *
     * @param patient see {@link Contender#enter}
     * @param data what others see of us; not copied
     */
    static PermitRequest enter(
            RecipeSession session, SemaphoreDefinition semaphore, int wanted, boolean patient, byte[] data) {
        PermitRequest request = new PermitRequest(session, semaphore, wanted, patient, data);
        session.execute(request::begin); // behind the beginning of the place
        return request;
    }

    private void begin() {
        place.gone().thenRun(() -> placeGone.complete(null));
        tie();
        if (!session.state().isLive()) {
            sessionIs(session.state());
            return;
        }
        look(false); // behind the entrance
        whenDone(place.granted(), admitted -> onHead(), this::fail);
        place.lost().thenAccept(reason -> guarded(() -> onPlaceLost(reason)));
    }

    private void onHead() {
        if (state == PermitState.QUEUED) {
            become(PermitState.HEAD);
            if (!room.isLooking()) {
                look(true);
            } // else the look behind the entrance is answered after the look that has admitted us
        }
    }

    private void look(boolean watched) {
        whenDone(room.look(watched), this::onSeen, this::onLookFailed);
    }

    private void onSeen(PermitAvailability.Seen seen) {
        if (state != PermitState.HEAD) {
            return;
        }
        if (seen.permits().isEmpty()) {
            whenMade(room.makeNumber(), () -> look(true));
            return;
        }
        shortage = seen.leases() + " of " + seen.permits().getAsInt() + " are out";
        measurements.progress().waitsFor(shortage, Optional.empty());
        if (seen.has(wanted)) {
            if (seen.hasParent()) {
                turn(seen);
            } else {
                whenMade(ParentMaker.makeContainers(session, layout.leases()), () -> turn(seen));
            }
        } else if (!patient) {
            depart(
                    timeout(Duration.ZERO, layout.path() + " has no room for " + wanted + ": " + shortage),
                    LossReason.RELEASED);
        } else if (!seen.watched()) {
            look(true);
        } // else the watches tell
    }

    private void turn(PermitAvailability.Seen seen) {
        become(PermitState.TURNING);
        onceTurned(exchange.send(seen));
    }

    private void onceTurned(CompletionStage<PermitExchange.Outcome> turned) {
        turned.whenComplete((outcome, failure) -> guarded(() -> {
            if (state == PermitState.TURNING) {
                if (failure == null) {
                    onOutcome(outcome);
                } else {
                    fail(failure);
                }
            } else if (state == PermitState.LEAVING) {
                if (failure == null) {
                    giveBack(outcome);
                } else {
                    leaseRelease.nothingLeft();
                }
            } // else the session has gone, and all of it
        }));
    }

    private void onOutcome(PermitExchange.Outcome outcome) {
        switch (outcome.result()) {
            case TURNED -> have(outcome.leases());
            case UNKNOWN -> onceTurned(exchange.findOut());
            case OUT_OF_DATE -> lookAgain();
            case PLACE_MISSING -> placeMissing();
            case SOME_DELETED ->
                fail(lostException(
                        LossReason.NODE_DELETED, "Permits were deleted by another client while " + describe()));
        }
    }

    private void have(Leases ours) {
        if (session.remaining().isZero()) {
            return; // the session's loss is on its way here
        }
        leases = ours;
        become(PermitState.HELD);
        room.stop();
        leaseRelease.found(ours.paths(), ours.czxid());
        permitWatch.watch(ours);
        measurements.granted();
        measurements.progress().detail(Ongoing.ZNODE, ours.paths().get(0).toString());
        tellGranted();
    }

    // So far the way to the grant. From here on, what can come in between.

    private void onRoomMayHaveChanged() {
        if (state == PermitState.HEAD) {
            look(true);
        }
    }

    private void onLookFailed(Throwable cause) {
        if (state == PermitState.HEAD) {
            if (cause instanceof OutcomeUnknownException) {
                look(true);
            } else {
                fail(cause);
            }
        } // the look behind the entrance is none that must succeed
    }

    /** Goes on when a znode that was missing has been made. */
    private void whenMade(CompletionStage<?> making, Runnable next) {
        whenDone(
                making,
                made -> {
                    if (state == PermitState.HEAD) {
                        next.run();
                    }
                },
                this::onLookFailed);
    }

    private void onPlaceLost(LossReason reason) {
        if (reason == LossReason.SESSION_LOST) {
            sessionIs(SessionState.LOST); // the place may hear of it first
        } else if (reason == LossReason.COORDINATOR_CLOSED) {
            sessionIs(SessionState.CLOSED);
        } else if (state == PermitState.HEAD) {
            placeVanished();
        } // while it is turned into leases the answer tells
    }

    /** By another client: a place that takes a transaction of ours for it, whose reply was lost, is wrong. */
    private void placeVanished() {
        boolean asked = place.revocationRequested().toCompletableFuture().isDone();
        fail(lostException(
                asked ? LossReason.REVOKED : LossReason.NODE_DELETED,
                (asked ? "Revoked while " : "The znode was deleted by another client while ") + describe()));
    }

    /** The permits are not wanted any more: deletes what the place has become. */
    private void giveBack(PermitExchange.Outcome outcome) {
        switch (outcome.result()) {
            case TURNED -> {
                leaseRelease.found(outcome.leases().paths(), outcome.leases().czxid());
                leaseRelease.compareAndDelete();
            }
            case UNKNOWN -> leaseRelease.search();
            case OUT_OF_DATE, PLACE_MISSING, SOME_DELETED -> leaseRelease.nothingLeft();
        }
    }

    private void lookAgain() {
        becomeHeadAgain();
        if (state == PermitState.HEAD) {
            look(true);
        }
    }

    private void placeMissing() {
        becomeHeadAgain();
        if (state == PermitState.HEAD && !session.remaining().isZero()) {
            placeVanished();
        } // else the session's loss is on its way here
    }

    private void becomeHeadAgain() {
        become(PermitState.HEAD);
        CompletableFuture<LossReason> placeLost = place.lost().toCompletableFuture();
        if (placeLost.isDone()) {
            onPlaceLost(placeLost.join());
        }
    }

    /** The word that asks for it stands in one of the leases. */
    void askedToGiveUp() {
        if (isHeld()) {
            tellAskedToGiveUp();
        }
    }

    /** One of the leases is not there any more, or not ours: the grant is lost, and the others are given back. */
    void leaseVanished() {
        if (state != PermitState.HELD) {
            return;
        }
        if (sessionMayHaveEnded()) {
            sessionIs(SessionState.LOST);
        } else {
            LossReason reason = isAskedToGiveUp() ? LossReason.REVOKED : LossReason.NODE_DELETED;
            depart(lostException(reason, "A permit was deleted by another client while " + describe()), reason);
        }
    }

    private GrantLostException lostException(LossReason reason, String message) {
        return new GrantLostException(reason, layout.path().toString(), message);
    }

    // The end, by whatever cause.

    /** Nothing of us is left at the backend. */
    @Override
    protected void end(LossReason reason, ConclaveException why) {
        if (state == PermitState.GONE) {
            return;
        }
        PermitState before = leaveFor(PermitState.GONE, reason);
        exchange.stop();
        announce(before, reason, why); // once the loss is known they must not be reported as held
        placeGone.complete(null);
        leaseRelease.nothingLeft();
        room.stop();
        stopListening();
    }

    @Override
    protected void depart(ConclaveException why, LossReason reason) {
        if (!state.isActive()) {
            return;
        }
        PermitState before = leaveFor(PermitState.LEAVING, reason);
        exchange.stop();
        announce(before, reason, why);
        gone.thenRun(this::departed);
        place.leave(why);
        if (before == PermitState.HELD) {
            leaseRelease.delete();
        } else if (before != PermitState.TURNING) {
            leaseRelease.nothingLeft();
        } else if (!exchange.isUnanswered()) {
            leaseRelease.search();
        } // else the answer finds us leaving
        room.stop();
    }

    /** @return the state before */
    private PermitState leaveFor(PermitState next, LossReason reason) {
        PermitState before = state;
        if (before == PermitState.HELD) {
            lossReason = reason;
        }
        become(next);
        return before;
    }

    private void departed() {
        if (state == PermitState.LEAVING) {
            become(PermitState.GONE);
        }
        stopListening();
    }

    private void announce(PermitState before, LossReason reason, ConclaveException why) {
        if (before == PermitState.HELD) {
            measurements.noLongerHeld(reason);
            tellLost("the grant of " + permits(), reason);
        } else {
            measurements.notGranted(why, reason);
            tellFailed(why);
        }
    }

    private void become(PermitState next) {
        PermitState previous = state;
        if (!previous.mayBecome(next)) {
            throw new IllegalStateException(this + " cannot go from " + previous + " to " + next);
        }
        state = next;
    }

    @Override
    public Optional<LossReason> lossReason() {
        return Optional.ofNullable(lossReason);
    }

    /** The leases, once they are granted. Any thread. */
    Leases leases() {
        return leases;
    }

    @Override
    public String what() {
        return layout.path().toString();
    }

    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        String verb = wanted == 1 ? " was" : " were";
        return timeout(
                waited, permits() + verb + " not granted within " + Waiting.text(waited) + ": " + whyNotGranted());
    }

    private AcquireTimeoutException timeout(Duration waited, String message) {
        return new AcquireTimeoutException(what(), waited, Optional.empty(), message);
    }

    private String whyNotGranted() {
        String present = shortage;
        return session.unlessConnected(present == null ? "others stand before this one in the line" : present);
    }

    @Override
    protected boolean isHeld() {
        return state == PermitState.HELD;
    }

    @Override
    protected String describe() {
        return (isHeld() ? "holding " : "waiting for ") + permits() + " as " + guid;
    }

    private String permits() {
        return (wanted == 1 ? "1 permit of " : wanted + " permits of ") + layout.path();
    }

    @Override
    public String toString() {
        return permits() + " (" + guid + ", " + state + ")";
    }
}
