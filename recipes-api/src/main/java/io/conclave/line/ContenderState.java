package io.conclave.line;

import java.util.EnumSet;
import java.util.Set;

/**
 * Where a contender stands.
 *
 * <pre>{@code
 * ENTERING -> WAITING -> HELD
 *     |          |         |
 *     +----------+---------+--> LEAVING -> GONE
 *     (also ENTERING -> HELD, and every state -> GONE when the session or the znode has gone)
 * }</pre>
 */
enum ContenderState {
    /** The znode is being created, or looked for after a lost reply. */
    ENTERING,
    /** In the line behind somebody. */
    WAITING,
    /** Head of the line; the grant is given. */
    HELD,
    /** The znode is being deleted. */
    LEAVING,
    /** Nothing is left of it. */
    GONE;

    private Set<ContenderState> predecessors() {
        return switch (this) {
            case ENTERING -> EnumSet.noneOf(ContenderState.class);
            case WAITING -> EnumSet.of(ENTERING, WAITING);
            case HELD -> EnumSet.of(ENTERING, WAITING);
            case LEAVING -> EnumSet.of(ENTERING, WAITING, HELD);
            case GONE -> EnumSet.of(ENTERING, WAITING, HELD, LEAVING);
        };
    }

    boolean mayBecome(ContenderState next) {
        return next.predecessors().contains(this);
    }

    /** Whether the contender still stands in line or holds. */
    boolean isInLine() {
        return this == ENTERING || this == WAITING || this == HELD;
    }
}
