package io.conclave.testkit.contract;

import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Clocks that go as the machine's does, and can be moved besides; thread-safe.
 *
 * <p>A patient clock goes slower while the machine does not keep up: the time of a step that came late is lost. A
 * session with a short timeout then survives a machine that is too busy for heartbeats. It is for stores whose server
 * goes by patient clocks, too.
 */
final class MovingClocks implements AutoCloseable {
    private static final Duration STEP = Duration.ofMillis(5);
    private static final long MAX_NANOS_A_STEP = Duration.ofMillis(20).toNanos();

    private final List<Clock> clocks = new CopyOnWriteArrayList<>();
    private volatile boolean closed;

    private record Clock(ManualTimeSource time, long mostNanosAStep) {
        void advance(long nanos) {
            time.advance(Duration.ofNanos(Math.min(nanos, mostNanosAStep)));
        }
    }

    MovingClocks() {
        move(TimeSource.system().monotonicNanos());
    }

    /** Another clock; the newest one moves first. */
    ManualTimeSource add(boolean patient) {
        ManualTimeSource clock = new ManualTimeSource();
        clocks.add(0, new Clock(clock, patient ? MAX_NANOS_A_STEP : Long.MAX_VALUE));
        return clock;
    }

    /** It stands from now on, until it is moved by other means. */
    synchronized void stop(ManualTimeSource time) {
        clocks.removeIf(clock -> clock.time == time);
    }

    private synchronized void moveAll(long nanos) {
        clocks.forEach(clock -> clock.advance(nanos));
    }

    private void move(long lastNanos) {
        if (closed) {
            return;
        }
        long nowNanos = TimeSource.system().monotonicNanos();
        moveAll(nowNanos - lastNanos);
        TimeSource.system().schedule(STEP, () -> move(nowNanos));
    }

    @Override
    public void close() {
        closed = true;
    }
}
