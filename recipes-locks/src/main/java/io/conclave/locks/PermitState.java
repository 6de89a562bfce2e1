package io.conclave.locks;

import java.util.EnumSet;
import java.util.Set;

/**
 * The states of a request for permits.
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
    /** The place is being turned into leases, or what became of that is being found out. */
    TURNING,
    /** Has the leases. */
    HELD,
    /** Place or leases are being deleted. */
    LEAVING,
    /** Nothing is left. */
    GONE;

    private Set<PermitState> predecessors() {
        return switch (this) {
            case QUEUED -> EnumSet.noneOf(PermitState.class);
            case HEAD -> EnumSet.of(QUEUED, TURNING);
            case TURNING -> EnumSet.of(HEAD);
            case HELD -> EnumSet.of(TURNING);
            case LEAVING -> EnumSet.of(QUEUED, HEAD, TURNING, HELD);
            case GONE -> EnumSet.of(QUEUED, HEAD, TURNING, HELD, LEAVING);
        };
    }

    boolean mayBecome(PermitState next) {
        return next.predecessors().contains(this);
    }

    /** Whether permits are wanted or held. */
    boolean isActive() {
        return this != LEAVING && this != GONE;
    }
}
