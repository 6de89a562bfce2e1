package io.conclave.config;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.Waiting;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Whole numbers that are unique to their caller, taken in blocks: one request to the store for a whole block, the
 * others from memory. They grow, but not in the order of time among processes; those of a block that a process does not
 * use up are never given.
 *
 * <p>Making one costs nothing: the block in use belongs to the coordinator, and all {@code UniqueIds} of one
 * coordinator with the same path and block size take from it. A coordinator keeps the blocks of the 1,000 sequences
 * that it used last; of others the rest of the block is lost.
 *
 * <p>The znode holds the next free id; a block is taken by a conditional write. If its reply is lost, the block counts
 * as lost too: an id may be skipped, never given twice.
 *
 * <p>{@link #at} trusts the store: if all of its data were lost, ids would begin at 0 again. {@link #persisted} does
 * not: it gives ids only below a limit that a {@link SequencePersister} has stored elsewhere before, and waits where
 * there is none; an empty znode then shows that there is a sequence to look after. After the loss of a whole ensemble
 * the persister lets the sequence go on from what it has stored.
 *
 * <p>While the connection is away, or the session is lost, callers wait. When all of them have given up, by an
 * interrupt or a timeout, no further attempt to take a block begins. Thread-safe.
 */
public final class UniqueIds {
    private static final int DEFAULT_BLOCK = 100;

    private final Coordinator coordinator;
    private final NodePath path;
    private final boolean persisted;
    private final Requests requests;
    private final IdBlocks blocks;

    private UniqueIds(Coordinator coordinator, NodePath path, boolean persisted, int blockSize) {
        this.coordinator = coordinator;
        this.path = path;
        this.persisted = persisted;
        this.requests = new Requests(coordinator);
        this.blocks = IdBlocks.of(coordinator, path, persisted, blockSize);
    }

    /**
     * The sequence at a path, made if it is not there.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static UniqueIds at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** As {@link #at(Coordinator, String)}. */
    public static UniqueIds at(Coordinator coordinator, NodePath path) {
        return of(coordinator, path, false);
    }

    /**
     * The sequence at a path, as {@link #at}, but with a {@link SequencePersister}, which makes it: ids are given only
     * as far as it has stored them elsewhere. When Apache ZooKeeper was restored from an older copy, the coordinators'
     * generation must be raised, or the sequence's znode deleted, before they connect: nothing else tells that the copy
     * is older.
     */
    public static UniqueIds persisted(Coordinator coordinator, String path) {
        return persisted(coordinator, NodePath.of(path));
    }

    /** As {@link #persisted(Coordinator, String)}. */
    public static UniqueIds persisted(Coordinator coordinator, NodePath path) {
        return of(coordinator, path, true);
    }

    private static UniqueIds of(Coordinator coordinator, NodePath path, boolean persisted) {
        Objects.requireNonNull(coordinator, "coordinator");
        return new UniqueIds(coordinator, checked(path), persisted, DEFAULT_BLOCK);
    }

    static NodePath checked(NodePath path) {
        RecipePaths.requireOwn(path, "a sequence");
        return path;
    }

    /** The same sequence, taken in blocks of this size; 100 if not set. */
    public UniqueIds withBlockSize(int size) {
        if (size < 1) {
            throw new IllegalArgumentException("Invalid block size " + size + ": it must be positive");
        }
        return new UniqueIds(coordinator, path, persisted, size);
    }

    /**
     * The next id. Blocks if a new block is needed, until the store answers, and with a persister until there is room
     * below the limit.
     *
     * @throws InterruptedException if the thread is interrupted
     * @throws io.conclave.error.ConclaveException if the store refuses
     */
    public long next() throws InterruptedException {
        return requests.await(nextAsync());
    }

    /**
     * As {@link #next()}, with a limit of time. With a limit of zero it gives what is left of the present block.
     *
     * @throws WaitTimeoutException if the time is over
     * @throws IllegalArgumentException if the timeout is negative
     */
    public long next(Duration timeout) throws InterruptedException {
        return requests.await(next(timeout, Runnable::run));
    }

    /** As {@link #next()}, without blocking. Completes on a listener thread, or at once. */
    public CompletableFuture<Long> nextAsync() {
        return blocks.next();
    }

    /**
     * As {@link #nextAsync()}, with a limit of time after which it fails with {@link WaitTimeoutException}.
     *
     * @throws IllegalArgumentException if the timeout is negative
     */
    public CompletableFuture<Long> nextAsync(Duration timeout) {
        return next(timeout, requests.listenerThreads("id of " + path));
    }

    /**
     * The next id, if it comes in time.
     *
     * @param late where the future fails when it does not
     */
    private CompletableFuture<Long> next(Duration timeout, Executor late) {
        Waiting.checkedTimeout(timeout);
        CompletableFuture<Long> id = nextAsync();
        TimeSource.Timer timer = RecipeAccess.session(coordinator)
                .time()
                .schedule(timeout, () -> late.execute(() -> id.completeExceptionally(tooLate(timeout))));
        id.whenComplete((given, failure) -> timer.cancel());
        return id;
    }

    private WaitTimeoutException tooLate(Duration timeout) {
        return new WaitTimeoutException(
                path.toString(),
                timeout,
                "No id of " + path + " within " + Waiting.text(timeout)
                        + ": the next block could not be reserved; is the store reachable?");
    }

    /** The sequence's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    @Override
    public String toString() {
        return blocks.toString();
    }
}
