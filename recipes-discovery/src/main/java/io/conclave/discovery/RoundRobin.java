package io.conclave.discovery;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Takes turns by a count; when instances come or go, the turns go on from another place. */
final class RoundRobin implements ProviderStrategy {
    private final AtomicInteger count = new AtomicInteger();

    @Override
    public ServiceInstance choose(List<ServiceInstance> candidates) {
        return candidates.get(Math.floorMod(count.getAndIncrement(), candidates.size()));
    }
}
