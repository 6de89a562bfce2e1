package io.conclave.connection;

/**
 * What one connection has done.
 *
 * @param address where it comes from
 * @param attached whether it has a session
 * @param sessionId its session; 0 if it has none
 * @param queued requests that wait for their answer
 * @param received requests, the handshake included
 * @param sent replies and events
 */
public record ConnectionReport(
        String address, boolean attached, long sessionId, int queued, long received, long sent) {}
