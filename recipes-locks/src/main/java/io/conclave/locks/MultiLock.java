package io.conclave.locks;

import io.conclave.coordinator.Waiting;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.HeldCall;
import io.conclave.grant.HeldWork;
import io.conclave.line.Acquisition;
import io.conclave.line.WhileHeld;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Several locks as one: all of them or none, under one deadline.
 *
 * <p>They are taken one after the other in the order of their absolute paths, whatever the order in which they were given; so those who use overlapping sets of locks through multi-locks
 * cannot wait for each other in a circle. Those that are had are kept while the next one is waited for. Whatever way an acquire ends, nothing of it stays behind: at once, or as soon as
 * the connection is back.
 *
 * <p>The locks may be of different coordinators: with other namespaces, or connected to other stores. The order is still the same for everybody, because it is that of the absolute paths, with
 * chroot and namespace in front, and no multi-lock has two locks of one absolute path (of two stores neither). The grant is lost with the first of its sessions. Immutable and
 * thread-safe; making one costs nothing.
 */
public final class MultiLock {
    private final List<LineLock<?>> locks;

    private MultiLock(List<LineLock<?>> locks) {
        this.locks = locks;
    }

    /**
     * These locks as one.
     *
     * @throws IllegalArgumentException if there is none, or two have the same path, naming it; the halves of a shared lock have the same
     */
    public static MultiLock of(SingleLock... locks) {
        return of(Arrays.asList(locks));
    }

    /** As {@link #of(SingleLock...)}. */
    public static MultiLock of(List<? extends SingleLock> locks) {
        if (locks.isEmpty()) {
            throw new IllegalArgumentException("Invalid multi-lock without locks: it needs at least one");
        }
        SortedMap<NodePath, LineLock<?>> byPath = new TreeMap<>();
        for (SingleLock lock : locks) {
            LineLock<?> line = (LineLock<?>) lock;
            NodePath path = absolutePath(line);
            if (byPath.put(path, line) != null) {
                throw new IllegalArgumentException("Invalid multi-lock: two of its locks are at " + path
                        + ", and the second would wait for the first for ever");
            }
        }
        return new MultiLock(new ArrayList<>(byPath.values()));
    }

    static NodePath absolutePath(LineLock<?> lock) {
        return lock.place().session().absolute(lock.path());
    }

    /**
     * Waits for the locks without a limit of time.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if a session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if they cannot be had
     */
    public MultiLockGrant acquire() throws InterruptedException {
        return waitFor().await();
    }

    /**
     * Waits for the locks.
     *
     * @param timeout how long at most, for all of them together
     * @throws AcquireTimeoutException if the time is over
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if a session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if they cannot be had
     */
    public MultiLockGrant acquire(Duration timeout) throws InterruptedException {
        return waitFor(timeout).await();
    }

    /**
     * Waits for the locks, does the work on the calling thread while all are held, and gives all back. The recommended form: a loss is
     * never silent. It interrupts the work, and the caller gets a {@link GrantLostException} when the work has ended; what the work threw
     * then is a suppressed exception of it. See {@link WhileHeld} for what happens to interrupts from elsewhere.
     *
     * @param timeout how long to wait at most
     * @throws GrantLostException if one of the locks was lost before the work ended
     * @throws AcquireTimeoutException if the time is over; the work was not begun
     * @throws X what the work throws
     * @throws InterruptedException if the thread is interrupted while it waits; the work was not begun
     */
    public <X extends Exception> void whileHeld(Duration timeout, HeldWork<? super MultiLockGrant, X> work)
            throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        WhileHeld.run(acquire(timeout), work);
    }

    /** As {@link #whileHeld(Duration, HeldWork)}, without a limit of time for the wait. */
    public <X extends Exception> void whileHeld(HeldWork<? super MultiLockGrant, X> work)
            throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        WhileHeld.run(acquire(), work);
    }

    /** As {@link #whileHeld(Duration, HeldWork)}, with a result. */
    public <R extends @Nullable Object, X extends Exception> R callWhileHeld(
            Duration timeout, HeldCall<? super MultiLockGrant, R, X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        return WhileHeld.call(acquire(timeout), work);
    }

    /** As {@link #callWhileHeld(Duration, HeldCall)}, without a limit of time for the wait. */
    public <R extends @Nullable Object, X extends Exception> R callWhileHeld(
            HeldCall<? super MultiLockGrant, R, X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        return WhileHeld.call(acquire(), work);
    }

    /** Waits for the locks without blocking. Completes on a listener thread, with what {@link #acquire()} gives or throws; cancelling it leaves nothing behind. */
    public CompletableFuture<MultiLockGrant> acquireAsync() {
        return waitFor().stage(MultiLockGrant::closeAsync);
    }

    /** As {@link #acquireAsync()}, with a limit of time after which it fails with {@link AcquireTimeoutException}. */
    public CompletableFuture<MultiLockGrant> acquireAsync(Duration timeout) {
        return waitFor(timeout).stage(MultiLockGrant::closeAsync);
    }

    /**
     * Takes the locks if nobody has or waits for one of them, after a round trip for each; for all of them together it blocks for the
     * try timeout of the first one's coordinator at most.
     *
     * @return empty if another one holds one of them or waits for it
     * @throws io.conclave.error.NotConnectedException if a store does not answer within the try timeout; nothing is held
     * @throws SessionGoneException if a session is lost meanwhile
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     */
    public Optional<MultiLockGrant> tryAcquire() throws InterruptedException {
        try {
            return Optional.of(ifFree().await());
        } catch (AcquireTimeoutException e) {
            return Optional.empty();
        }
    }

    /** As {@link #tryAcquire()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<MultiLockGrant>> tryAcquireAsync() {
        return ifFree().stageIfFree(MultiLockGrant::closeAsync);
    }

    private Acquisition<MultiLockGrant> waitFor() {
        MultiTenant tenant = MultiTenant.enter(locks, true);
        return Acquisition.of(tenant, () -> new HeldMultiLock(tenant));
    }

    private Acquisition<MultiLockGrant> waitFor(Duration timeout) {
        Waiting.checkedTimeout(timeout);
        MultiTenant tenant = MultiTenant.enter(locks, true);
        return Acquisition.of(tenant, () -> new HeldMultiLock(tenant), timeout);
    }

    private Acquisition<MultiLockGrant> ifFree() {
        MultiTenant tenant = MultiTenant.enter(locks, false);
        return Acquisition.ofTry(tenant, () -> new HeldMultiLock(tenant));
    }

    @Override
    public String toString() {
        return "MultiLock" + locks;
    }
}
