package io.conclave.election;

/**
 * Where a campaign stands.
 *
 * <pre>{@code
 * IN_LINE <-> ACKNOWLEDGING -> LEADING
 *    |              |             |
 *    +--------------+-------------+--> ENDED
 * }</pre>
 */
enum CampaignState {
    /** Has a place in the line, or is about to; again and again if it is asked to step back. */
    IN_LINE,
    /** The first in the line; its leader node is being made. */
    ACKNOWLEDGING,
    /** Acknowledged: the leadership is given. */
    LEADING,
    /** Failed, given up, resigned or lost; what is left at the backend is being deleted. */
    ENDED;

    boolean mayBecome(CampaignState next) {
        return switch (next) {
            case IN_LINE -> this == IN_LINE || this == ACKNOWLEDGING;
            case ACKNOWLEDGING -> this == IN_LINE;
            case LEADING -> this == ACKNOWLEDGING;
            case ENDED -> this != ENDED;
        };
    }
}
