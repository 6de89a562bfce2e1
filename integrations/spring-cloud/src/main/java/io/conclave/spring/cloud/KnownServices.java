package io.conclave.spring.cloud;

import io.conclave.coordinator.Coordinator;
import io.conclave.discovery.ServiceCache;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceInstance;
import io.conclave.session.SessionState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A cache for each service that was asked for, up to a number of them, until it is closed; and the names of the
 * services that were last known. Thread-safe.
 */
final class KnownServices implements AutoCloseable {
    private static final int MAX_CACHES = 1_000;

    private final Coordinator coordinator;
    private final ServiceDiscovery discovery;
    private final Map<String, Known> known = new HashMap<>(); // @GuardedBy("this")
    private final SharedAnswer<List<String>> names = new SharedAnswer<>(this::askForNames);
    private volatile List<String> lastNames = List.of();
    private volatile Runnable listener = () -> {};

    /**
     * A service that was asked for.
     *
     * @param loaded done when the cache has loaded
     * @param instances those that are up, when the cache has loaded; for those that ask before
     */
    private record Known(
            ServiceCache cache,
            CompletableFuture<List<ServiceInstance>> loaded,
            SharedAnswer<List<org.springframework.cloud.client.ServiceInstance>> instances) {
        boolean hasLoaded() {
            return loaded.isDone() && !loaded.isCompletedExceptionally();
        }
    }

    KnownServices(Coordinator coordinator, ServiceDiscovery discovery) {
        this.coordinator = coordinator;
        this.discovery = discovery;
    }

    ServiceDiscovery discovery() {
        return discovery;
    }

    /** Tells a listener, the only one, of each change of a cache, on a listener thread. */
    void onChange(Runnable told) {
        listener = told;
    }

    /** Names may come from requests, so there is a limit: without a cache, the store is asked. */
    private synchronized Optional<Known> known(String service) {
        Known present = known.get(service);
        if (present != null || known.size() >= MAX_CACHES) {
            return Optional.ofNullable(present);
        }
        ServiceCache cache = discovery.cache(service);
        CompletableFuture<List<ServiceInstance>> loaded = cache.loaded();
        Known added = new Known(
                cache, loaded, new SharedAnswer<>(() -> loaded.thenApply(first -> up(service, cache.instances()))));
        known.put(service, added);
        cache.onChange(instances -> listener.run());
        return Optional.of(added);
    }

    /**
     * The instances of a service that are up; known at once if there is a cache that has loaded. Never blocks; those
     * that do not wait any more are to cancel it.
     */
    CompletableFuture<List<org.springframework.cloud.client.ServiceInstance>> instances(String service) {
        return known(service)
                .map(present -> present.hasLoaded()
                        ? CompletableFuture.completedFuture(up(service, present.cache.instances()))
                        : present.instances.get())
                .orElseGet(() -> discovery.instancesAsync(service).thenApply(instances -> up(service, instances)));
    }

    /**
     * The names of the services, as the store has them; without a connection, or if it cannot tell, those that were
     * last known, if any are. Never blocks; it may take as long as the connection is away, and those that do not wait
     * any more are to cancel it.
     */
    CompletableFuture<List<String>> names() {
        List<String> last = lastNames;
        return last.isEmpty() || coordinator.state() == SessionState.CONNECTED
                ? names.get()
                : CompletableFuture.completedFuture(last);
    }

    private CompletableFuture<List<String>> askForNames() {
        return discovery
                .servicesAsync()
                .whenComplete((names, failure) -> {
                    if (failure == null) {
                        lastNames = names;
                    }
                })
                .exceptionallyCompose(failure -> lastNames.isEmpty()
                        ? CompletableFuture.failedFuture(failure)
                        : CompletableFuture.completedFuture(lastNames));
    }

    /** Fails if there is no connection. Never blocks. */
    void probe() {
        if (coordinator.state() != SessionState.CONNECTED) {
            throw new IllegalStateException("The session with the store is " + coordinator.state());
        }
    }

    /** How many wait for the store. */
    synchronized int waiting() {
        return names.size()
                + known.values().stream()
                        .mapToInt(present -> present.instances.size())
                        .sum();
    }

    /** The names that were last known; empty if none are. */
    List<String> lastNames() {
        return lastNames;
    }

    private static List<org.springframework.cloud.client.ServiceInstance> up(
            String service, List<ServiceInstance> instances) {
        return instances.stream()
                .map(instance -> new DiscoveredInstance(service, instance))
                .filter(DiscoveredInstance::isUp)
                .<org.springframework.cloud.client.ServiceInstance>map(instance -> instance)
                .toList();
    }

    @Override
    public synchronized void close() {
        known.values().forEach(present -> present.cache.close());
        known.clear();
    }
}
