package io.conclave.node;

/** How a znode is created and how long it lives. */
public enum CreateMode {
    /** Stays until it is deleted. */
    PERSISTENT(false, false),
    /** Stays until it is deleted; its name gets a ten-digit sequence number. */
    PERSISTENT_SEQUENTIAL(false, true),
    /** Goes with its session; has no children. */
    EPHEMERAL(true, false),
    /** Goes with its session; its name gets a ten-digit sequence number. */
    EPHEMERAL_SEQUENTIAL(true, true),
    /** Deleted by the server some time after its last child has gone; needs {@code Capability.CONTAINERS}. */
    CONTAINER(false, false);

    private final boolean ephemeral;
    private final boolean sequential;

    CreateMode(boolean ephemeral, boolean sequential) {
        this.ephemeral = ephemeral;
        this.sequential = sequential;
    }

    /** Whether the znode goes with its session. */
    public boolean isEphemeral() {
        return ephemeral;
    }

    /** Whether the server appends a sequence number to the name. */
    public boolean isSequential() {
        return sequential;
    }
}
