package io.conclave.protocol;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The kinds of {@link WatcherEvent}. */
public enum EventType {
    /** The node was created. */
    NODE_CREATED(1),

    /** The node was deleted. */
    NODE_DELETED(2),

    /** The node's data was set. */
    NODE_DATA_CHANGED(3),

    /** A child was created or deleted. */
    NODE_CHILDREN_CHANGED(4);

    private static final Map<Integer, Optional<EventType>> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(EventType::code, Optional::of));

    private final int code;

    EventType(int code) {
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
    public static Optional<EventType> lookup(int code) {
        return BY_CODE.getOrDefault(code, Optional.empty());
    }
}
