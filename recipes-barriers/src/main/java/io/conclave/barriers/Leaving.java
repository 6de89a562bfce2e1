package io.conclave.barriers;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Check;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Watcher;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The way out of a double barrier, as the recipes page defines it: list the remaining participants of the round.
 *
 * <ol>
 *   <li>None: done.
 *   <li>Only we: delete the own znode, and {@code ready} in the same transaction, so that the next round finds nothing
 *       of this one. Done.
 *   <li>We are the lowest: wait for the highest to go.
 *   <li>Otherwise delete the own znode, if it is still there, and wait for the lowest to go. The same transaction
 *       checks that the lowest is there: the list may be old, and the last one must know that it is.
 * </ol>
 *
 * <p>Every event leads to another list. Deletions after a lost reply are sent again, because names are never used
 * twice. If the last one dies or gives up, {@code ready} stays, and the first to enter the next round deletes it. State
 * belongs to the session's dispatcher.
 */
final class Leaving extends Wait {
    private static final int READY_INDEX = 1; // in the transaction of the last one

    private final BarrierParticipant participant;
    private final RecipeSession session;
    private final DoubleBarrierLayout layout;
    private final Watcher watcher = event -> look();
    private final long beganNanos;
    private Registration sessionListener = () -> {};
    private @Nullable NodePath watched;
    private int latest;

    Leaving(BarrierParticipant participant) {
        this.participant = participant;
        this.session = participant.session();
        this.layout = participant.layout();
        this.beganNanos = session.time().monotonicNanos();
    }

    @Override
    void begin() {
        begins("doublebarrier.leave", layout.path().toString());
        session.execute(() -> {
            sessionListener = session.onStateChange(this::onSessionState);
            if (session.state().isLive()) {
                look();
            } else {
                onSessionState(session.state());
            }
        });
    }

    private void look() {
        if (isOver()) {
            return;
        }
        int number = ++latest;
        participant.send(
                GetChildren.of(layout.path()), children -> decide(number, children), cause -> onFailure(number, cause));
    }

    private void decide(int number, GetChildren.Children children) {
        if (isOver() || number != latest) {
            return;
        }
        List<String> left = participant.round().among(children.names());
        boolean isOwnThere = left.contains(participant.name());
        if (left.isEmpty()) {
            allHaveLeft();
        } else if (isOwnThere && left.size() == 1) {
            leaveAsTheLast(number);
        } else if (isOwnThere && left.get(0).equals(participant.name())) {
            waitFor(number, left.get(left.size() - 1));
        } else {
            if (isOwnThere) {
                leaveBefore(number, left.get(0));
            }
            waitFor(number, left.get(0));
        }
    }

    private void leaveBefore(int number, String lowest) {
        participant.deletesItself();
        participant.send(
                Multi.of(Check.exists(layout.member(lowest)), Delete.of(participant.path())),
                results -> participant.vanished(),
                cause -> onTransactionFailed(number, cause));
    }

    private void leaveAsTheLast(int number) {
        participant.deletesItself();
        participant.send(
                Multi.of(Delete.of(participant.path()), Delete.of(layout.ready())),
                results -> {
                    participant.vanished();
                    allHaveLeft();
                },
                cause -> onNotLeftAsTheLast(number, cause));
    }

    private void waitFor(int number, String name) {
        notYet();
        NodePath other = layout.member(name);
        watched = other;
        participant.send(
                GetData.of(other).withWatcher(watcher), // which leaves no watch on a znode that is gone
                node -> {},
                cause -> onNotWatched(number, cause));
    }

    private void allHaveLeft() {
        sessionListener.close();
        participant.vanished(); // if it is not known yet
        if (!isOver()) {
            session.metrics()
                    .duration(
                            "doublebarrier.leave",
                            layout.path().toString(),
                            Duration.ofNanos(session.time().monotonicNanos() - beganNanos));
        } // else its caller gave up, and the last answer came behind that
        happened();
    }

    // So far all leave. From here on, what can come in between.

    private void onSessionState(SessionState next) {
        if (next.isLive()) {
            return;
        }
        if (!isOver()) {
            sessionListener.close();
            sessionEnded(next, "leaving " + layout.path());
        }
        nothingLeft();
    }

    private void onNotLeftAsTheLast(int number, Throwable cause) {
        if (Failures.is(cause, RefusalReason.NO_NODE, READY_INDEX)) {
            participant.depart(new ClosedException("Left " + layout.path()), LossReason.RELEASED);
            participant.gone().thenRun(this::look); // ready has been deleted before
        } else {
            onTransactionFailed(number, cause);
        }
    }

    private void onTransactionFailed(int number, Throwable cause) {
        if (Failures.isStateChanged(cause) && number == latest) {
            look();
        } else {
            onFailure(number, cause);
        }
    }

    private void onNotWatched(int number, Throwable cause) {
        if (Failures.isNoNode(cause) && number == latest) {
            look();
        } else {
            onFailure(number, cause);
        }
    }

    private void onFailure(int number, Throwable cause) {
        if (isOver() || number != latest) {
            return;
        }
        if (cause instanceof OutcomeUnknownException) {
            session.metrics().count("doublebarrier.retry", layout.path().toString());
            look();
        } else if (Failures.isNoNode(cause)) {
            allHaveLeft(); // with the barrier's znode
        } else if (!Failures.isSessionOver(cause)) {
            stopNow(Failures.known(cause, this));
        } // else the session's state tells
    }

    @Override
    void stop(ConclaveException why) {
        session.execute(() -> stopNow(why));
    }

    private void stopNow(ConclaveException why) {
        if (isOver()) {
            return;
        }
        sessionListener.close();
        participant.depart(why, LossReason.RELEASED); // first: a caller that is told sees it as gone
        failed(why);
        removeWatch();
        participant.gone().thenRun(this::nothingLeft);
    }

    private void removeWatch() {
        NodePath path = watched;
        if (path != null) {
            session.unwatch(path, watcher);
        }
    }

    @Override
    public String what() {
        return layout.path().toString();
    }

    @Override
    public String question() {
        return "whether all have left " + what();
    }

    @Override
    public String withoutAnswer() {
        return "The participant leaves when the store answers";
    }

    @Override
    public WaitTimeoutException timedOut(Duration waited) {
        return new WaitTimeoutException(
                what(),
                waited,
                "Left the double barrier " + what() + ", but the others did not within " + Waiting.text(waited) + ": "
                        + session.unlessConnected("some are still inside"));
    }

    @Override
    public RecipeSession session() {
        return session;
    }

    @Override
    public String toString() {
        return "Leaving[" + participant + "]";
    }
}
