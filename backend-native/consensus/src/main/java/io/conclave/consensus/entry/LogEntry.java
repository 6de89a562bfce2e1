package io.conclave.consensus.entry;

/**
 * One entry of the log.
 *
 * @param kind what it is about
 * @param origin whose proposal it is
 * @param payload its bytes, not to be changed
 */
public record LogEntry(LogEntryKind kind, Origin origin, byte[] payload) {
    /** What an entry or a batch takes in memory, in a message or a file beside its payload, rounded up. */
    public static final int OVERHEAD_BYTES = 64;

    /** What it takes with its payload. */
    public long bytesWithOverhead() {
        return OVERHEAD_BYTES + (long) payload.length;
    }

    @Override
    public String toString() {
        return kind + (origin.equals(Origin.NONE) ? "" : " of " + origin) + ", " + payload.length + " bytes";
    }
}
