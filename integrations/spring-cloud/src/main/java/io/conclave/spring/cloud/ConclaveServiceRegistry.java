package io.conclave.spring.cloud;

import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceRegistration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;

/**
 * Registers instances in Conclave. Registering does not block: an application starts while the servers are down, and is
 * registered when they are there. It is registered again by itself after a lost session. Deregistering waits for the
 * store's confirmation, at most for what remains of the session. Thread-safe.
 */
public final class ConclaveServiceRegistry implements ServiceRegistry<ConclaveRegistration> {
    private static final Logger LOG = LoggerFactory.getLogger(ConclaveServiceRegistry.class);

    private final ServiceDiscovery discovery;
    private final Map<String, CompletableFuture<ServiceRegistration>> registered =
            new HashMap<>(); // @GuardedBy("this")

    /** A registry of the services there. */
    public ConclaveServiceRegistry(ServiceDiscovery discovery) {
        this.discovery = discovery;
    }

    private static String key(ConclaveRegistration registration) {
        return registration.getServiceId() + "/" + registration.getInstanceId();
    }

    /** Registers it in the background. If it is registered already, it is updated. */
    @Override
    public synchronized void register(@Nullable ConclaveRegistration registration) {
        if (registration == null) {
            return;
        }
        CompletableFuture<ServiceRegistration> present = registered.get(key(registration));
        boolean isOver = present == null
                || present.isCompletedExceptionally()
                || (present.isDone() && present.join().ended().isDone());
        if (!isOver) {
            update(registration);
            return;
        }
        CompletableFuture<ServiceRegistration> registering = discovery.registerAsync(registration.instance());
        registered.put(key(registration), registering);
        registering.whenComplete((done, failure) -> {
            if (failure == null) {
                LOG.info("Registered {}", registration);
            } else if (!registering.isCancelled()) {
                LOG.error("Cannot register {}: {}", registration, failure.getMessage());
            }
        });
    }

    @Override
    public void deregister(@Nullable ConclaveRegistration registration) {
        if (registration == null) {
            return;
        }
        CompletableFuture<ServiceRegistration> registering;
        synchronized (this) {
            registering = registered.remove(key(registration));
        }
        if (registering != null) {
            end(registering, ServiceRegistration::close);
        }
    }

    private static void end(CompletableFuture<ServiceRegistration> registering, Consumer<ServiceRegistration> ending) {
        if (!registering.cancel(true) && !registering.isCompletedExceptionally()) {
            ending.accept(registering.join());
        }
    }

    /** Deregisters all. */
    @Override
    public void close() {
        List<CompletableFuture<ServiceRegistration>> all;
        synchronized (this) {
            all = List.copyOf(registered.values());
            registered.clear();
        }
        all.forEach(registering -> end(registering, ServiceRegistration::close));
    }

    /** Tells another status in the background. Clients choose instances that are {@code UP}. */
    @Override
    public synchronized void setStatus(ConclaveRegistration registration, String status) {
        registration.setStatus(status);
        update(registration);
    }

    private void update(ConclaveRegistration registration) { // under the lock
        CompletableFuture<ServiceRegistration> registering = registered.get(key(registration));
        if (registering != null) {
            registering
                    .thenCompose(done -> done.updateAsync(registration.instance()))
                    .whenComplete((done, failure) -> {
                        if (failure != null && !registering.isCancelled()) {
                            LOG.warn("Cannot update {}: {}", registration, failure.getMessage());
                        }
                    });
        }
    }

    /** The status that was set last. */
    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as it is declared above
    public <T> T getStatus(ConclaveRegistration registration) {
        return (T) registration.status();
    }
}
