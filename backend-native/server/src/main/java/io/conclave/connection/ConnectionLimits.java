package io.conclave.connection;

/**
 * The bounds of what clients can make the server hold.
 *
 * @param maxConnectionsPerAddress TCP connections of one IP address; 0 for no bound
 * @param maxConnections connections in all; 0 for no bound
 * @param maxOutputBytes replies and events that wait for one client to read them; beyond it the connection is cut
 * @param minSessionTimeoutMs the shortest session timeout granted
 * @param maxSessionTimeoutMs the longest session timeout granted
 * @param handshakeTimeoutMs how long a connection may take for its handshake
 */
public record ConnectionLimits(
        int maxConnectionsPerAddress,
        int maxConnections,
        long maxOutputBytes,
        int minSessionTimeoutMs,
        int maxSessionTimeoutMs,
        long handshakeTimeoutMs) {
    /** ConnectionOutput that may wait for one client, by default. */
    public static final long DEFAULT_OUTPUT_BYTES = 64L << 20;

    /** Once the results of a multi of reads are larger, the parts that are left are refused. */
    static final long MAX_MULTI_READ_BYTES = 16L << 20;

    int sessionTimeoutMs(int wishedMs) {
        return Math.max(minSessionTimeoutMs, Math.min(maxSessionTimeoutMs, wishedMs));
    }
}
