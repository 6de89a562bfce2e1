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
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One event loop's view of the world: the state that its connections see, their watches, and who is attached. The loop
 * walks through each applied batch step by step; at each step the state advances, then the watch events go out, then the
 * reply. So an event is never behind a reply that already shows the change, a read that waits behind a write sees exactly
 * the state after it, and nothing needs a lock.
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
    private final Map<Long, ClientConnection> attached = new HashMap<>();
    private final Set<ClientConnection> unflushed = new LinkedHashSet<>();
    private final Queue<Runnable> stalled = new ArrayDeque<>();
    private final Set<ClientConnection> connections = new LinkedHashSet<>();
    private ServiceMode mode = ServiceMode.NONE;

    /** What would be served if the log's thread were known to move. */
    private ServiceMode granted = ServiceMode.NONE;

    private ServiceMode most = ServiceMode.FULL;
    private boolean retryScheduled;
    private boolean catchingUp;
    private boolean flushing;
    private Feed.Entry position;
    private TreeState state;

    Loop(EventLoop eventLoop, ReplicatedLog log, TimeSource time, Feed feed) {
        this.eventLoop = eventLoop;
        this.log = log;
        this.time = time;
        this.feed = feed;
        this.position = feed.first();
        this.state = TreeState.initial(new UUID(0, 0), 0);
    }

    TreeState state() {
        return state;
    }

    /** What clients are served now. */
    ServiceMode mode() {
        return mode;
    }

    /** A state to which no steps lead: whoever knew the one before, a reader at least, cannot be told what it missed. */
    void begin(TreeState newState) {
        new ArrayList<>(connections).forEach(ClientConnection::stateReplaced);
        state = newState;
    }

    /** Serves otherwise from here on: those whom it does not suit are sent away. */
    void serve(ServiceMode newMode) {
        granted = newMode;
        settleMode();
    }

    /** Serves no more than this, whatever is granted. */
    void serveAtMost(ServiceMode newMost) {
        most = newMost;
        settleMode();
    }

    private void settleMode() {
        ServiceMode newMode = granted.compareTo(most) < 0 ? granted : most;
        if (mode != newMode) {
            mode = newMode;
            for (ClientConnection connection : new ArrayList<>(connections)) {
                connection.serviceChanged(newMode);
            }
        }
    }

    Collection<ClientConnection> connections() {
        return connections;
    }

    void opened(ClientConnection connection) {
        connections.add(connection);
    }

    LoopCounters counters() {
        return counters;
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
     * A batch is there. A loop that it does not concern, and that watches nothing, is left asleep: it catches up before it
     * next looks at anything. But not for long, since what it has not walked through stays in memory. On the log's thread.
     */
    void told(int steps, boolean concerned) {
        unseenSteps += steps;
        if (concerned || attentive || unseenSteps > MAX_UNSEEN_STEPS) {
            unseenSteps = 0;
            wake();
        }
    }

    /**
     * Whether every batch may have something for this loop. Said before the loop looks for the last time whether there is a
     * batch, so that either it sees the batch or the log's thread sees this.
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
        catchUp();
        for (Runnable task = inbox.poll(); task != null; task = inbox.poll()) {
            guarded(task);
        }
        retryStalled();
        flush();
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

    /** Whoever watches may have missed an event of a step that fails, so nobody may stay; the next steps go on. */
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
            new ArrayList<>(connections).forEach(connection -> connection.close("an error of the server"));
        }
    }

    private void walk(Step step) {
        ConnectionProposal ours =
                step.origin() instanceof ConnectionProposal proposal && proposal.loop() == this ? proposal : null;
        if (ours != null) {
            settled(ours, ours::beforeApplied);
        }
        state = step.applied().state();
        for (TreeEvent event : step.applied().events()) {
            watches.fire(event);
        }
        if (step.applied().result() instanceof Result.SessionAttached moved) {
            detachOlder(moved.session().id(), moved.session().attachment());
        }
        if (ours != null) {
            settled(ours, () -> ours.applied(step.applied()));
        }
        if (step.applied().result() instanceof Result.SessionClosed closed) {
            ClientConnection connection = attached.remove(closed.sessionId());
            if (connection != null) {
                connection.sessionEnded();
            }
        }
    }

    /** A proposal whose outcome cannot be delivered must not be waited for. */
    private static void settled(ConnectionProposal proposal, Runnable delivery) {
        try {
            delivery.run();
        } catch (RuntimeException | Error e) {
            LOG.error("The outcome of {} cannot be delivered to {}", proposal, proposal.connection(), e);
            proposal.connection().close("an error of the server");
        }
    }

    private void detachOlder(long sessionId, long attachment) {
        ClientConnection connection = attached.get(sessionId);
        if (connection != null && connection.attachment() != attachment) {
            attached.remove(sessionId);
            connection.close("its session has moved to another connection");
        }
    }

    void attach(long sessionId, ClientConnection connection) {
        attached.put(sessionId, connection);
    }

    void detach(ClientConnection connection) {
        attached.remove(connection.sessionId(), connection);
        watches.removeAll(connection);
        unflushed.remove(connection);
        connections.remove(connection);
        goodbye.gone(connection);
    }

    /** Has the connection flushed at the end of the present task. */
    void flushLater(ClientConnection connection) {
        unflushed.add(connection);
    }

    /**
     * Flushes all connections that have something gathered. Inside the JVM a flush can run the client's code, and that
     * can come back here in the middle of the very channel's flush, where Netty would ignore another one; the outermost
     * call takes those up.
     */
    void flush() {
        if (flushing) {
            return;
        }
        flushing = true;
        try {
            while (!unflushed.isEmpty()) {
                List<ClientConnection> now = new ArrayList<>(unflushed);
                unflushed.clear();
                now.forEach(connection -> guarded(connection::flushOutput));
            }
        } finally {
            flushing = false;
        }
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
