package io.conclave.tree;

import java.util.Optional;

/** How long a new node lives, and whether the server chooses the end of its name. */
public enum ZnodeKind {
    PERSISTENT(0),
    EPHEMERAL(1),
    PERSISTENT_SEQUENTIAL(2),
    EPHEMERAL_SEQUENTIAL(3),
    CONTAINER(4),
    PERSISTENT_WITH_TTL(5),
    PERSISTENT_SEQUENTIAL_WITH_TTL(6);

    private static final ZnodeKind[] BY_FLAG = values();

    private final int flag;

    ZnodeKind(int flag) {
        this.flag = flag;
    }

    /** The number of the mode on the wire and in the log. */
    public int flag() {
        return flag;
    }

    /** The mode of a number, empty for numbers that mean nothing here. */
    public static Optional<ZnodeKind> ofFlag(int flag) {
        return flag >= 0 && flag < BY_FLAG.length ? Optional.of(BY_FLAG[flag]) : Optional.empty();
    }

    /** Whether the node goes when its session goes. */
    public boolean isEphemeral() {
        return this == EPHEMERAL || this == EPHEMERAL_SEQUENTIAL;
    }

    /** Whether the parent's count of creates is appended to the name. */
    public boolean isSequential() {
        return this == PERSISTENT_SEQUENTIAL || this == EPHEMERAL_SEQUENTIAL || this == PERSISTENT_SEQUENTIAL_WITH_TTL;
    }

    /** Whether the node has a time to live. */
    public boolean hasTtl() {
        return this == PERSISTENT_WITH_TTL || this == PERSISTENT_SEQUENTIAL_WITH_TTL;
    }
}
