package io.conclave.connection;

/**
 * What one connection has done.
 *
 * @param client whose it is
 * @param queued requests that wait for their answer
 * @param received requests, the handshake included
 * @param sent replies and events
 * @param lastOperation ZooKeeper's word for the last request, NA before the first
 * @param establishedMs when it was opened, by the wall clock
 * @param lastXid the number of the last request; -1 before the first
 * @param lastZxid the zxid in the last reply
 * @param lastResponseMs when that was sent, by the wall clock
 * @param lastLatencyMs of the last write, from its arrival to its answer
 * @param minLatencyMs of all writes
 * @param averageLatencyMs of all writes
 * @param maxLatencyMs of all writes, rounded up
 */
public record ConnectionReport(
        Client client,
        int queued,
        long received,
        long sent,
        String lastOperation,
        long establishedMs,
        long lastXid,
        long lastZxid,
        long lastResponseMs,
        long lastLatencyMs,
        long minLatencyMs,
        long averageLatencyMs,
        long maxLatencyMs) {
    /**
     * The other end of a connection.
     *
     * @param address where it comes from
     * @param attached whether it has a session
     * @param sessionId its session; 0 if it has none
     * @param timeoutMs the session's timeout; 0 if it has none
     */
    public record Client(String address, boolean attached, long sessionId, int timeoutMs) {}
}
