package io.conclave.connection;

/** The sessions' leases, kept outside of the log. From any thread, without blocking. */
public interface SessionLeases {

    /** The lease of a session; a dead one if there is no such session. */
    Lease of(long sessionId);

    /**
     * Whether a heartbeat may be answered as soon as {@link Lease#touch} has said yes: this server leads, and no server
     * else could.
     */
    boolean answersAtOnce();

    /**
     * Runs the action on the log's thread when the leader knows of all heartbeats up to now, was the leader then, and
     * what it had committed by then is applied here. Waits while there is no leader.
     */
    void whenLeaderKnows(Runnable action);

    /** As {@link #whenLeaderKnows}, up to a tenth of a second later, together with others: for pings. */
    void whenLeaderKnowsSoon(Runnable action);

    /** A session's right to live on. */
    interface Lease {
        /**
         * The session was heard of now.
         *
         * @return false if its end has been proposed or has come; then nothing may be answered that a client could
         *     take for a heartbeat
         */
        boolean touch();
    }
}
