package io.conclave.discovery;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Which of several instances is used next. Must be thread-safe and must not block. One that remembers what it chose
 * belongs to one provider.
 */
@FunctionalInterface
public interface ProviderStrategy {
    /**
     * Chooses one of the candidates.
     *
     * @param candidates at least one, in the order of their znodes' names
     */
    ServiceInstance choose(List<ServiceInstance> candidates);

    /** One after the other. */
    static ProviderStrategy roundRobin() {
        return new RoundRobin();
    }

    /** Any, with equal chances. */
    static ProviderStrategy random() {
        return candidates -> candidates.get(ThreadLocalRandom.current().nextInt(candidates.size()));
    }

    /**
     * The same again as long as it is among the candidates.
     *
     * @param first chooses the first one, and the next when that has gone
     */
    static ProviderStrategy sticky(ProviderStrategy first) {
        return new Sticky(first);
    }
}
