package io.conclave.barriers;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.WaitTimeoutException;
import io.conclave.line.AbstractGrantRequest;
import io.conclave.line.GrantProgress;
import io.conclave.metrics.Ongoing;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.List;

/**
 * One participant of a double barrier, from the creation of its znode to its deletion; {@link Entering} and
 * {@link Leaving} are the ways in and out.
 *
 * <p>Its znode's name is a guid of its own, so it can be created again after a lost reply, and deleted by its name
 * alone. It is watched: when it is deleted, the participant fails or is notified at once. All state belongs to the
 * session's dispatcher; methods that others may call say so.
 */
final class BarrierParticipant extends AbstractGrantRequest {
    private final DoubleBarrierLayout layout;
    private final String name;
    private final Entering entering;
    private final Watcher watcher = this::onEvent;
    private Round round = Round.of(List.of()); // once it is inside
    private final GrantProgress progress;
    private boolean deleting; // in a transaction, whose outcome may be unknown
    private long sinceNanos;
    private volatile ParticipantState state = ParticipantState.ENTERING; // written on the dispatcher only

    private BarrierParticipant(RecipeSession session, DoubleBarrierLayout layout, String name) {
        super(session);
        this.layout = layout;
        this.name = name;
        this.entering = new Entering(this);
        this.progress = new GrantProgress(session.metrics(), layout.path().toString());
        this.sinceNanos = session.time().monotonicNanos();
    }

    /** Begins to enter. Never blocks; any thread. */
    static BarrierParticipant enter(RecipeSession session, DoubleBarrierLayout layout, String name) {
        BarrierParticipant participant = new BarrierParticipant(session, layout, name);
        participant.progress.waits("doublebarrier.enter");
        session.execute(() -> {
            participant.tie();
            participant.entering.look();
        });
        return participant;
    }

    DoubleBarrierLayout layout() {
        return layout;
    }

    String name() {
        return name;
    }

    NodePath path() {
        return layout.member(name);
    }

    ParticipantState state() {
        return state;
    }

    /** The participants of its round. */
    Round round() {
        return round;
    }

    @Override
    public String what() {
        return layout.path().toString();
    }

    @Override
    public String question() {
        return "whether all are at " + what();
    }

    @Override
    public WaitTimeoutException timedOut(Duration waited) {
        return new WaitTimeoutException(
                what(),
                waited,
                "Did not enter the double barrier " + what() + " within " + Waiting.text(waited) + ": "
                        + session.unlessConnected(
                                "fewer than its " + layout.participants() + " participants have come"));
    }

    @Override
    public boolean countsUntilGone() {
        return true;
    }

    /** Others have to come, or to leave, before it is inside. */
    void mustWaitForOthers() {
        mustWait.complete(null);
    }

    /** All of the round are there. */
    void enter(Round with) {
        if (session.remaining().isZero()) {
            return; // the session's loss is on its way here
        }
        become(ParticipantState.INSIDE);
        round = with;
        measure("doublebarrier.enter");
        progress.granted("doublebarrier.inside");
        progress.detail(Ongoing.ZNODE, path().toString());
        tellGranted();
    }

    /** Reads the own znode and watches it. */
    void watchOwn() {
        if (!state.isPresent()) {
            return;
        }
        read(
                GetData.of(path()).withWatcher(watcher),
                node -> {
                    if (node.stat().ephemeralOwner() != session.id()) {
                        vanished();
                    }
                },
                this::onNotWatched);
    }

    /** A refusal that may pass, as one by the bound of the session's queue, does not cost it its place inside. */
    private void onNotWatched(Throwable cause) {
        if (!Failures.isNoNode(cause)) {
            if (isHeld()) {
                Retry.ifItMayPass(session, this, cause, () -> guarded(this::watchOwn), this::fail);
            } else {
                fail(cause);
            }
        } else if (entering.isCreated()) {
            vanished();
        }
    }

    private void onEvent(NodeEvent event) {
        if (!state.isPresent()) {
            return;
        }
        if (event.type() == NodeEvent.Type.DELETED) {
            vanished();
        } else {
            watchOwn();
        }
    }

    /** The znode is about to be deleted in a transaction: if it vanishes, that is no loss. */
    void deletesItself() {
        deleting = true;
    }

    /** The znode is not there any more. */
    void vanished() {
        if (!state.isPresent()) {
            return;
        }
        if (deleting) {
            end(LossReason.RELEASED, new ClosedException("Left " + layout.path()));
        } else if (sessionMayHaveEnded()) {
            sessionIs(SessionState.LOST);
        } else {
            GrantLostException why = new GrantLostException(
                    LossReason.NODE_DELETED,
                    layout.path().toString(),
                    "The znode was deleted by another client while " + describe());
            if (state == ParticipantState.ENTERING) {
                depart(why, LossReason.NODE_DELETED); // a creation that was sent again may be on its way behind that
            } else {
                end(LossReason.NODE_DELETED, why);
            }
        }
    }

    /** Deletes the znode. */
    @Override
    protected void depart(ConclaveException why, LossReason reason) {
        if (!state.isPresent()) {
            return;
        }
        ParticipantState before = state;
        become(ParticipantState.LEAVING);
        announce(before, reason, why);
        // By its name alone, behind its creation: no other znode has the name.
        Retry.deleteUntilGone(session, path(), this::departed);
    }

    private void departed() {
        if (state == ParticipantState.LEAVING) {
            become(ParticipantState.GONE);
        }
        stopListening();
        gone.complete(null);
    }

    /** Nothing of it is left at the backend. */
    @Override
    protected void end(LossReason reason, ConclaveException why) {
        if (state == ParticipantState.GONE) {
            return;
        }
        ParticipantState before = state;
        become(ParticipantState.GONE);
        announce(before, reason, why);
        departed();
    }

    private void announce(ParticipantState before, LossReason reason, ConclaveException why) {
        if (before == ParticipantState.INSIDE) {
            measure("doublebarrier.inside");
            progress.noLongerHeld(reason);
            if (reason != LossReason.RELEASED && reason != LossReason.COORDINATOR_CLOSED) {
                session.metrics().count("doublebarrier.lost", layout.path().toString());
            }
            tellLost("the place in " + layout.path() + " (participant " + name + ")", reason);
        } else if (before == ParticipantState.ENTERING) {
            entering.removeWatches();
            progress.notGranted(why, reason);
            tellFailed(why);
        }
    }

    private void measure(String name) {
        long nowNanos = session.time().monotonicNanos();
        session.metrics().duration(name, layout.path().toString(), Duration.ofNanos(nowNanos - sinceNanos));
        sinceNanos = nowNanos;
    }

    private void become(ParticipantState next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException(this + " cannot go from " + state + " to " + next);
        }
        state = next;
    }

    @Override
    protected boolean isHeld() {
        return state == ParticipantState.INSIDE;
    }

    @Override
    protected String describe() {
        return (isHeld() ? "inside " : "entering ") + layout.path() + " as " + name;
    }

    @Override
    public String toString() {
        return path() + ", " + state;
    }
}
