package io.conclave.discovery;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Stays with one instance, whose payload may change, until it is no candidate any more. */
final class Sticky implements ProviderStrategy {
    private final ProviderStrategy first;
    private final Object lock = new Object();
    private Optional<ServiceInstance.Identity> chosen = Optional.empty(); // @GuardedBy("lock")

    Sticky(ProviderStrategy first) {
        this.first = Objects.requireNonNull(first, "first");
    }

    @Override
    public ServiceInstance choose(List<ServiceInstance> candidates) {
        synchronized (lock) {
            Optional<ServiceInstance> same = candidates.stream()
                    .filter(candidate ->
                            chosen.filter(candidate.identity()::equals).isPresent())
                    .findFirst();
            ServiceInstance next = same.orElseGet(() -> first.choose(candidates));
            chosen = Optional.of(next.identity());
            return next;
        }
    }
}
