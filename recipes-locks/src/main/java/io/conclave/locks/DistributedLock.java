package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.SessionGoneException;
import io.conclave.line.Contender;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A mutex among all processes that use the same path: the lock of the ZooKeeper recipes page, first come, first served,
 * without a herd.
 *
 * <p>However an acquire ends, its znode is gone: at once, or as soon as the connection is back. What is written under
 * the lock should carry {@link LockGrant#token()} and be refused by the store if a larger one has been seen there: no
 * lock service can stop a process that sleeps past the end of its session from waking up later.
 *
 * <p>While the connection is away an acquire waits; if the session is lost it fails with {@link SessionGoneException},
 * and a new attempt uses the coordinator's next session. The znodes are laid out exactly as those of Curator's
 * InterProcessMutex, and the two exclude each other; or as kazoo's ({@link #withLayout}). Immutable and thread-safe;
 * making one costs nothing.
 */
public final class DistributedLock extends LineLock<LockGrant> implements SingleLock {
    private DistributedLock(LockLine line) {
        super(line, line.layout().mutex());
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
        return new DistributedLock(LockLine.at(coordinator, path));
    }

    /** The same lock; contenders leave this data for others to see. */
    public DistributedLock withData(byte[] newData) {
        return new DistributedLock(line().withData(newData));
    }

    /** The same lock in another layout, which all users of the lock must have in common. */
    public DistributedLock withLayout(LockLayout layout) {
        return new DistributedLock(line().withLayout(layout));
    }

    /**
     * This lock with a place that the process keeps after a release: its next caller is granted the lock in memory. For
     * locks that one process takes again and again; see {@link KeptLock}.
     */
    public KeptLock kept(Keeping keeping) {
        return new KeptLock(line(), Objects.requireNonNull(keeping, "keeping"));
    }

    /**
     * The holder of the lock; empty if there is none. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<LockMember> holder() throws InterruptedException {
        return members().stream().findFirst();
    }

    /** As {@link #holder()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<LockMember>> holderAsync() {
        return Waiting.unwrapped(
                membersAsync().thenApply(members -> members.stream().findFirst()));
    }

    @Override
    LockGrant grantOf(Contender contender) {
        return new HeldLock(contender);
    }
}
