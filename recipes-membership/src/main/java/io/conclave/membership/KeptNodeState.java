package io.conclave.membership;

/**
 * Where a kept znode stands.
 *
 * <pre>{@code
 * MISSING <-> PRESENT
 *    |           |
 *    +-----------+--> CLOSING -> CLOSED  (and CLOSED from every state)
 * }</pre>
 */
public enum KeptNodeState {
    /**
     * Not there, as far as is known: it is being created, or waits for a znode of that name which is another client's.
     */
    MISSING,
    /** There. While the connection is away it stays so until the session is lost. */
    PRESENT,
    /** On the way to be deleted. */
    CLOSING,
    /** Kept no more: deleted, refused at the first creation, or the coordinator was closed. */
    CLOSED;

    boolean mayBecome(KeptNodeState next) {
        return switch (next) {
            case MISSING -> this == PRESENT;
            case PRESENT -> this == MISSING;
            case CLOSING -> this == MISSING || this == PRESENT;
            case CLOSED -> this != CLOSED;
        };
    }
}
