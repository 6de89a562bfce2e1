package io.conclave.election;

import java.util.EnumSet;
import java.util.Set;

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

    private Set<CampaignState> predecessors() {
        return switch (this) {
            case IN_LINE -> EnumSet.of(IN_LINE, ACKNOWLEDGING);
            case ACKNOWLEDGING -> EnumSet.of(IN_LINE);
            case LEADING -> EnumSet.of(ACKNOWLEDGING);
            case ENDED -> EnumSet.of(IN_LINE, ACKNOWLEDGING, LEADING);
        };
    }

    boolean mayBecome(CampaignState next) {
        return next.predecessors().contains(this);
    }
}
