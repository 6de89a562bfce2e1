package io.conclave.spring.cloud;

import io.conclave.coordinator.Coordinator;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;

/**
 * Finds instances that are up. It keeps a cache of each service that was asked for, so only the first question waits
 * for the store, and the answers go on during an outage with what was last known. Thread-safe.
 */
public final class ConclaveDiscoveryClient implements DiscoveryClient {
    private final Coordinator coordinator;
    private final KnownServices services;
    private final Duration timeout;
    private final int order;

    ConclaveDiscoveryClient(Coordinator coordinator, KnownServices services, ConclaveDiscoveryProperties properties) {
        this.coordinator = coordinator;
        this.services = services;
        this.timeout = properties.positiveLoadTimeout();
        this.order = properties.getOrder();
    }

    @Override
    public String description() {
        return "Conclave Discovery Client";
    }

    /**
     * The instances of a service that are enabled, and whose status, if they tell one, is {@code UP}. Blocks for the
     * first question for a service only.
     *
     * @throws IllegalStateException if nothing is known of the service, and the store has not answered in time
     */
    @Override
    public List<ServiceInstance> getInstances(String serviceId) {
        return await(services.instances(serviceId), "the instances of " + serviceId);
    }

    /**
     * The names of the services; while the store does not answer, those that were last known. Blocks.
     *
     * @throws IllegalStateException if none are known, and the store has not answered in time
     */
    @Override
    public List<String> getServices() {
        try {
            return await(services.names(), "the names of the services");
        } catch (IllegalStateException e) {
            List<String> known = services.lastNames();
            if (known.isEmpty()) {
                throw e;
            }
            return known;
        }
    }

    private <T> T await(CompletableFuture<T> answer, String what) {
        try {
            return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException(
                    "Not known within " + timeout + ": " + what + "; the session with the store is "
                            + coordinator.state(),
                    e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("Cannot find " + what + ": " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for " + what, e);
        } finally {
            answer.cancel(false); // if it has not come, nobody waits for it here any more
        }
    }

    /** Fails if there is no connection. Never blocks. */
    @Override
    public void probe() {
        services.probe();
    }

    @Override
    public int getOrder() {
        return order;
    }
}
