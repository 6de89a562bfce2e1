package io.conclave.spring.integration;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.node.NodePath;
import io.conclave.time.TimeSource;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;

/**
 * Spring Integration's lock registry on a coordinator, for aggregators, resequencers, stores of message groups, {@code
 * LockRequestHandlerAdvice} and whatever else takes a lock by a key.
 *
 * <pre>{@code
 * LockRegistry registry = new ConclaveLockRegistry(coordinator);
 * Lock lock = registry.obtain("order-4711");
 * }</pre>
 *
 * <p>A lock is reentrant and belongs to a thread. Its znodes are those of Curator's InterProcessMutex at {@code
 * <root>/<key>}, so this registry and Spring's own {@code ZookeeperLockRegistry} exclude each other. Locks are first
 * come, first served, and end with the session of the process; there is no time to live besides that.
 *
 * <ul>
 *   <li>{@code lock} and {@code lockInterruptibly} block until the lock is held, over lost connections and sessions;
 *   when
 *       the coordinator is closed they throw {@link io.conclave.error.ClosedException}. {@code lockInterruptibly}
 *       refuses a thread that is interrupted.
 *   <li>{@code tryLock(time, unit)} ends in that time, with or without a connection. {@code tryLock()} asks the store
 *       once, and waits for its answer for the coordinator's try timeout at most; so does {@code tryLock(time, unit)}
 *       with a time of zero or less. Both answer false if the store does not.
 *   <li>{@code unlock} by another thread is an {@link IllegalMonitorStateException}. If the lock was lost meanwhile it
 *   is a
 *       {@link java.util.ConcurrentModificationException}, and so is a reentry; the thread holds it no longer either
 *       way.
 *   <li>{@code newCondition} is not supported.
 * </ul>
 *
 * <p>Thread-safe. It does not close the coordinator. Works with Spring Integration 6.5 and 7.1.
 */
@SuppressWarnings("rawtypes") // generic since Spring Integration 7
public final class ConclaveLockRegistry implements ExpirableLockRegistry {
    /** Where locks are unless told otherwise: as Spring's ZookeeperLockRegistry has them. */
    public static final String DEFAULT_ROOT = "/SpringIntegration-LockRegistry";

    private static final int DEFAULT_CAPACITY = 30_000;

    private final String root;
    private final RegistryCache cache;

    /** Locks below {@value #DEFAULT_ROOT}. */
    public ConclaveLockRegistry(Coordinator coordinator) {
        this(coordinator, DEFAULT_ROOT);
    }

    /**
     * Locks below a path of the coordinator's namespace.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public ConclaveLockRegistry(Coordinator coordinator, String root) {
        this(coordinator, root, TimeSource.system());
    }

    ConclaveLockRegistry(Coordinator coordinator, String root, TimeSource time) {
        Objects.requireNonNull(coordinator, "coordinator");
        NodePath path = NodePath.of(root);
        this.root = path.isRoot() ? "" : path.toString();
        this.cache = new RegistryCache(DEFAULT_CAPACITY, time, lock -> DistributedLock.at(coordinator, lock));
    }

    /**
     * How many locks are kept, 30,000 if not set; more only while more are in use. A lock that is held, waited for or
     * referred to is never replaced by another one of the same key.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public void setCacheCapacity(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("Invalid capacity " + capacity + ": it must be positive");
        }
        cache.setCapacity(capacity);
    }

    /**
     * The lock of a key: always the same object while anybody uses it. Never blocks.
     *
     * @param lockKey a text that is a path below the root, usually a single name
     * @throws IllegalArgumentException if it is no text, or the path breaks a rule, naming it
     */
    @Override
    public Lock obtain(Object lockKey) {
        if (!(lockKey instanceof String key) || key.isEmpty()) {
            throw new IllegalArgumentException("Invalid lock key " + lockKey + ": it must be a String, and not empty");
        }
        return cache.get(root + "/" + key);
    }

    /** Forgets the locks that were neither asked for nor used for longer, in milliseconds, and are not in use. */
    @Override
    public void expireUnusedOlderThan(long age) {
        cache.removeUnused(TimeUnit.MILLISECONDS.toNanos(age));
    }

    /** How many locks are kept. */
    int size() {
        return cache.size();
    }

    @Override
    public String toString() {
        return "ConclaveLockRegistry[" + (root.isEmpty() ? "/" : root) + "]";
    }
}
