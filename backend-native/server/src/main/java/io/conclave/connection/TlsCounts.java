package io.conclave.connection;

/**
 * What the ports of clients have to do with TLS.
 *
 * @param secure connections with TLS, now
 * @param halfOpen connections to ports with TLS whose first byte or handshake is not complete, now
 * @param failed connections that were refused since the start: a handshake that failed, or the wrong port
 */
public record TlsCounts(long secure, long halfOpen, long failed) {}
