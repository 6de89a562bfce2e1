package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * How much may be counted: so much a second, and what was not used for a second at most. One count may be larger than
 * what is left, and then the next ones wait until that is made up for. Thread-safe.
 */
final class CountBudget {
    private final TimeSource time;
    private final double perSecond;

    // Both: @GuardedBy("this").
    private double left;
    private long sinceNanos;

    /** @param perSecond {@link Long#MAX_VALUE} for no bound */
    CountBudget(TimeSource time, long perSecond) {
        this.time = time;
        this.perSecond = (double) perSecond;
        this.left = this.perSecond;
        this.sinceNanos = time.monotonicNanos();
    }

    /** Takes so much from it; false, and nothing is taken, if nothing is left. */
    synchronized boolean spend(long count) {
        long now = time.monotonicNanos();
        double seconds = (double) (now - sinceNanos) / TimeUnit.SECONDS.toNanos(1);
        sinceNanos = now;
        left = Math.min(perSecond, left + seconds * perSecond);
        if (left <= 0) {
            return false;
        }
        left -= (double) count;
        return true;
    }
}
