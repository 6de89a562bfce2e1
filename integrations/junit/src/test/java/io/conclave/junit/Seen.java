package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** What the classes that a test runs were given. */
final class Seen {
    /** The connect strings of a class, in order. */
    private static final Map<Class<?>, List<String>> STORES = new ConcurrentHashMap<>();

    private static final Map<Class<?>, List<Coordinator>> COORDINATORS = new ConcurrentHashMap<>();

    private Seen() {}

    static void note(Class<?> by, String connectString) {
        STORES.computeIfAbsent(by, absent -> new CopyOnWriteArrayList<>()).add(connectString);
    }

    static void note(Class<?> by, Coordinator coordinator) {
        COORDINATORS.computeIfAbsent(by, absent -> new CopyOnWriteArrayList<>()).add(coordinator);
    }

    static List<String> stores(Class<?> by) {
        return List.copyOf(STORES.getOrDefault(by, List.of()));
    }

    static List<Coordinator> coordinators(Class<?> by) {
        return List.copyOf(COORDINATORS.getOrDefault(by, List.of()));
    }
}
