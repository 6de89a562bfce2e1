package io.conclave.spring.cloud;

import java.time.Duration;
import java.util.List;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.ReactiveDiscoveryClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** As {@link ConclaveDiscoveryClient}, without blocking; while nothing is known, without a limit of time, too. */
public final class ConclaveReactiveDiscoveryClient implements ReactiveDiscoveryClient {
    private final KnownServices services;
    private final Duration timeout;
    private final int order;

    ConclaveReactiveDiscoveryClient(KnownServices services, ConclaveDiscoveryProperties properties) {
        this.services = services;
        this.timeout = properties.getLoadTimeout();
        this.order = properties.getOrder();
    }

    @Override
    public String description() {
        return "Conclave Reactive Discovery Client";
    }

    @Override
    public Flux<ServiceInstance> getInstances(String serviceId) {
        return Mono.fromFuture(() -> services.instances(serviceId)).flatMapIterable(instances -> instances);
    }

    /** The names of the services; while the store does not answer, those that were last known, if any are. */
    @Override
    public Flux<String> getServices() {
        return Mono.defer(this::names).flatMapIterable(names -> names);
    }

    private Mono<List<String>> names() {
        Mono<List<String>> asked = Mono.fromFuture(services::names);
        List<String> known = services.lastNames();
        return known.isEmpty() ? asked : asked.timeout(timeout, Mono.just(known));
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
