package io.conclave.consensus.entry;

/**
 * One entry of the log.
 *
 * @param kind what it is about
 * @param origin whose proposal it is
 * @param payload its bytes, not to be changed
 */
public record LogEntry(LogEntryKind kind, Origin origin, byte[] payload) {

    @Override
    public String toString() {
        return kind + (origin.equals(Origin.NONE) ? "" : " of " + origin) + ", " + payload.length + " bytes";
    }
}
