package io.conclave.spring.cloud;

import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceRegistration;
import io.conclave.error.ClosedException;
import io.conclave.error.LossReason;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;

/**
 * Registers instances in Conclave. Registering does not block: an application starts while the servers are down, and is
 * registered when they are there. It is registered again by itself after a lost session, and, a second later, when
 * another process has deleted its znode and after a refusal: until it is deregistered. After each further refusal it
 * waits twice as long, a minute at most. Deregistering waits for the store's confirmation, at most for what remains of
 * the session. Thread-safe.
 */
public final class ConclaveServiceRegistry implements ServiceRegistry<ConclaveRegistration> {
    private static final Logger LOG = LoggerFactory.getLogger(ConclaveServiceRegistry.class);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final ServiceDiscovery discovery;
    private final TimeSource time;
    private final Map<String, Wanted> registered = new HashMap<>(); // @GuardedBy("this")

    /** What is to be registered until it is deregistered. Guarded by the registry. */
    private static final class Wanted {
        ConclaveRegistration registration; // as it was told last
        CompletableFuture<ServiceRegistration> registering; // the last attempt
        Duration pause = FIRST_PAUSE; // before the next one

        Wanted(ConclaveRegistration registration, CompletableFuture<ServiceRegistration> registering) {
            this.registration = registration;
            this.registering = registering;
        }
    }

    /** A registry of the services there. */
    public ConclaveServiceRegistry(ServiceDiscovery discovery) {
        this(discovery, TimeSource.system());
    }

    ConclaveServiceRegistry(ServiceDiscovery discovery, TimeSource time) {
        this.discovery = discovery;
        this.time = time;
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
        if (registered.containsKey(key(registration))) {
            update(registration);
            return;
        }
        Wanted wanted = new Wanted(registration, discovery.registerAsync(registration.instance()));
        registered.put(key(registration), wanted);
        follow(wanted);
    }

    private void follow(Wanted wanted) { // under the lock
        CompletableFuture<ServiceRegistration> registering = wanted.registering;
        registering.whenComplete((done, failure) -> {
            if (failure == null) {
                LOG.info("Registered {}", onRegistered(wanted));
                done.ended().thenAccept(reason -> {
                    if (reason == LossReason.NODE_DELETED || reason == LossReason.REFUSED) {
                        tryLater(wanted, "its registration has ended: " + reason);
                    }
                });
            } else if (failure instanceof ClosedException) {
                LOG.error("Cannot register {}: {}", lastTold(wanted), failure.getMessage());
            } else if (!registering.isCancelled()) {
                tryLater(wanted, "it could not be registered: " + failure.getMessage());
            }
        });
    }

    private synchronized ConclaveRegistration onRegistered(Wanted wanted) {
        wanted.pause = FIRST_PAUSE;
        return wanted.registration;
    }

    private synchronized ConclaveRegistration lastTold(Wanted wanted) {
        return wanted.registration;
    }

    private void tryLater(Wanted wanted, String why) {
        Duration pause;
        synchronized (this) {
            if (!isWanted(wanted)) {
                return;
            }
            pause = wanted.pause;
            Duration twice = pause.multipliedBy(2);
            wanted.pause = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
        }
        LOG.warn("Registering {} again in {} s: {}", lastTold(wanted), pause.toSeconds(), why);
        time.schedule(pause, () -> tryAgain(wanted));
    }

    private synchronized void tryAgain(Wanted wanted) {
        if (isWanted(wanted)) {
            wanted.registering = discovery.registerAsync(wanted.registration.instance());
            follow(wanted);
        }
    }

    private boolean isWanted(Wanted wanted) { // under the lock
        return registered.get(key(wanted.registration)) == wanted;
    }

    @Override
    public void deregister(@Nullable ConclaveRegistration registration) {
        if (registration == null) {
            return;
        }
        CompletableFuture<ServiceRegistration> registering = null;
        synchronized (this) {
            Wanted wanted = registered.remove(key(registration));
            if (wanted != null) {
                registering = wanted.registering;
            }
        }
        if (registering != null) {
            end(registering);
        }
    }

    private static void end(CompletableFuture<ServiceRegistration> registering) {
        if (!registering.cancel(true) && !registering.isCompletedExceptionally()) {
            registering.join().close();
        }
    }

    /** Deregisters all. */
    @Override
    public void close() {
        List<CompletableFuture<ServiceRegistration>> all;
        synchronized (this) {
            all = registered.values().stream().map(wanted -> wanted.registering).toList();
            registered.clear();
        }
        all.forEach(ConclaveServiceRegistry::end);
    }

    /** Tells another status in the background. Clients choose instances that are {@code UP}. */
    @Override
    public synchronized void setStatus(ConclaveRegistration registration, String status) {
        registration.setStatus(status);
        update(registration);
    }

    private void update(ConclaveRegistration registration) { // under the lock
        Wanted wanted = registered.get(key(registration));
        if (wanted == null) {
            return;
        }
        wanted.registration = registration;
        if (wanted.registering.isCompletedExceptionally()) {
            return; // the next attempt tells it
        }
        CompletableFuture<ServiceRegistration> registering = wanted.registering;
        registering.thenCompose(done -> tellLatest(wanted, done)).whenComplete((done, failure) -> {
            if (failure != null && !registering.isCancelled()) {
                LOG.warn("Cannot update {}: {}", registration, failure.getMessage());
            }
        });
    }

    /** Updates that wait for the registration are not called in the order in which they came. */
    private synchronized CompletableFuture<Void> tellLatest(Wanted wanted, ServiceRegistration done) {
        return done.updateAsync(wanted.registration.instance());
    }

    /** The status that was set last. */
    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as it is declared above
    public <T> T getStatus(ConclaveRegistration registration) {
        return (T) registration.status();
    }
}
