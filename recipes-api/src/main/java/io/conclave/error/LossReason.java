package io.conclave.error;

/** Why a grant is no longer held. */
public enum LossReason {
    /** Its owner released it. */
    RELEASED,
    /** The session was lost: the server said so, or the local clock says that it may be gone. */
    SESSION_LOST,
    /** The grant's znode was deleted by another client. */
    NODE_DELETED,
    /** The grant was revoked. */
    REVOKED,
    /**
     * It could not be kept up, and was given back: the backend refuses to tell whether its znode is still there, for
     * example because its ACL was changed.
     */
    REFUSED,
    /** The time for which it was given has passed: the visibility of a queue's claim, say. */
    TIME_OVER,
    /** The coordinator was closed. */
    COORDINATOR_CLOSED
}
