package io.conclave.queues;

/** Why an item is no longer claimed. */
public enum ClaimEnd {
    /** It was acknowledged: the item is done. */
    ACKNOWLEDGED,
    /**
     * It was given back by its owner, or because it could not be acknowledged; the item is delivered again, unless it
     * is not known whether it was acknowledged: then it may be done.
     */
    RELEASED,
    /** Its owner did not acknowledge it in time; the item is delivered again. */
    DEADLINE_PASSED,
    /** The session was lost; the item is delivered again. */
    SESSION_LOST,
    /** Another client has deleted the claim or the item, or written to the item: then that is delivered again. */
    TAKEN_AWAY,
    /**
     * The coordinator was closed; the item is delivered again, unless it was being acknowledged and the reply did not
     * come: then it may be done.
     */
    COORDINATOR_CLOSED
}
