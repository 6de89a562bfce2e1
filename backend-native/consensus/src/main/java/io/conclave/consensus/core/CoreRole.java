package io.conclave.consensus.core;

import java.util.EnumSet;
import java.util.Set;

/**
 * What a member is in its term.
 *
 * <pre>
 *   FOLLOWER -> PRE_CANDIDATE -> CANDIDATE -> LEADER, and from each back to FOLLOWER.
 *   FOLLOWER -> CANDIDATE: at its leader's wish, or as the only voter.
 * </pre>
 */
public enum CoreRole {
    /** Follows a leader, or waits for one; learners are always this. */
    FOLLOWER,
    /** Asks whether an election would succeed. */
    PRE_CANDIDATE,
    /** Asks for votes. */
    CANDIDATE,
    /** Leads. */
    LEADER;

    private Set<CoreRole> legalPredecessors() {
        return switch (this) {
            case FOLLOWER -> EnumSet.allOf(CoreRole.class);
            case PRE_CANDIDATE -> EnumSet.of(FOLLOWER, PRE_CANDIDATE, CANDIDATE);
            case CANDIDATE -> EnumSet.of(FOLLOWER, PRE_CANDIDATE, CANDIDATE);
            case LEADER -> EnumSet.of(CANDIDATE);
        };
    }

    /** Whether a member may go from the given role to this one. */
    public boolean mayFollow(CoreRole predecessor) {
        return legalPredecessors().contains(predecessor);
    }
}
