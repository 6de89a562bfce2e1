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
    private final Map<String, ServiceCache> caches = new HashMap<>(); // @GuardedBy("this")
    private volatile List<String> lastNames = List.of();
    private volatile Runnable listener = () -> {};

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
    private synchronized Optional<ServiceCache> cache(String service) {
        ServiceCache known = caches.get(service);
        if (known != null || caches.size() >= MAX_CACHES) {
            return Optional.ofNullable(known);
        }
        ServiceCache added = discovery.cache(service);
        caches.put(service, added);
        added.onChange(instances -> listener.run());
        return Optional.of(added);
    }

    /** The instances of a service that are up; known at once if there is a cache that has loaded. Never blocks. */
    CompletableFuture<List<org.springframework.cloud.client.ServiceInstance>> instances(String service) {
        Optional<ServiceCache> cache = cache(service);
        return cache.map(ServiceCache::loaded)
                .orElseGet(() -> discovery.instancesAsync(service))
                .thenApply(
                        first -> up(service, cache.map(ServiceCache::instances).orElse(first)));
    }

    /**
     * The names of the services, as the store has them; without a connection, or if it cannot tell, those that were
     * last known, if any are. Never blocks; it may take as long as the connection is away.
     */
    CompletableFuture<List<String>> names() {
        List<String> known = lastNames;
        if (!known.isEmpty() && coordinator.state() != SessionState.CONNECTED) {
            return CompletableFuture.completedFuture(known);
        }
        return discovery
                .servicesAsync()
                .whenComplete((names, failure) -> {
                    if (failure == null) {
                        lastNames = names;
                    }
                })
                .exceptionallyCompose(failure -> known.isEmpty()
                        ? CompletableFuture.failedFuture(failure)
                        : CompletableFuture.completedFuture(known));
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
        caches.values().forEach(ServiceCache::close);
        caches.clear();
    }
}
