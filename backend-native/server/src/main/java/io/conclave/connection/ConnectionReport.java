package io.conclave.connection;

import java.util.ArrayList;
import java.util.List;

/**
 * What the connections of one loop, or of all, have done.
 *
 * @param received requests, handshakes included
 * @param sent replies and events
 * @param outstanding requests that wait for their answer
 * @param watches watches, each path of each connection once
 * @param writes how many writes were answered
 * @param minLatencyMs of those, from their arrival to their answer
 * @param maxLatencyMs as before
 * @param sumLatencyMs as before
 * @param clients one for each connection there is
 */
public record ConnectionReport(
        long received,
        long sent,
        long outstanding,
        long watches,
        long writes,
        long minLatencyMs,
        long maxLatencyMs,
        double sumLatencyMs,
        List<Client> clients) {
    static final ConnectionReport NONE = new ConnectionReport(0, 0, 0, 0, 0, Long.MAX_VALUE, 0, 0, List.of());

    /**
     * One connection.
     *
     * @param address where it comes from
     * @param attached whether it has a session
     * @param sessionId its session; 0 if it has none
     * @param queued requests that wait for their answer
     * @param received requests, the handshake included
     * @param sent replies and events
     */
    public record Client(String address, boolean attached, long sessionId, int queued, long received, long sent) {}

    ConnectionReport plus(ConnectionReport other) {
        List<Client> all = new ArrayList<>(clients);
        all.addAll(other.clients);
        return new ConnectionReport(
                received + other.received,
                sent + other.sent,
                outstanding + other.outstanding,
                watches + other.watches,
                writes + other.writes,
                Math.min(minLatencyMs, other.minLatencyMs),
                Math.max(maxLatencyMs, other.maxLatencyMs),
                sumLatencyMs + other.sumLatencyMs,
                all);
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
