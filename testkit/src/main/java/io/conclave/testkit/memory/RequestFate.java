package io.conclave.testkit.memory;

/** What happens to one request, or to the closing of a session. */
public enum RequestFate {
    /** It is executed and answered. */
    PROCEED,
    /** The connection drops before it is executed: its outcome is unknown, and it never takes effect. */
    DROP_BEFORE,
    /** It is executed, and the connection drops before the reply: its outcome is unknown, and it has taken effect. */
    DROP_AFTER,
    /**
     * The connection drops while it is under way, and it arrives late: its outcome is unknown, and it takes effect
     * right before the session's next connection, or before the client's next session, for which the server ends this
     * one: unless the server has expired it by then.
     */
    DROP_AND_APPLY_LATE,
    /**
     * It is executed, and the connection drops before the reply; the server of the session's next connection lags. Its
     * reads do not show the effect until the session syncs, reads linearizably or writes, or another session asks; a
     * tenth of a second at most.
     */
    DROP_AND_LAG,
    /** The server expires the session before it is executed. */
    EXPIRE_BEFORE,
    /** It is executed, and the server expires the session before the reply. */
    EXPIRE_AFTER,
    /**
     * It is executed, and its reply and all that comes behind it on this connection is held until
     * {@link Faults#releaseReplies}.
     */
    HOLD_REPLY
}
