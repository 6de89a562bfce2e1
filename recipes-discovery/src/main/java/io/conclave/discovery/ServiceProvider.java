package io.conclave.discovery;

import io.conclave.time.TimeSource;
import java.util.List;
import java.util.Optional;

/**
 * Chooses an instance of a service for each use, and leaves out for a while those with which errors were noted.
 * Thread-safe.
 *
 * <pre>{@code
 * ServiceInstance one = orders.instance().orElseThrow(() -> new IllegalStateException("No orders service"));
 * try {
 *     call(one);
 * } catch (IOException e) {
 *     orders.noteError(one);
 * }
 * }</pre>
 *
 * <p>What is noted counts in this provider only. During an outage of the store it chooses among what was last known:
 * see {@link ServiceCache}.
 */
public final class ServiceProvider implements AutoCloseable {
    private final ServiceCache cache;
    private final ProviderStrategy strategy;
    private final ErrorNotes notes;

    ServiceProvider(ServiceCache cache, ProviderStrategy strategy, ErrorPolicy policy, TimeSource time) {
        this.cache = cache;
        this.strategy = strategy;
        this.notes = new ErrorNotes(policy, time);
    }

    /**
     * The instance to use now: to be asked for each use. Empty if there is none that is enabled and not down, or none
     * is known yet. Never blocks.
     */
    public Optional<ServiceInstance> instance() {
        List<ServiceInstance> candidates = instances();
        return candidates.isEmpty() ? Optional.empty() : Optional.of(strategy.choose(candidates));
    }

    /** All that may be chosen now. Never blocks. */
    public List<ServiceInstance> instances() {
        return cache.instances().stream()
                .filter(instance -> instance.isEnabled() && !notes.isDown(instance))
                .toList();
    }

    /** An error happened with this instance: with so many as the policy says, it is not chosen for a while. */
    public void noteError(ServiceInstance instance) {
        notes.note(instance);
    }

    /** What it chooses among, with those that are disabled or down. */
    public ServiceCache cache() {
        return cache;
    }

    /** Stops to follow the service. Idempotent, never blocks. */
    @Override
    public void close() {
        cache.close();
    }

    @Override
    public String toString() {
        return "ServiceProvider[" + cache + "]";
    }
}
