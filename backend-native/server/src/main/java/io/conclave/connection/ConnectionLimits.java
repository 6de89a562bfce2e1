package io.conclave.connection;

/**
 * The bounds of what clients can make the server hold.
 *
 * @param maxConnectionsPerAddress TCP connections of one IP address; 0 for no bound
 * @param maxConnections connections in all; 0 for no bound
 * @param minSessionTimeoutMs the shortest session timeout granted
 * @param maxSessionTimeoutMs the longest session timeout granted
 * @param handshakeTimeoutMs how long a connection may take for its handshake
 */
public record ConnectionLimits(
        int maxConnectionsPerAddress,
        int maxConnections,
        int minSessionTimeoutMs,
        int maxSessionTimeoutMs,
        long handshakeTimeoutMs) {
    private static final int ADDRESSES_OF_NETWORK = 16;

    /** As many as some of its addresses may have; 0 for no bound. */
    long maxConnectionsPerNetwork() {
        return (long) ADDRESSES_OF_NETWORK * maxConnectionsPerAddress;
    }

    int sessionTimeoutMs(int wishedMs) {
        return Math.max(minSessionTimeoutMs, Math.min(maxSessionTimeoutMs, wishedMs));
    }
}
