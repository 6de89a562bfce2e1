package io.conclave.connection;

import java.util.concurrent.TimeUnit;

/**
 * What the connections of one loop, or of all, have done and are doing, in sums. They are kept as things happen, so
 * that asking costs the same however many connections there are.
 *
 * @param connections how many there are
 * @param received requests, handshakes included
 * @param sent replies and events
 * @param outstanding requests that wait for their answer
 * @param watches watches, each path of each connection once
 * @param writes how many writes were answered
 * @param minLatencyMs of those, from their arrival to their answer
 * @param maxLatencyMs as before, rounded up
 * @param sumLatencyMs as before
 * @param turns how long the event loops worked in one go
 */
public record ConnectionTotals(
        long connections,
        long received,
        long sent,
        long outstanding,
        long watches,
        long writes,
        long minLatencyMs,
        long maxLatencyMs,
        double sumLatencyMs,
        Turns turns) {
    static final ConnectionTotals NONE =
            new ConnectionTotals(0, 0, 0, 0, 0, 0, Long.MAX_VALUE, 0, 0, new Turns(0, 0, 0));

    /**
     * The turns of event loops.
     *
     * @param count how many there were
     * @param sumMs what they took together
     * @param longestMs what the longest of them took
     */
    public record Turns(long count, double sumMs, double longestMs) {
        Turns plus(Turns other) {
            return new Turns(count + other.count, sumMs + other.sumMs, Math.max(longestMs, other.longestMs));
        }

        /** The mean of all; 0 if there were none. */
        public double averageMs() {
            return count == 0 ? 0 : sumMs / count;
        }
    }

    ConnectionTotals plus(ConnectionTotals other) {
        return new ConnectionTotals(
                connections + other.connections,
                received + other.received,
                sent + other.sent,
                outstanding + other.outstanding,
                watches + other.watches,
                writes + other.writes,
                Math.min(minLatencyMs, other.minLatencyMs),
                Math.max(maxLatencyMs, other.maxLatencyMs),
                sumLatencyMs + other.sumLatencyMs,
                turns.plus(other.turns));
    }

    /** The longest latency in ms; rounded up, so that no mean is above it. */
    static long roundedUpMs(long nanos) {
        long nanosOfMs = TimeUnit.MILLISECONDS.toNanos(1);
        return (nanos + nanosOfMs - 1) / nanosOfMs;
    }

    /** The mean over all writes; 0 if there were none. */
    public double averageLatencyMs() {
        return writes == 0 ? 0 : sumLatencyMs / writes;
    }

    /** The least over all writes; 0 if there were none. */
    public long leastLatencyMs() {
        return writes == 0 ? 0 : minLatencyMs;
    }
}
