package io.conclave.server;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Tells the leader which sessions this server has heard of, many in one note, one note at a time: while one is on its
 * way, the next one gathers. A client that takes up its session waits, so its note is sent as soon as that is possible.
 * A ping has its note sent as well, but no more than one in {@link #BETWEEN_PINGS}: with many idle clients there is
 * always one that pings, and each note wakes all members. For other requests a note is sent within a fraction of the
 * shortest session timeout.
 *
 * <p>A ping is answered by a note that left after the session had been entered into this or an earlier one. Since notes
 * go one after the other and an unanswered one goes to the next leader, the one that answers knows of the ping, or has
 * led only since it came and gave every session a full timeout then.
 */
final class HeartbeatBatcher {
    private static final Duration RETRY_DELAY = Duration.ofMillis(20);

    /** Between two notes for pings: what a client's deadline counts from is when it sent its ping, not the answer. */
    static final Duration BETWEEN_PINGS = Duration.ofMillis(100);

    private final ReplicatedLog log;
    private final TimeSource time;
    private final int featureLevel;
    private final BooleanSupplier tellsClock;
    private final Duration delay;
    private final Queue<SessionLease> spoke = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean onItsWay = new AtomicBoolean();
    private final AtomicBoolean timed = new AtomicBoolean();
    private final AtomicBoolean pingsTimed = new AtomicBoolean();
    private final AtomicBoolean retryTimed = new AtomicBoolean();
    private final Duration betweenPings;
    private volatile long sentNanos;

    /** Somebody waits for whom no note is to be late. */
    private volatile boolean urgent;

    private volatile boolean stopped;

    /**
     * @param featureLevel what this server understands, for the leader to know
     * @param tellsClock whether the leader can read what this server's clock says; from any thread
     * @param delay how long a heartbeat may wait for others
     */
    HeartbeatBatcher(ReplicatedLog log, TimeSource time, int featureLevel, BooleanSupplier tellsClock, Duration delay) {
        this.log = log;
        this.time = time;
        this.featureLevel = featureLevel;
        this.tellsClock = tellsClock;
        this.delay = delay;
        this.betweenPings = delay.compareTo(BETWEEN_PINGS) < 0 ? delay : BETWEEN_PINGS;
        this.sentNanos = time.monotonicNanos() - betweenPings.toNanos();
    }

    /** A session has spoken, and stands in no note that is still to be sent. */
    void add(SessionLease lease) {
        spoke.add(lease);
        sendWithin(delay);
    }

    /** Runs the action on the log's thread when a note that is sent from now on has been confirmed. */
    void whenConfirmed(Runnable action) {
        waiting.add(action);
        urgent = true;
        send();
    }

    /** As {@link #whenConfirmed}, but the note may wait a moment for others: for pings. */
    void whenConfirmedSoon(Runnable action) {
        waiting.add(action);
        sendForPings();
    }

    private void sendForPings() {
        long leftNanos = betweenPings.toNanos() - (time.monotonicNanos() - sentNanos);
        if (leftNanos <= 0) {
            send();
        } else if (pingsTimed.compareAndSet(false, true)) {
            time.schedule(Duration.ofNanos(leftNanos), () -> {
                pingsTimed.set(false);
                if (!waiting.isEmpty()) { // unless they went with another note
                    send();
                }
            });
        }
    }

    void stop() {
        stopped = true;
        waiting.clear();
        spoke.clear();
    }

    private void sendWithin(Duration within) {
        if (timed.compareAndSet(false, true)) {
            time.schedule(within, () -> {
                timed.set(false);
                send();
            });
        }
    }

    private void send() {
        if (stopped || !onItsWay.compareAndSet(false, true)) {
            return;
        }
        urgent = false; // before what waits is taken: what comes after that says so again
        sentNanos = time.monotonicNanos();
        // the actions first: each came behind the sessions whose heartbeat it is about
        List<Runnable> actions = drained(waiting);
        List<SessionLease> leases = drained(spoke);
        leases.forEach(SessionLease::entered);
        long[] ids = leases.stream().mapToLong(SessionLease::sessionId).toArray();
        HeartbeatNote note = new HeartbeatNote(featureLevel, ids).at(tellsClock.getAsBoolean() ? time.wallMillis() : 0);
        if (!log.readIndex(note.encode(), () -> confirmed(actions))) {
            waiting.addAll(actions);
            spoke.addAll(leases);
            onItsWay.set(false);
            retry();
        }
    }

    /** Has its own timer: the timer for heartbeats may take much longer, and a client may wait for this note. */
    private void retry() {
        if (retryTimed.compareAndSet(false, true)) {
            time.schedule(RETRY_DELAY, () -> {
                retryTimed.set(false);
                send();
            });
        }
    }

    private void confirmed(List<Runnable> actions) {
        actions.forEach(Runnable::run);
        onItsWay.set(false);
        if (urgent) {
            send();
        } else if (!waiting.isEmpty()) {
            sendForPings();
        } else if (!spoke.isEmpty()) {
            sendWithin(delay);
        }
    }

    private static <T> List<T> drained(Queue<T> queue) {
        List<T> all = new ArrayList<>();
        for (T next = queue.poll(); next != null; next = queue.poll()) {
            all.add(next);
        }
        return all;
    }
}
