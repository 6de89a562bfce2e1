package io.conclave.spi;

/** What a backend can do beyond the contract that all keep; a request that needs a missing one is refused by name. */
public enum Capability {
    /** Znodes that the server deletes after their last child has gone. */
    CONTAINERS,
    /**
     * Znodes that the server deletes when they have had no children and no new data for their time to live. Without it
     * they are refused with UNSUPPORTED. Apache ZooKeeper offers them only if {@code extendedTypesEnabled} is set,
     * which no client can see: its backend does not claim them and passes them on, so that the server decides.
     */
    TTL,
    /** Access control lists. */
    ACL,
    /** Persistent and persistent recursive watches. */
    PERSISTENT_WATCHES,
    /** A session's deadline, as the client computes it, ends before the server can give its grants to others. */
    STRICT_DEADLINE
}
