package io.conclave.protocol;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The kinds of watch that {@link WatchRequest.RemoveWatches} and {@link WatchRequest.CheckWatches} name. */
public enum WatcherType {
    /** Watches of the list of children. */
    CHILDREN(1),

    /** Watches of data and existence. */
    DATA(2),

    /** All kinds. */
    ANY(3),

    /** Persistent watches. */
    PERSISTENT(4),

    /** Persistent recursive watches. */
    PERSISTENT_RECURSIVE(5);

    private static final Map<Integer, Optional<WatcherType>> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(WatcherType::code, Optional::of));

    private final int code;

    WatcherType(int code) {
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
    public static Optional<WatcherType> lookup(int code) {
        return BY_CODE.getOrDefault(code, Optional.empty());
    }
}
