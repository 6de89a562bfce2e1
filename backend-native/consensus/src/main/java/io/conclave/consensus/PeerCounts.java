package io.conclave.consensus;

/**
 * What came to the port of the members, and what became of links.
 *
 * @param strangers connections on which no handshake is complete, now
 * @param refused connections that were refused, for the reason that the log names
 * @param gaveWay strangers that were closed because others came
 * @param lackedMemory links that were closed because there was no memory for a frame
 */
public record PeerCounts(long strangers, long refused, long gaveWay, long lackedMemory) {
    /** Of a log without such a port. */
    public static final PeerCounts NONE = new PeerCounts(0, 0, 0, 0);
}
