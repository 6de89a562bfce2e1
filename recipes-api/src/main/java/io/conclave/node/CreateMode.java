package io.conclave.node;

/** How a znode is created and how long it lives. */
public enum CreateMode {
    /** Stays until it is deleted. */
    PERSISTENT(false, false, false),
    /** Stays until it is deleted; its name gets a ten-digit sequence number. */
    PERSISTENT_SEQUENTIAL(false, true, false),
    /** Goes with its session; has no children. */
    EPHEMERAL(true, false, false),
    /** Goes with its session; its name gets a ten-digit sequence number. */
    EPHEMERAL_SEQUENTIAL(true, true, false),
    /** Deleted by the server some time after its last child has gone; needs {@code Capability.CONTAINERS}. */
    CONTAINER(false, false, false),
    /**
     * Deleted by the server some time after it has had no children and no new data for its time to live; needs
     * {@code Capability.TTL}. Not ephemeral: it outlives its session, and may have children.
     */
    PERSISTENT_WITH_TTL(false, false, true),
    /** As {@link #PERSISTENT_WITH_TTL}; its name gets a ten-digit sequence number. */
    PERSISTENT_SEQUENTIAL_WITH_TTL(false, true, true);

    private final boolean ephemeral;
    private final boolean sequential;
    private final boolean withTtl;

    CreateMode(boolean ephemeral, boolean sequential, boolean withTtl) {
        this.ephemeral = ephemeral;
        this.sequential = sequential;
        this.withTtl = withTtl;
    }

    /** Whether the znode goes with its session. */
    public boolean isEphemeral() {
        return ephemeral;
    }

    /** Whether the server appends a sequence number to the name. */
    public boolean isSequential() {
        return sequential;
    }

    /** Whether the znode has a time to live. */
    public boolean hasTtl() {
        return withTtl;
    }
}
