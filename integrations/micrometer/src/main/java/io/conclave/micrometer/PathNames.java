package io.conclave.micrometer;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * What a recipe's path is called in tags. A path itself is no tag: locks of customers or orders would make as many time
 * series. So there is a bound: once there are so many names, every other one is {@value #OTHER}. Thread-safe.
 */
public final class PathNames {
    /** The name of what has none, or came when the bound was reached. */
    public static final String OTHER = "other";

    /** How many names there may be if nothing else is said. */
    public static final int DEFAULT_BOUND = 100;

    private final UnaryOperator<String> function;
    private final int bound;
    private final Set<String> names = ConcurrentHashMap.newKeySet();

    private PathNames(UnaryOperator<String> function, int bound) {
        this.function = function;
        this.bound = bound;
    }

    /** One name for all paths: {@value #OTHER}. */
    public static PathNames allAlike() {
        return new PathNames(path -> OTHER, 0);
    }

    /**
     * The names that the application gives, {@value #DEFAULT_BOUND} at most.
     *
     * @param function from a path to its name; called from any thread, with hot paths among them, so it must be
     *     thread-safe and must not block. A blank name and a failure count as {@value #OTHER}
     */
    public static PathNames of(UnaryOperator<String> function) {
        return new PathNames(Objects.requireNonNull(function, "function"), DEFAULT_BOUND);
    }

    /**
     * The same names, with another bound.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public PathNames atMost(int newBound) {
        if (newBound < 0) {
            throw new IllegalArgumentException("Invalid bound of names " + newBound + ": it must not be negative");
        }
        return new PathNames(function, newBound);
    }

    String of(String path) {
        String name;
        try {
            name = function.apply(path);
        } catch (RuntimeException e) {
            return OTHER;
        }
        if (name == null || name.isBlank() || name.equals(OTHER)) {
            return OTHER;
        }
        return names.contains(name) || add(name) ? name : OTHER;
    }

    private synchronized boolean add(String name) {
        return names.contains(name) || (names.size() < bound && names.add(name));
    }
}
