package io.conclave.protocol;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The kinds of node, as {@link RequestBody.Create#flags()} has them. */
public enum CreateFlag {
    /** Stays until deleted. */
    PERSISTENT(0),

    /** Goes with its session. */
    EPHEMERAL(1),

    /** Persistent, with a number appended to its name. */
    PERSISTENT_SEQUENTIAL(2),

    /** Ephemeral, with a number appended to its name. */
    EPHEMERAL_SEQUENTIAL(3),

    /** Goes when its last child has gone. */
    CONTAINER(4),

    /** Goes when it has had no children and no change for its time to live. */
    TTL(5),

    /** Like TTL, with a number appended to its name. */
    TTL_SEQUENTIAL(6);

    private static final Map<Integer, Optional<CreateFlag>> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(CreateFlag::code, Optional::of));

    private final int code;

    CreateFlag(int code) {
        this.code = code;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /**
     * Finds by the number on the wire.
     *
     * @param code the number
     * @return empty if it is not known
     */
    public static Optional<CreateFlag> lookup(int code) {
        return BY_CODE.getOrDefault(code, Optional.empty());
    }

    /** Whether the node goes with its session. */
    public boolean isEphemeral() {
        return this == EPHEMERAL || this == EPHEMERAL_SEQUENTIAL;
    }

    /** Whether a number is appended to the name. */
    public boolean isSequential() {
        return this == PERSISTENT_SEQUENTIAL || this == EPHEMERAL_SEQUENTIAL || this == TTL_SEQUENTIAL;
    }

    /** Whether the node goes when its last child has gone. */
    public boolean isContainer() {
        return this == CONTAINER;
    }

    /** Whether the node has a time to live. */
    public boolean isTtl() {
        return this == TTL || this == TTL_SEQUENTIAL;
    }
}
