package io.conclave.connection;

import java.util.concurrent.TimeUnit;

/** What the connections of a loop have done since the start; plain numbers, since they belong to the loop. */
final class LoopCounters {
    private static final double NANOS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private long received;
    private long sent;
    private long outstanding;
    private long writes;
    private long minLatencyNanos = Long.MAX_VALUE;
    private long maxLatencyNanos;
    private double sumLatencyMs;

    /** Begins again; what waits for its answer goes on waiting. */
    void reset() {
        received = 0;
        sent = 0;
        writes = 0;
        minLatencyNanos = Long.MAX_VALUE;
        maxLatencyNanos = 0;
        sumLatencyMs = 0;
    }

    void received() {
        received++;
    }

    /** How many requests have come in. */
    long requests() {
        return received;
    }

    void sent() {
        sent++;
    }

    /** So many requests more wait for their answer; fewer if it is negative. */
    void waiting(int more) {
        outstanding += more;
    }

    void written(long latencyNanos) {
        writes++;
        minLatencyNanos = Math.min(minLatencyNanos, latencyNanos);
        maxLatencyNanos = Math.max(maxLatencyNanos, latencyNanos);
        sumLatencyMs += latencyNanos / NANOS_PER_MS;
    }

    /**
     * All of it, with what others count.
     *
     * @param connections how many the loop has
     * @param watches how many these have, each path of each connection once
     */
    ConnectionTotals totals(int connections, long watches, ConnectionTotals.Turns turns) {
        return new ConnectionTotals(
                connections,
                received,
                sent,
                outstanding,
                watches,
                writes,
                TimeUnit.NANOSECONDS.toMillis(minLatencyNanos),
                ConnectionTotals.roundedUpMs(maxLatencyNanos),
                sumLatencyMs,
                turns);
    }
}
