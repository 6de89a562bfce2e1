package io.conclave.barriers;

/**
 * Where a participant of a double barrier stands.
 *
 * <pre>{@code
 * ENTERING -> INSIDE -> LEAVING -> GONE
 *     |          |                  ^
 *     +----------+------------------+     (its session ended, or its znode was deleted;
 *                                         ENTERING may go to LEAVING, too)
 * }</pre>
 */
enum ParticipantState {
    /** Its znode is being made, or is there and waits for others. */
    ENTERING,
    /** All are there. */
    INSIDE,
    /** Its znode is being deleted. */
    LEAVING,
    /** Nothing of it is left. */
    GONE;

    boolean mayBecome(ParticipantState next) {
        return switch (next) {
            case ENTERING -> false;
            case INSIDE -> this == ENTERING;
            case LEAVING -> this == ENTERING || this == INSIDE;
            case GONE -> this != GONE;
        };
    }

    /** Whether its znode is meant to be there. */
    boolean isPresent() {
        return this == ENTERING || this == INSIDE;
    }
}
