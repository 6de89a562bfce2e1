package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Waiting;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.SessionGoneException;
import io.conclave.line.Acquisition;
import io.conclave.line.Contender;
import io.conclave.line.LineMember;
import io.conclave.line.LineRole;
import io.conclave.line.LineView;
import io.conclave.node.NodePath;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/**
 * A mutex among all processes that use the same path: the lock of the ZooKeeper recipes page, first come, first served, without a herd.
 *
 * <p>Whatever way an acquire ends, its znode is gone: at once, or as soon as the connection is back. What is written under the lock should
 * carry {@link LockGrant#token()} and be refused by the store if a larger one has been seen there: no lock service can stop a process that sleeps
 * past the end of its session from waking up later.
 *
 * <p>While the connection is away an acquire waits; if the session is lost it fails with {@link SessionGoneException}, and a new
 * attempt uses the coordinator's next session. The znodes are laid out exactly as those of Curator's InterProcessMutex, and the two
 * exclude each other. Immutable and thread-safe; making one costs nothing.
 */
public final class DistributedLock {
    private final Coordinator coordinator;
    private final NodePath path;
    private final byte[] data;

    private DistributedLock(Coordinator coordinator, NodePath path, byte[] data) {
        this.coordinator = coordinator;
        this.path = path;
        this.data = data;
    }

    /**
     * The lock at a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static DistributedLock at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** The lock at a path; contenders leave the process id and the host's name as their data. */
    public static DistributedLock at(Coordinator coordinator, NodePath path) {
        if (path.isRoot()) {
            throw new IllegalArgumentException("Invalid lock path \"/\": a lock needs a znode of its own");
        }
        return new DistributedLock(coordinator, path, OwnName.get().getBytes(StandardCharsets.UTF_8));
    }

    /** The same lock; contenders leave this data for others to see. */
    public DistributedLock withData(byte[] newData) {
        return new DistributedLock(coordinator, path, newData.clone());
    }

    /**
     * Waits for the lock without a limit of time.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if it cannot be had
     */
    public LockGrant acquire() throws InterruptedException {
        return Acquisition.<LockGrant>of(enter(), HeldLock::new).await();
    }

    /**
     * Waits for the lock.
     *
     * @param timeout how long at most
     * @throws AcquireTimeoutException if the time is over
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if it cannot be had
     */
    public LockGrant acquire(Duration timeout) throws InterruptedException {
        return waitFor(timeout).await();
    }

    /** Waits for the lock without blocking. Completes on a listener thread, with what {@link #acquire()} gives or throws; cancelling it leaves the line. */
    public CompletableFuture<LockGrant> acquireAsync() {
        return Acquisition.<LockGrant>of(enter(), HeldLock::new).stage(LockGrant::closeAsync);
    }

    /** As {@link #acquireAsync()}, with a limit of time after which it fails with {@link AcquireTimeoutException}. */
    public CompletableFuture<LockGrant> acquireAsync(Duration timeout) {
        return waitFor(timeout).stage(LockGrant::closeAsync);
    }

    /**
     * Takes the lock if nobody has it or waits for it, after one round trip (while the connection is away, after the next one is made).
     *
     * @return empty if somebody is before us
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     */
    public Optional<LockGrant> tryAcquire() throws InterruptedException {
        try {
            return Optional.of(ifFree().await());
        } catch (AcquireTimeoutException e) {
            return Optional.empty();
        }
    }

    Optional<LockGrant> tryAcquireUninterruptibly() {
        try {
            return Optional.of(ifFree().awaitUninterruptibly());
        } catch (AcquireTimeoutException e) {
            return Optional.empty();
        }
    }

    /** As {@link #tryAcquire()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<LockGrant>> tryAcquireAsync() {
        return ifFree().stageIfFree(LockGrant::closeAsync);
    }

    /**
     * Who holds the lock; empty if nobody does. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<LockMember> holder() throws InterruptedException {
        return members().stream().findFirst();
    }

    /**
     * Who holds the lock (the first) and who waits for it, in order. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<LockMember> members() throws InterruptedException {
        RecipeSession session = coordinator.recipeSession();
        return Waiting.await(session, LineView.read(session, path, LineRole.MUTEX.line())).stream()
                .map(DistributedLock::member)
                .toList();
    }

    /**
     * This lock as java.util.concurrent knows it: owned by a thread, and reentrant. Each call makes an independent view: threads must share
     * one for re-entry to be seen.
     *
     * <p>{@code lock()} throws {@link SessionGoneException} if the session is lost while waiting; {@code unlock()} and re-entry throw {@link
     * io.conclave.error.GrantLostException} if the lock was lost while held. There are no conditions.
     */
    public Lock asLock() {
        return new ReentrantLockView(this);
    }

    /** The lock's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    LockGrant acquireUninterruptibly() {
        return Acquisition.<LockGrant>of(enter(), HeldLock::new).awaitUninterruptibly();
    }

    private Acquisition<LockGrant> waitFor(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("Invalid timeout " + timeout + ": it must not be negative");
        }
        return Acquisition.of(enter(), HeldLock::new, timeout);
    }

    private Contender enter() {
        return Contender.enter(coordinator.recipeSession(), path, LineRole.MUTEX, data);
    }

    private Acquisition<LockGrant> ifFree() {
        return Acquisition.of(
                Contender.enterIfFree(coordinator.recipeSession(), path, LineRole.MUTEX, data), HeldLock::new);
    }

    private static LockMember member(LineMember member) {
        return new LockMember(
                member.path(),
                member.data(),
                member.stat().ephemeralOwner(),
                member.stat().czxid(),
                Instant.ofEpochMilli(member.stat().ctimeMs()));
    }

    @Override
    public String toString() {
        return "DistributedLock[" + path + ", " + coordinator + "]";
    }
}
