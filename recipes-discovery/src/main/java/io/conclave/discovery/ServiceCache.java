package io.conclave.discovery;

import io.conclave.membership.GroupSnapshot;
import io.conclave.membership.GroupUpdate;
import io.conclave.membership.GroupView;
import io.conclave.membership.Member;
import io.conclave.recipe.Waiting;
import io.conclave.session.Registration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The instances of a service, kept up to date until it is closed. Thread-safe.
 *
 * <p>It survives an outage: while the connection is away, and also when the session is lost, it serves what was last
 * known, and {@link #age} says how old that is. When the store is there again all is read anew, and the difference is
 * told. It costs one watch, and one read for each instance that comes or changes.
 *
 * <p>An instance whose data is not understood is left out, and logged.
 */
public final class ServiceCache implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceCache.class);

    private final String service;
    private final GroupView<ServiceInstance> view;
    private volatile Known known = new Known(0, List.of());

    /** The instances of a state of the view, so that they are gathered once. */
    private record Known(long number, List<ServiceInstance> instances) {}

    ServiceCache(String service, GroupView<ServiceInstance> view) {
        this.service = service;
        this.view = view;
        view.onChange(this::logUnreadable);
    }

    private void logUnreadable(GroupUpdate<ServiceInstance> update) {
        List<Member<ServiceInstance>> read = new ArrayList<>(update.joined());
        read.addAll(update.changed());
        for (Member<ServiceInstance> member : read) {
            try {
                member.payload();
            } catch (IllegalArgumentException e) {
                LOG.warn("Instance {} of service {} is left out: {}", member.id(), service, e.getMessage());
            }
        }
    }

    /** Those that are understood, with what the path tells where the data does not. */
    static List<ServiceInstance> readable(String service, Collection<Member<ServiceInstance>> members) {
        List<ServiceInstance> instances = new ArrayList<>();
        for (Member<ServiceInstance> member : members) {
            try {
                instances.add(named(member.payload(), service, member.id()));
            } catch (IllegalArgumentException e) {
                LOG.debug("Instance {} of service {} is left out: {}", member.id(), service, e.getMessage());
            }
        }
        return List.copyOf(instances);
    }

    private static ServiceInstance named(ServiceInstance instance, String service, String id) {
        boolean hasName = !instance.name().equals(InstanceCodec.UNKNOWN);
        boolean hasId = !instance.id().equals(InstanceCodec.UNKNOWN);
        if (hasName && hasId) {
            return instance;
        }
        ServiceInstance.Builder builder = hasName ? instance.toBuilder() : instance.toBuilder(service);
        return (hasId ? builder : builder.id(id)).build();
    }

    /** The name of the service. */
    public String service() {
        return service;
    }

    /**
     * The instances now, or as they were last known, in the order of their znodes' names; none before the first state
     * is known. Never blocks.
     */
    public List<ServiceInstance> instances() {
        GroupSnapshot<ServiceInstance> snapshot = view.snapshot();
        Known last = known;
        if (last.number != snapshot.number()) {
            last = new Known(snapshot.number(), readable(service, snapshot.members()));
            known = last;
        }
        return last.instances;
    }

    /** Whether the instances are those of now, as far as the store has told. Never blocks. */
    public boolean isCurrent() {
        return view.isCurrent();
    }

    /**
     * How old the instances may be: zero while the cache {@link #isCurrent follows the store}, else the time since it
     * last did, or since it was made if nothing is known yet. It counts from when the loss of the connection was
     * noticed, at the latest one session timeout after the last answer. By the coordinator's clocks. Never blocks.
     */
    public Duration age() {
        return view.age();
    }

    /**
     * Completes on a listener thread when the first state is known; fails if cache or coordinator are closed before.
     */
    public CompletableFuture<List<ServiceInstance>> loaded() {
        return Waiting.unwrapped(view.firstSnapshot().thenApply(first -> instances()));
    }

    /**
     * Waits until the first state is known. Blocks.
     *
     * @return the instances
     * @throws io.conclave.error.WaitTimeoutException if it does not come in time; the cache goes on loading
     * @throws InterruptedException if the thread is interrupted
     */
    public List<ServiceInstance> awaitLoaded(Duration timeout) throws InterruptedException {
        view.awaitFirstSnapshot(timeout);
        return instances();
    }

    /**
     * Tells a listener of the instances: first the present ones, then after every change. The latest state always
     * comes, those in between may be skipped. It is called serially on a listener thread and may block; what it throws
     * is logged.
     */
    public Registration onChange(Consumer<? super List<ServiceInstance>> listener) {
        Objects.requireNonNull(listener, "listener");
        return view.onChange(
                update -> listener.accept(readable(service, update.snapshot().members())));
    }

    /** Stops to follow the service; the last instances can still be asked for. Idempotent, never blocks. */
    @Override
    public void close() {
        view.close();
    }

    @Override
    public String toString() {
        return "ServiceCache[" + service + ", " + instances().size() + " instances"
                + (isCurrent() ? "" : ", out of date since " + age()) + "]";
    }
}
