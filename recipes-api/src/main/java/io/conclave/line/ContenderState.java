package io.conclave.line;

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

    boolean mayBecome(ContenderState next) {
        return switch (next) {
            case ENTERING -> false;
            case WAITING, HELD -> this == ENTERING || this == WAITING;
            case LEAVING -> isInLine();
            case GONE -> this != GONE;
        };
    }

    /** Whether the contender still stands in line or holds. */
    boolean isInLine() {
        return this == ENTERING || this == WAITING || this == HELD;
    }
}
