package io.conclave.queues;

import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.line.Contender;
import io.conclave.line.LineRole;
import io.conclave.line.ProcessName;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Check;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.time.TimeSource;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The place of a process in a line, at whose head it may work on the queue: one process at a time does, so no work is
 * in vain and an event wakes one process.
 *
 * <p>A process that is alone in the line keeps its turn for a moment when there is nothing to do; otherwise it gives it
 * up. State belongs to the session's dispatcher.
 */
final class LineTurn {
    /** How many items a process puts or takes before others that wait have their turn. */
    static final int MOST = 16;

    private static final LineRole ROLE = LineRole.mutex("queue.turn");
    private final RecipeSession session;
    private final NodePath line;
    private final Listener listener;
    private @Nullable Contender place;
    private boolean held;
    private boolean behindOthers;
    private boolean othersMayWait;
    private int done; // in this turn
    private boolean resting;
    private TimeSource.Timer rest = () -> {};

    /** Who wants the turn, a consumer or a producer; called on the dispatcher. */
    interface Listener {
        /** The turn is ours now. */
        void onTurn();

        /** Others are before us in the line. */
        default void onMustWait() {}

        /** The turn was lost, or given up by a transaction; it may be asked for again. */
        void onTurnLost();

        /** It cannot be given. */
        void onTurnRefused(Throwable cause);
    }

    LineTurn(RecipeSession session, NodePath line, Listener listener) {
        this.session = session;
        this.line = line;
        this.listener = listener;
    }

    /** Whether we are neither at the head of the line nor waiting for it. */
    boolean isOut() {
        return place == null;
    }

    boolean isHeld() {
        return held;
    }

    /** Whether others were before us in the line when it was last looked at. */
    boolean isBehindOthers() {
        return behindOthers;
    }

    /** Whether another process may wait for us to leave. */
    boolean othersMayWait() {
        return othersMayWait;
    }

    /** So many items were put or taken in this turn. */
    void done(int items) {
        done += items;
    }

    /**
     * Whether the turn is given up for others that may wait, once so many more items are put or taken.
     *
     * @param isAll whether there is nothing else to do then
     */
    boolean endsWith(int items, boolean isAll) {
        return othersMayWait && (isAll || done + items >= MOST);
    }

    /**
     * Whether there is something to do and the turn is ours. If it is not, it is asked for; if there is nothing to do,
     * or others have waited for long enough, it is given up.
     *
     * @param onGivenUp called when it is not ours any more, before it is asked for again
     */
    boolean isToWork(boolean isNothingToDo, Runnable onGivenUp) {
        if (isNothingToDo) {
            rest();
            if (!held) {
                onGivenUp.run();
            }
            return false;
        }
        if (held && endsWith(0, false)) {
            leave();
            onGivenUp.run();
        }
        if (!held) {
            take();
            return false;
        }
        wake();
        return true;
    }

    /** Enters the line, unless we are in it. */
    private void take() {
        if (place != null) {
            return;
        }
        Contender entered = Contender.enter(session, line, ROLE, ProcessName.bytes(), true);
        place = entered;
        entered.mustWait().thenRun(() -> {
            if (place == entered) {
                behindOthers = true;
                listener.onMustWait();
            }
        });
        entered.granted().whenComplete((granted, failure) -> {
            if (place == entered && failure == null) {
                onGranted(entered);
            } else if (place == entered) {
                refused(Waiting.cause(failure));
            }
        });
        entered.lost().thenAccept(reason -> {
            if (place == entered) {
                out();
                listener.onTurnLost();
            }
        });
    }

    private void onGranted(Contender entered) {
        held = true;
        behindOthers = false;
        othersMayWait = true;
        done = 0;
        session.send(
                Exists.of(line),
                stat -> {
                    if (place == entered && stat.isPresent() && stat.get().numChildren() == 1) {
                        othersMayWait = false;
                        watchLine();
                    }
                },
                cause -> {}); // then we do as if
        listener.onTurn();
    }

    private void refused(Throwable cause) {
        out();
        if (cause instanceof GrantLostException) {
            listener.onTurnLost();
        } else {
            listener.onTurnRefused(cause);
        }
    }

    private void out() {
        place = null;
        held = false;
        behindOthers = false;
        wake();
    }

    /**
     * Nothing is to be done: the turn is kept for a moment if no consumer waits for it, and not waited for any longer
     * if it is not ours.
     */
    private void rest() {
        if (resting) {
            return;
        }
        if (!held || othersMayWait) {
            leave();
            return;
        }
        resting = true;
        Contender ours = place;
        rest = session.time()
                .schedule(
                        CommitMarker.LINGER,
                        () -> session.execute(() -> {
                            if (resting && place == ours) {
                                leave();
                                listener.onTurnLost();
                            }
                        }));
    }

    /** There is something to do. */
    private void wake() {
        resting = false;
        rest.cancel();
    }

    /** A consumer that enters while we are alone must be noticed. */
    private void watchLine() {
        Contender ours = place;
        session.send(
                GetChildren.of(line).withWatcher(event -> othersCame(ours)),
                children -> {
                    if (children.names().size() > 1) {
                        othersCame(ours);
                    }
                },
                cause -> othersCame(ours));
    }

    private void othersCame(@Nullable Contender ours) {
        if (held && place == ours) {
            othersMayWait = true;
            if (resting) {
                leave();
                listener.onTurnLost();
            }
        }
    }

    /** Gives the turn up, or stops waiting for it. */
    void leave() {
        Contender left = place;
        out();
        if (left != null) {
            left.leave(new ClosedException("Left " + line));
        }
    }

    /** That the turn is ours, as part of a transaction. */
    Operation<?> check() {
        return Check.exists(path());
    }

    /** Gives the turn up as part of a transaction; see {@link #turnInto}. */
    Operation<?> deletion() {
        return Delete.of(path());
    }

    private NodePath path() {
        Contender ours = place;
        if (ours == null || !held) {
            throw new IllegalStateException("Not at the head of the line: " + this);
        }
        return ours.path().orElseThrow();
    }

    /**
     * Sends a transaction with {@link #deletion()} in it. If its outcome is not known, {@link #leave()} is in order
     * once it has turned out to have taken effect.
     */
    void turnInto(Multi multi, Consumer<List<Multi.Result>> onTurned, Consumer<Throwable> onFailure) {
        Contender ours = place;
        if (ours == null) {
            throw new IllegalStateException("Not at the head of the line: " + this);
        }
        ours.turnInto(multi, onTurned, onFailure);
    }

    @Override
    public String toString() {
        return "LineTurn[" + line + ", " + (held ? "held" : place == null ? "out" : "waiting") + "]";
    }
}
