package io.conclave.connection;

/** Who is heard of: keeps the sessions' leases outside of the log. From any thread, without blocking. */
public interface SessionLeases {

    /** The lease of a session; a dead one if there is no such session. */
    Lease of(long sessionId);

    /** A session's right to live on. */
    interface Lease {
        /**
         * The session was heard of now.
         *
         * @return false if its end has been proposed or has come; then nothing may be answered that a client could
         *     take for a sign of life
         */
        boolean touch();
    }
}
