package io.conclave.locks;

/**
 * The states of a request for permits or a lease.
 *
 * <pre>{@code
 * QUEUED -> HEAD <--> TURNING -> HELD
 *    |        |          |         |
 *    +--------+----------+---------+--> LEAVING -> GONE
 *    (and every state -> GONE when the session has gone)
 * }</pre>
 */
enum PermitState {
    /** In the admission line, or entering it. */
    QUEUED,
    /** Head of the admission line; waits for room. */
    HEAD,
    /** The place is being turned into leases, or it is being found out whether it was. */
    TURNING,
    /** Has the leases. */
    HELD,
    /** Place or leases are being deleted. */
    LEAVING,
    /** Nothing is left. */
    GONE;

    boolean mayBecome(PermitState next) {
        return switch (next) {
            case QUEUED -> false;
            case HEAD -> this == QUEUED || this == TURNING;
            case TURNING -> this == HEAD;
            case HELD -> this == TURNING;
            case LEAVING -> isActive();
            case GONE -> this != GONE;
        };
    }

    /** Whether permits are wanted or held. */
    boolean isActive() {
        return this != LEAVING && this != GONE;
    }
}
