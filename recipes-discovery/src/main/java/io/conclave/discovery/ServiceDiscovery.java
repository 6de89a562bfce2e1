package io.conclave.discovery;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.membership.Group;
import io.conclave.membership.Membership;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * Services that register where they are, and clients that find them.
 *
 * <pre>{@code
 * ServiceDiscovery services = ServiceDiscovery.at(coordinator, "/services");
 * ServiceInstance me = ServiceInstance.named("orders").address("10.0.0.5").port(8080).build();
 * try (ServiceRegistration registration = services.register(me);
 *         ServiceProvider orders = services.provider("orders")) {
 *     orders.cache().awaitLoaded(Duration.ofSeconds(5));
 *     System.out.println(orders.instance());
 * }
 * }</pre>
 *
 * <p>A service is a {@link Group} below the base path, an instance a member whose payload is JSON. Paths and JSON are
 * those of Curator's {@code ServiceDiscovery}, so both see each other. Immutable and thread-safe; making one costs
 * nothing.
 */
public final class ServiceDiscovery {
    private final Coordinator coordinator;
    private final NodePath base;

    private ServiceDiscovery(Coordinator coordinator, NodePath base) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.base = Objects.requireNonNull(base, "base");
    }

    /**
     * The services below a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static ServiceDiscovery at(Coordinator coordinator, String base) {
        return at(coordinator, NodePath.of(base));
    }

    /** The services below a path. */
    public static ServiceDiscovery at(Coordinator coordinator, NodePath base) {
        return new ServiceDiscovery(coordinator, base);
    }

    private Group<ServiceInstance> group(String service) {
        return Group.at(coordinator, base.child(service), InstanceCodec.JSON);
    }

    private RecipeSession session() {
        return RecipeAccess.session(coordinator);
    }

    /**
     * Registers an instance, and waits without a limit of time: for the store, and while another instance has the id
     * (one of the same id that was killed, until its session ends). Blocks.
     *
     * @throws IllegalArgumentException if the name or the id breaks a rule for names of znodes, naming it
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws io.conclave.error.ConclaveException if it cannot be registered
     */
    public ServiceRegistration register(ServiceInstance instance) throws InterruptedException {
        ServiceInstance stamped = stamped(instance);
        return new ServiceRegistration(stamped, group(stamped.name()).join(stamped.id(), stamped));
    }

    /**
     * As {@link #register(ServiceInstance)}, with a limit of time. With a limit of zero it registers if the id is free.
     *
     * @throws io.conclave.error.AcquireTimeoutException if the time is over; nothing stays behind
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout; nothing stays behind
     */
    public ServiceRegistration register(ServiceInstance instance, Duration timeout) throws InterruptedException {
        ServiceInstance stamped = stamped(instance);
        return new ServiceRegistration(stamped, group(stamped.name()).join(stamped.id(), stamped, timeout));
    }

    /**
     * Registers an instance without blocking, as soon as there is a store and the id is free. Completes on a listener
     * thread; cancelling it deregisters.
     */
    public CompletableFuture<ServiceRegistration> registerAsync(ServiceInstance instance) {
        ServiceInstance stamped = stamped(instance);
        return registration(stamped, group(stamped.name()).joinAsync(stamped.id(), stamped));
    }

    /**
     * As {@link #registerAsync(ServiceInstance)}, with a limit of time after which it fails with
     * {@link io.conclave.error.AcquireTimeoutException}; nothing stays behind then. Zero as in
     * {@link #register(ServiceInstance, Duration)}.
     */
    public CompletableFuture<ServiceRegistration> registerAsync(ServiceInstance instance, Duration timeout) {
        ServiceInstance stamped = stamped(instance);
        return registration(stamped, group(stamped.name()).joinAsync(stamped.id(), stamped, timeout));
    }

    private static CompletableFuture<ServiceRegistration> registration(
            ServiceInstance stamped, CompletableFuture<Membership<ServiceInstance>> joining) {
        CompletableFuture<ServiceRegistration> registering = new CompletableFuture<>();
        joining.whenComplete((membership, failure) -> {
            if (failure != null) {
                registering.completeExceptionally(Waiting.cause(failure));
            } else if (!registering.complete(new ServiceRegistration(stamped, membership))) {
                membership.closeAsync(); // cancelled at that moment
            }
        });
        registering.whenComplete((registration, failure) -> {
            if (failure != null) { // ended by the application, whichever way
                joining.cancel(true);
            }
        });
        return registering;
    }

    private ServiceInstance stamped(ServiceInstance instance) {
        return instance.registeredAt().isPresent()
                ? instance
                : instance.toBuilder()
                        .registeredAt(Instant.ofEpochMilli(session().time().wallMillis()))
                        .build();
    }

    /**
     * The names of the services, in order. One that has lost its last instance is among them until the server deletes
     * its znode. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<String> services() throws InterruptedException {
        return Waiting.await(session(), servicesAsync());
    }

    /** As {@link #services()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<String>> servicesAsync() {
        return ChildList.of(coordinator, base);
    }

    /**
     * The instances of a service that the store has now, without a cache; none if there is no such service. Out of date
     * as soon as it is known. One whose data is not understood is left out. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<ServiceInstance> instances(String service) throws InterruptedException {
        return Waiting.await(session(), instancesAsync(service));
    }

    /** As {@link #instances(String)}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<ServiceInstance>> instancesAsync(String service) {
        return Waiting.unwrapped(
                group(service).membersAsync().thenApply(members -> ServiceCache.readable(service, members)));
    }

    /** The instances of a service, kept up to date; it begins to load at once. Never blocks. */
    public ServiceCache cache(String service) {
        return new ServiceCache(service, group(service).view());
    }

    /** A provider that takes turns, and leaves out what has two errors within 30 seconds. Never blocks. */
    public ServiceProvider provider(String service) {
        return provider(service, ProviderStrategy.roundRobin());
    }

    /** A provider with this strategy, which leaves out what has two errors within 30 seconds. Never blocks. */
    public ServiceProvider provider(String service, ProviderStrategy strategy) {
        return provider(service, strategy, ErrorPolicy.DEFAULT);
    }

    /** A provider with this strategy and this policy; it has a cache of its own, which begins to load at once. */
    public ServiceProvider provider(String service, ProviderStrategy strategy, ErrorPolicy policy) {
        Objects.requireNonNull(strategy, "strategy");
        Objects.requireNonNull(policy, "policy");
        return new ServiceProvider(cache(service), strategy, policy, session().time());
    }

    /** Where the services are, in the coordinator's namespace. */
    public NodePath base() {
        return base;
    }

    @Override
    public String toString() {
        return "ServiceDiscovery[" + base + ", " + coordinator + "]";
    }
}
