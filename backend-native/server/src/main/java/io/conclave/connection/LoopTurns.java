package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * How long an event loop works in one go: all its connections wait meanwhile. A turn is what one read of a socket, or
 * one batch of tasks, leads to. Belongs to the loop.
 */
final class LoopTurns {
    private static final double NANOS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final TimeSource time;
    /** Inside the JVM a client that shares the loop reads in the middle of a turn, which is the same turn. */
    private int depth;

    private long sinceNanos;
    private long count;
    private double sumMs;
    private double longestMs;

    LoopTurns(TimeSource time) {
        this.time = time;
    }

    /** A turn begins, or something within it; {@link #end} follows. */
    void begin() {
        if (depth++ == 0) {
            sinceNanos = time.monotonicNanos();
        }
    }

    void end() {
        if (--depth == 0) {
            double ms = (time.monotonicNanos() - sinceNanos) / NANOS_PER_MS;
            count++;
            sumMs += ms;
            longestMs = Math.max(longestMs, ms);
        }
    }

    /** Begins to count again. */
    void reset() {
        count = 0;
        sumMs = 0;
        longestMs = 0;
    }

    ConnectionTotals.Turns totals() {
        return new ConnectionTotals.Turns(count, sumMs, longestMs);
    }
}
