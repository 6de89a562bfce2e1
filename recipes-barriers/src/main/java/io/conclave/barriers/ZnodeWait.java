package io.conclave.barriers;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConclaveException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.Exists;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits until a znode is there, or until it is not there any more, through all sessions of a coordinator: a waiter owns
 * nothing that could be lost.
 *
 * <p>One watch; every event leads to another look. A request that waits for a connection waits in the session's queue.
 * State belongs to the dispatcher of the current session.
 */
final class ZnodeWait extends Wait implements SessionFollower.Work {
    private static final Logger LOG = LoggerFactory.getLogger(ZnodeWait.class);

    private final NodePath recipe;
    private final NodePath path;
    private final boolean awaitsPresence;
    private final Function<RecipeSession, CompletionStage<Void>> before;
    private final String metric;
    private final Watcher watcher = this::onEvent;
    private final RecipeSession firstSession;
    private final SessionFollower follower;
    private final long beganNanos;

    /** A wait for the removal of a barrier, which has not begun. */
    static ZnodeWait untilRemoved(Coordinator coordinator, NodePath barrier) {
        return new ZnodeWait(
                coordinator,
                barrier,
                barrier,
                false,
                session -> CompletableFuture.completedFuture(null),
                "barrier.wait");
    }

    /** A wait for the last count of a latch, which has not begun; the latch is made if it is missing. */
    static ZnodeWait untilOpen(Coordinator coordinator, LatchLayout latch) {
        return new ZnodeWait(
                coordinator,
                latch.path(),
                latch.lastCount(),
                true,
                session -> new LatchWrites(session, latch).make(),
                "latch.wait");
    }

    /**
     * A wait that has not begun.
     *
     * @param recipe the barrier or latch, as the application knows it
     * @param path the znode to look at
     * @param awaitsPresence whether the znode is waited for, or its absence
     * @param before what is done on each session before the first look
     */
    private ZnodeWait(
            Coordinator coordinator,
            NodePath recipe,
            NodePath path,
            boolean awaitsPresence,
            Function<RecipeSession, CompletionStage<Void>> before,
            String metric) {
        this.recipe = recipe;
        this.path = path;
        this.awaitsPresence = awaitsPresence;
        this.before = before;
        this.metric = metric;
        this.follower = new SessionFollower(coordinator, this);
        this.firstSession = follower.session();
        this.beganNanos = firstSession.time().monotonicNanos();
    }

    @Override
    void begin() {
        begins(metric, path.toString());
        follower.follow();
    }

    @Override
    public void onSession(RecipeSession next) {
        if (next != firstSession) {
            LOG.debug("{}: waiting on the next session", this);
            next.metrics().count("barrier.retry", path.toString());
        }
        prepare(next);
    }

    @Override
    public void onClosed() {
        sessionEnded(SessionState.CLOSED, "waiting for " + path);
        nothingLeft();
    }

    private void prepare(RecipeSession on) {
        if (isOver() || !follower.isCurrent(on)) {
            return;
        }
        Waiting.whenDone(
                before.apply(on),
                done -> on.execute(() -> look(on, true)),
                cause -> on.execute(() -> onFailure(on, cause, () -> prepare(on))));
    }

    /**
     * Looks, and sets the watch.
     *
     * @param first whether nothing has been seen yet: then what anybody was told that it is there must not be
     *     overlooked because a server lags
     */
    private void look(RecipeSession on, boolean first) {
        if (isOver() || !follower.isCurrent(on)) {
            return;
        }
        Exists exists = Exists.of(path).withWatcher(watcher);
        Request<Optional<NodeStat>> request = first && !awaitsPresence ? exists.linearizable() : exists;
        on.send(request, stat -> onSeen(stat.isPresent()), cause -> onFailure(on, cause, () -> look(on, first)));
    }

    private void onSeen(boolean isThere) {
        if (isOver()) {
            removeWatch(session());
        } else if (isThere == awaitsPresence) {
            follower.end();
            session()
                    .metrics()
                    .duration(
                            metric,
                            path.toString(),
                            Duration.ofNanos(session().time().monotonicNanos() - beganNanos));
            happened();
            removeWatch(session()); // the watch of this last read has no reader
        } else {
            notYet();
        }
    }

    private void onFailure(RecipeSession on, Throwable cause, Runnable again) {
        if (isOver() || !follower.isCurrent(on) || Failures.isSessionOver(cause)) {
            return; // the session's state tells what follows
        }
        Retry.ifItMayPass(on, this, cause, again, refusal -> {
            follower.end();
            failed(refusal);
            nothingLeft();
        });
    }

    private void onEvent(NodeEvent event) {
        look(session(), false);
    }

    @Override
    void stop(ConclaveException why) {
        follower.execute(() -> {
            if (!isOver()) {
                failed(why);
                follower.end();
                removeWatch(session());
            }
        });
    }

    private void removeWatch(RecipeSession on) {
        on.unwatch(path, watcher, this::nothingLeft);
    }

    @Override
    public String what() {
        return recipe.toString();
    }

    @Override
    public String question() {
        return "whether the " + (awaitsPresence ? "latch " + recipe + " is open" : "barrier " + recipe + " is removed");
    }

    @Override
    public String withoutAnswer() {
        return "Try again later";
    }

    @Override
    public WaitTimeoutException timedOut(Duration waited) {
        String not =
                awaitsPresence ? "The latch " + recipe + " was not open" : "The barrier " + recipe + " was not removed";
        return new WaitTimeoutException(
                what(),
                waited,
                not + " within " + Waiting.text(waited) + ": "
                        + session().unlessConnected(awaitsPresence ? "others have to count" : "it is still in place"));
    }

    @Override
    public RecipeSession session() {
        return follower.session();
    }

    @Override
    public String toString() {
        return "ZnodeWait[until " + path + (awaitsPresence ? " is there" : " is gone") + "]";
    }
}
