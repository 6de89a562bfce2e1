package io.conclave.connection;

/** What a server does for its clients. */
public enum ServiceMode {
    /** Nothing: clients are turned away. */
    NONE,
    /** Reads of what was the state when the leader was lost, for clients that asked for that. */
    READ_ONLY,
    /** Everything. */
    FULL
}
