package io.conclave.consensus.core;

/** What a member is in its term. */
public enum CoreRole {
    /** Follows a leader, or waits for one; learners are always this. */
    FOLLOWER,
    /** Asks whether an election would succeed. */
    PRE_CANDIDATE,
    /** Asks for votes. */
    CANDIDATE,
    /** Leads. */
    LEADER
}
