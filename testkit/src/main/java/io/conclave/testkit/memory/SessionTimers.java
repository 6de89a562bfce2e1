package io.conclave.testkit.memory;

import io.conclave.spi.SessionDeadline;
import io.conclave.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Wakes a session for its next heartbeat and when its deadline has passed. Guarded by the store's lock, under which it
 * wakes it, too.
 */
final class SessionTimers {
    private final StoreLock lock;
    private final TimeSource time;
    private final Duration pingInterval;
    private final SessionDeadline deadline;
    private final Runnable onPing;
    private final Runnable onOverdue;
    private TimeSource.@Nullable Timer ping;
    private TimeSource.@Nullable Timer watchdog;

    SessionTimers(
            StoreLock lock,
            TimeSource time,
            Duration pingInterval,
            SessionDeadline deadline,
            Runnable onPing,
            Runnable onOverdue) {
        this.lock = lock;
        this.time = time;
        this.pingInterval = pingInterval;
        this.deadline = deadline;
        this.onPing = onPing;
        this.onOverdue = onOverdue;
    }

    /** Starts anew, on a new connection. */
    void start() {
        stop();
        pingLater();
        watchAfter(deadline.remaining());
    }

    /** Wakes the session once more for a heartbeat. */
    void pingLater() {
        ping = time.schedule(pingInterval, () -> lock.run(onPing));
    }

    void stop() {
        cancel(ping);
        cancel(watchdog);
    }

    private void watchAfter(Duration left) {
        // What is left shrinks one percent faster than time passes; asking a little early costs one more look.
        Duration delay = left.minus(left.dividedBy(100)).plusNanos(1000);
        watchdog = time.schedule(delay, () -> lock.run(this::watch));
    }

    private void watch() {
        Duration left = deadline.remaining();
        if (left.isZero()) {
            onOverdue.run();
        } else {
            watchAfter(left);
        }
    }

    private static void cancel(TimeSource.@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }
}
