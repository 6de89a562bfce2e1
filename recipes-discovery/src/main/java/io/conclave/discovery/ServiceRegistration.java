package io.conclave.discovery;

import io.conclave.error.LossReason;
import io.conclave.membership.Membership;
import io.conclave.membership.MembershipState;
import io.conclave.node.NodePath;
import io.conclave.session.Registration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A registered instance, until it is closed or its znode is deleted. Thread-safe.
 *
 * <p>It is the {@link Membership} of the instance in its service's group. If the session is lost it is registered again
 * by itself, with what was last told. If another client deletes its znode it is out, and stays out
 * ({@link LossReason#NODE_DELETED}).
 */
public final class ServiceRegistration implements AutoCloseable {
    private final String service;
    private final Instant registeredAt;
    private final Membership<ServiceInstance> membership;

    ServiceRegistration(ServiceInstance instance, Membership<ServiceInstance> membership) {
        this.service = instance.name();
        this.registeredAt = instance.registeredAt().orElseThrow();
        this.membership = membership;
    }

    /** The name of the service. */
    public String service() {
        return service;
    }

    /** What the instance is called among those of the service. */
    public String id() {
        return membership.id();
    }

    /** The instance's znode, in the coordinator's namespace. */
    public NodePath path() {
        return membership.path();
    }

    /**
     * Changes what is told of the instance, and waits until it is written. While it is being registered again, it is
     * registered with that. Blocks.
     *
     * @throws IllegalArgumentException if it has another name or id
     * @throws io.conclave.error.GrantLostException if the registration has ended
     * @throws io.conclave.error.RefusedException if the store does not take it: it is too large, say; the one before
     *     stands
     * @throws InterruptedException if the thread is interrupted; it may be written anyway
     */
    public void update(ServiceInstance instance) throws InterruptedException {
        membership.update(checked(instance));
    }

    /**
     * As {@link #update}, without blocking. Completes on a listener thread when this or a later update is written.
     *
     * @throws IllegalArgumentException if it has another name or id
     */
    public CompletableFuture<Void> updateAsync(ServiceInstance instance) {
        return membership.updateAsync(checked(instance));
    }

    private ServiceInstance checked(ServiceInstance instance) {
        if (!instance.name().equals(service) || !instance.id().equals(id())) {
            throw new IllegalArgumentException("Invalid update of " + service + "/" + id() + " to " + instance.name()
                    + "/" + instance.id() + ": name and id stay as they were registered");
        }
        return instance.registeredAt().isPresent()
                ? instance
                : instance.toBuilder().registeredAt(registeredAt).build();
    }

    /** Where it stands. Never blocks. */
    public MembershipState state() {
        return membership.state();
    }

    /** Whether others surely see the instance now. Never blocks. */
    public boolean isRegistered() {
        return membership.isMember();
    }

    /** Tells a listener of every later change of state; it is called serially on a listener thread and may block. */
    public Registration onStateChange(Consumer<? super MembershipState> listener) {
        return membership.onStateChange(listener);
    }

    /**
     * Completes with the reason when the registration has ended; never exceptionally. A lost session does not end it.
     * Its continuations run on a listener thread and may block.
     */
    public CompletableFuture<LossReason> ended() {
        return membership.ended();
    }

    /**
     * Deregisters the instance. Idempotent. Waits for the store's confirmation, at most for what remains of the
     * session; without one the deletion goes on in the background until the session is gone. Never throws for a lost
     * connection, and ignores interrupts (the thread's flag is kept).
     */
    @Override
    public void close() {
        membership.close();
    }

    /**
     * Deregisters the instance without waiting. Completes on a listener thread when the store has confirmed it or the
     * session is gone; never exceptionally.
     */
    public CompletableFuture<Void> closeAsync() {
        return membership.closeAsync();
    }

    @Override
    public String toString() {
        return "ServiceRegistration[" + path() + ", " + state() + "]";
    }
}
