package io.conclave.connection;

/** What a server does for its clients. */
public enum ServiceMode {
    /** Nothing: who comes is turned away. */
    NONE,
    /** Reads of what was the state when the leader was lost, for clients that asked for that. */
    READ_ONLY,
    /** Everything. */
    FULL
}
