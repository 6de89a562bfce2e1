package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A lock among all processes that use the same path, held by many readers or by one writer: the shared lock of the
 * ZooKeeper recipes page, first come, first served, so that neither readers nor writers starve, and without a herd:
 * what a writer gives back wakes the readers up to the next writer, what the last reader gives back wakes that writer.
 *
 * <pre>{@code
 * SharedLock catalog = SharedLock.at(coordinator, "/locks/catalog");
 * try (WriteGrant writing = catalog.writeLock().acquire(Duration.ofSeconds(5))) {
 *     prices.write(changes, writing.token());
 *     try (ReadGrant reading = writing.downgrade()) {   // no one writes in between
 *         publish(prices);
 *     }
 * }
 * }</pre>
 *
 * <p>Both halves behave as a {@link DistributedLock} does. A lock is not reentrant across its halves: its writer
 * downgrades, and must not ask for it for reading; a reader cannot become a writer, because two that tried would wait
 * for each other. The znodes are laid out exactly as those of Curator's InterProcessReadWriteLock, or as kazoo's
 * ({@link #withLayout}). Immutable and thread-safe; making one costs nothing.
 */
public final class SharedLock {
    private final LockLine line;
    private final ReadLock readLock;
    private final WriteLock writeLock;

    private SharedLock(LockLine line) {
        this.line = line;
        this.readLock = new ReadLock(line);
        this.writeLock = new WriteLock(line);
    }

    /**
     * The lock at a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static SharedLock at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** The lock at a path; contenders leave the process id and the host's name as their data. */
    public static SharedLock at(Coordinator coordinator, NodePath path) {
        return new SharedLock(LockLine.at(coordinator, path));
    }

    /** The same lock; contenders leave this data for others to see. */
    public SharedLock withData(byte[] newData) {
        return new SharedLock(line.withData(newData));
    }

    /** The same lock in another layout, which all users of the lock must have in common. */
    public SharedLock withLayout(LockLayout layout) {
        return new SharedLock(line.withLayout(layout));
    }

    /** The half that many may hold at once; the same object with every call. */
    public ReadLock readLock() {
        return readLock;
    }

    /** The half that one may hold at a time; the same object with every call. */
    public WriteLock writeLock() {
        return writeLock;
    }

    /**
     * The holders of the lock: one writer or the readers, in the order in which they came; empty if there is none. Out
     * of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<LockMember> holders() throws InterruptedException {
        return holdersAmong(members());
    }

    /** As {@link #holders()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<LockMember>> holdersAsync() {
        return Waiting.unwrapped(membersAsync().thenApply(SharedLock::holdersAmong));
    }

    private static List<LockMember> holdersAmong(List<LockMember> members) {
        List<LockMember> holders = new ArrayList<>();
        for (LockMember member : members) {
            if (member.mode() == LockMode.EXCLUSIVE) {
                return holders.isEmpty() ? List.of(member) : holders;
            }
            holders.add(member);
        }
        return holders;
    }

    /**
     * The holder of the lock and the waiters for it, in order. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<LockMember> members() throws InterruptedException {
        return readLock().members();
    }

    /** As {@link #members()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<LockMember>> membersAsync() {
        return readLock().membersAsync();
    }

    /** The lock's znode, in the coordinator's namespace. */
    public NodePath path() {
        return line.path();
    }

    @Override
    public String toString() {
        return "SharedLock[" + line.path() + ", " + line.coordinator() + "]";
    }
}
