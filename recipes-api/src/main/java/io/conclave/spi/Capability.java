package io.conclave.spi;

/** What a backend can do beyond the contract that all keep; a request that needs a missing one is refused by name. */
public enum Capability {
    /** Znodes that the server deletes after their last child has gone. */
    CONTAINERS,
    /** Znodes that the server deletes when they have not changed for a while. */
    TTL,
    /** Access control lists. */
    ACL,
    /** Persistent and persistent recursive watches. */
    PERSISTENT_WATCHES,
    /** A session's deadline, as the client computes it, ends before the server can give its grants to others. */
    STRICT_DEADLINE
}
