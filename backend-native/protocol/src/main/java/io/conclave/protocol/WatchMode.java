package io.conclave.protocol;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The kinds of watch that {@link WatchRequest.AddWatch} adds. */
public enum WatchMode {
    /** Stays until removed; sees the node and its list of children. */
    PERSISTENT(0),

    /** Stays until removed; sees the node and all descendants, but no {@link EventType#NODE_CHILDREN_CHANGED}. */
    PERSISTENT_RECURSIVE(1);

    private static final Map<Integer, Optional<WatchMode>> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(WatchMode::code, Optional::of));

    private final int code;

    WatchMode(int code) {
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
    public static Optional<WatchMode> lookup(int code) {
        return BY_CODE.getOrDefault(code, Optional.empty());
    }
}
