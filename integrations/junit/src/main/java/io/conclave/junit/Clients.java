package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The coordinators that the faults of a test reach, each with the way to reach it. Thread-safe.
 *
 * @param <T> the way
 */
final class Clients<T> {
    private final Map<Coordinator, T> reached = new ConcurrentHashMap<>();

    void add(Coordinator coordinator, T way) {
        reached.put(coordinator, way);
    }

    void remove(Coordinator coordinator) {
        reached.remove(coordinator);
    }

    /**
     * The way to a coordinator.
     *
     * @throws IllegalArgumentException if there is none
     */
    T get(Coordinator coordinator) {
        T way = reached.get(coordinator);
        if (way == null) {
            throw new IllegalArgumentException("Faults do not reach " + coordinator
                    + ": they reach coordinators that are parameters of this test or of its class, until these end");
        }
        return way;
    }

    Collection<T> all() {
        return List.copyOf(reached.values());
    }
}
