package io.conclave.connection;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Step;
import io.conclave.time.TimeSource;
import io.conclave.tree.Result;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.TreeState;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One event loop's view of the world: the state that its connections see, and their watches. The loop walks through
 * each applied batch step by step; at each step the state advances, then the watch events go out, then the reply. So an
 * event is never behind a reply that already shows the change, a read that waits behind a write sees exactly the state
 * after it, and nothing needs a lock.
 *
 * <p>Before it handles what a client sent, the loop {@linkplain #catchUp catches up} with the log's thread, so that
 * clients of different loops see one order of things.
 *
 * <p>All fields but inbox, draining, feed, attentive and unseenSteps belong to the event loop.
 */
final class Loop {
    private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
    private static final Duration RETRY_DELAY = Duration.ofMillis(20);
    private static final int MAX_UNSEEN_STEPS = 4;

    /** How many watches of a closed connection are removed at a time. */
    private static final int WATCHES_OF_A_PART = 200;

    private final EventLoop eventLoop;
    private final ReplicatedLog log;
    private final TimeSource time;
    private final Feed feed;
    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();

    /** Written by the loop, read by the log's thread. */
    private volatile boolean attentive;

    /** The log's thread only: steps since the loop was last woken for one. */
    private int unseenSteps;

    private final WatchTable watches = new WatchTable();
    private final Goodbye goodbye = new Goodbye(this);
    private final LoopCounters counters = new LoopCounters();
    private final LoopTurns turns;
    private final LongWork longWork;
    private final Queue<Runnable> stalled = new ArrayDeque<>();
    private final LoopConnections connections = new LoopConnections();
    private boolean retryScheduled;
    private boolean catchingUp;
    private Feed.Entry position;
    private TreeState state;

    Loop(EventLoop eventLoop, ReplicatedLog log, TimeSource time, Feed feed) {
        this.eventLoop = eventLoop;
        this.log = log;
        this.time = time;
        this.turns = new LoopTurns(time);
        this.longWork =
                new LongWork(time, this::post, this::postBehindSockets, () -> counters.requests() + state.lastZxid());
        this.feed = feed;
        this.position = feed.first();
        this.state = TreeState.OF_NO_CLUSTER;
    }

    TreeState state() {
        return state;
    }

    /** The state is gone, and what comes next is not here yet: no client is served, whatever is granted. */
    void drop() {
        connections.hasState(false);
        state = TreeState.OF_NO_CLUSTER;
    }

    /** A state to which no steps lead: clients that knew the one before cannot learn what they missed. */
    void begin(TreeState newState) {
        connections.forEach(ClientConnection::stateReplaced);
        state = newState;
        connections.hasState(true);
    }

    LoopConnections connections() {
        return connections;
    }

    LoopCounters counters() {
        return counters;
    }

    LoopTurns turns() {
        return turns;
    }

    LongWork longWork() {
        return longWork;
    }

    WatchTable watches() {
        return watches;
    }

    Goodbye goodbye() {
        return goodbye;
    }

    ReplicatedLog log() {
        return log;
    }

    /** Runs a task soon, on the loop. From any thread. */
    void post(Runnable task) {
        inbox.add(task);
        wake();
    }

    /**
     * Runs a task when the loop has looked at its sockets again. A task that is posted may run before that: as long as
     * there are tasks, the loop looks at nothing else for up to a second. On the loop.
     */
    private void postBehindSockets(Runnable task) {
        if (!eventLoop.isShuttingDown()) {
            eventLoop.schedule(() -> post(task), 0, TimeUnit.NANOSECONDS);
        }
    }

    /** Runs a task on the loop behind everything applied so far. On the log's thread. */
    void postBehindSteps(Runnable task) {
        feed.task(this, task);
        wake();
    }

    /** Has the loop catch up soon. From any thread. */
    void wake() {
        if (draining.compareAndSet(false, true)) {
            try {
                eventLoop.execute(this::drain);
            } catch (RejectedExecutionException e) {
                LOG.debug("The event loop has ended: {}", e.toString());
            }
        }
    }

    /**
     * A batch is there. A loop that it does not concern, and that watches nothing, is left asleep: it catches up before
     * it next looks at anything. But not for long, since what it has not walked through stays in memory. On the log's
     * thread.
     */
    void told(int steps, boolean concerned) {
        unseenSteps += steps;
        if (concerned || attentive || unseenSteps > MAX_UNSEEN_STEPS) {
            unseenSteps = 0;
            wake();
        }
    }

    /**
     * Whether every batch may have something for this loop. Said before the loop looks for the last time whether there
     * is a batch, so that either it sees the batch or the log's thread sees this.
     */
    private void attend() {
        boolean now = watches.size() > 0 || !stalled.isEmpty();
        if (now != attentive) {
            attentive = now;
            if (now && position.hasNext()) {
                wake();
            }
        }
    }

    private void drain() {
        draining.set(false);
        turns.begin();
        try {
            catchUp();
            for (Runnable task = inbox.poll(); task != null; task = inbox.poll()) {
                guarded(task);
            }
            retryStalled();
            flush();
        } finally {
            turns.end();
        }
    }

    /**
     * Walks through all that the log's thread has applied. Does nothing if called from inside the walk, which happens
     * when a client in this JVM shares the loop.
     */
    void catchUp() {
        if (catchingUp) {
            return;
        }
        catchingUp = true;
        try {
            for (Feed.Entry next = position.leave(); next != null; next = position.leave()) {
                position = next;
                Feed.Entry entry = next;
                guarded(() -> entry.runTask(this));
                next.steps.forEach(this::walkGuarded);
            }
        } finally {
            catchingUp = false;
        }
    }

    private static void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.error("A task of an event loop failed", e);
        }
    }

    /** A watcher may have missed an event of a step that fails, so no client may stay; the next steps go on. */
    private void walkGuarded(Step step) {
        try {
            walk(step);
        } catch (RuntimeException | Error e) {
            LOG.error(
                    "The change at zxid 0x{} cannot be told to the clients of {}: all its connections are closed",
                    Long.toHexString(step.applied().zxid()),
                    eventLoop,
                    e);
            state = step.applied().state();
            connections.closeAll("an error of the server");
        }
    }

    private void walk(Step step) {
        ConnectionProposal ours =
                step.origin() instanceof ConnectionProposal proposal && proposal.loop() == this ? proposal : null;
        if (ours != null) {
            ours.settle(ours::beforeApplied);
        }
        state = step.applied().state();
        for (TreeEvent event : step.applied().events()) {
            watches.fire(event);
        }
        if (step.applied().result() instanceof Result.SessionAttached moved) {
            connections.moved(moved.session().id(), moved.session().attachment());
        }
        if (ours != null) {
            ours.settle(() -> ours.applied(step.applied()));
        }
        if (step.applied().result() instanceof Result.SessionClosed closed) {
            connections.ended(closed.sessionId());
        }
    }

    void detach(ClientConnection connection) {
        removeWatches(connection);
        connections.remove(connection);
        goodbye.gone(connection);
    }

    /** Some at a time. Those that are left meanwhile get no events: their connection has gone. */
    private void removeWatches(ClientConnection connection) {
        if (!watches.removeSome(connection, WATCHES_OF_A_PART)) {
            longWork.add(() -> watches.removeSome(connection, WATCHES_OF_A_PART));
        }
    }

    /** Flushes the connections that have something gathered. */
    void flush() {
        connections.flush();
        attend();
    }

    /** Runs the attempt again when the log may have room: after the next batch, or after a moment at the latest. */
    void retryLater(Runnable attempt) {
        stalled.add(attempt);
        scheduleRetry();
    }

    private void scheduleRetry() {
        if (!retryScheduled) {
            retryScheduled = true;
            time.schedule(
                    RETRY_DELAY,
                    () -> post(() -> {
                        retryScheduled = false;
                        retryStalled();
                    }));
        }
    }

    private void retryStalled() {
        for (int count = stalled.size(); count > 0; count--) {
            Runnable attempt = stalled.poll();
            if (attempt != null) {
                guarded(attempt);
            }
        }
    }
}
