package io.conclave.spring.cloud;

import java.time.Duration;
import java.util.List;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.ReactiveDiscoveryClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** As {@link ConclaveDiscoveryClient}, without blocking. */
public final class ConclaveReactiveDiscoveryClient implements ReactiveDiscoveryClient {
    private final KnownServices services;
    private final Duration timeout;
    private final int order;

    ConclaveReactiveDiscoveryClient(KnownServices services, ConclaveDiscoveryProperties properties) {
        this.services = services;
        this.timeout = properties.positiveLoadTimeout();
        this.order = properties.getOrder();
    }

    @Override
    public String description() {
        return "Conclave Reactive Discovery Client";
    }

    /** Fails with {@link IllegalStateException} if nothing is known, and the store has not answered in time. */
    @Override
    public Flux<ServiceInstance> getInstances(String serviceId) {
        return Mono.fromFuture(() -> services.instances(serviceId))
                .timeout(timeout, unknown("the instances of " + serviceId))
                .flatMapIterable(instances -> instances);
    }

    /**
     * The names of the services; while the store does not answer, those that were last known. Fails with {@link
     * IllegalStateException} if none are.
     */
    @Override
    public Flux<String> getServices() {
        Mono<List<String>> lastKnown = Mono.fromSupplier(services::lastNames)
                .filter(names -> !names.isEmpty())
                .switchIfEmpty(unknown("the names of the services"));
        return Mono.fromFuture(services::names).timeout(timeout, lastKnown).flatMapIterable(names -> names);
    }

    private <T> Mono<T> unknown(String what) {
        return Mono.error(() -> new IllegalStateException("Not known within " + timeout + ": " + what));
    }

    /** Fails if there is no connection. */
    @Override
    public Mono<Void> reactiveProbe() {
        return Mono.fromRunnable(services::probe);
    }

    @Override
    public int getOrder() {
        return order;
    }
}
