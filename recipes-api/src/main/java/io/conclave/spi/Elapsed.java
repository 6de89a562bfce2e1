package io.conclave.spi;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A moment on both clocks, and the cautious answer to "how long ago was that?".
 *
 * <p>The answer is the larger of the two clocks' differences plus one percent for drift, so a process that gives
 * something up when it says so gives it up before anybody else's honest clock says so. A wall clock that was set back
 * never shortens it.
 */
public final class Elapsed {
    private static final long DRIFT_DIVISOR = 100;

    private final TimeSource time;
    private final long monotonicNanos;
    private final long wallMillis;

    private Elapsed(TimeSource time) {
        this.time = time;
        this.monotonicNanos = time.monotonicNanos();
        this.wallMillis = time.wallMillis();
    }

    /** Marks the present moment. */
    public static Elapsed since(TimeSource time) {
        return new Elapsed(time);
    }

    /** The cautious time since the mark in nanoseconds; never negative. Never blocks. */
    public long nanos() {
        long monotonic = time.monotonicNanos() - monotonicNanos;
        long wall = TimeUnit.MILLISECONDS.toNanos(time.wallMillis() - wallMillis);
        long larger = Math.max(0, Math.max(monotonic, wall));
        long drift = larger / DRIFT_DIVISOR;
        return larger > Long.MAX_VALUE - drift ? Long.MAX_VALUE : larger + drift;
    }

    /** What is left of a span that began at the mark; zero when it is over. Never blocks. */
    public Duration remainingOf(Duration span) {
        return leftOf(span, nanos());
    }

    /**
     * What may be left of a span that began at the mark, by the monotonic clock alone and without the allowance for
     * drift; zero when it is over. Never blocks.
     */
    Duration longestRemainingOf(Duration span) {
        return leftOf(span, Math.max(0, time.monotonicNanos() - monotonicNanos));
    }

    /** A span of centuries is as good as one without end. */
    private static Duration leftOf(Duration span, long goneNanos) {
        return Duration.ofNanos(Math.max(0, TimeUnit.NANOSECONDS.convert(span) - goneNanos));
    }

    /** Whether this mark was made after the other one, on the monotonic clock. */
    public boolean isAfter(Elapsed other) {
        return monotonicNanos - other.monotonicNanos > 0;
    }
}
