package io.conclave.barriers;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.Waiting;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A latch among all processes that use the same path: waiters continue when it has been counted down as often as it
 * was made for.
 *
 * <pre>{@code
 * Latch loaded = Latch.at(coordinator, "/jobs/42/loaded", 3);
 * loaded.countDown("shard-1");                  // each of three; again under the same name counts once
 * loaded.await(Duration.ofMinutes(10));         // anyone
 * }</pre>
 *
 * <p>It opens once and stays open; {@link #delete} ends it. A count outlives the process that made it, and a count
 * whose reply was lost is never made twice. Layout: {@code <path>} holds the count as text; {@code <path>/by/<name>}
 * names a client that has counted; {@code <path>/of-<count>/c-<number>} is the count with that number, made in the same
 * transaction. So counting costs one request however many count, and a waiter watches for the one znode that the last
 * count makes: one event for each, at the right moment.
 *
 * <p>While the connection is away a wait goes on; if the session is lost it goes on with the coordinator's next one.
 * {@link #countDown(String)} gets over lost connections by itself and fails with
 * {@link io.conclave.error.SessionGoneException} if the session is lost; it may be called again under the same name.
 * Immutable and thread-safe; making one costs nothing.
 */
public final class Latch {
    private static final int MAX_COUNT = 1_000_000;

    private final Coordinator coordinator;
    private final LatchLayout layout;

    private Latch(Coordinator coordinator, LatchLayout layout) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.layout = layout;
    }

    /**
     * The latch at a path.
     *
     * @param count how often; the same for all users of the path
     * @throws IllegalArgumentException if the path or the count breaks a rule, naming it
     */
    public static Latch at(Coordinator coordinator, String path, int count) {
        return at(coordinator, NodePath.of(path), count);
    }

    /** As {@link #at(Coordinator, String, int)}. */
    public static Latch at(Coordinator coordinator, NodePath path, int count) {
        RecipePaths.requireOwn(path, "a latch");
        if (count < 1 || count > MAX_COUNT) {
            throw new IllegalArgumentException("Invalid count " + count + ": it must be from 1 to " + MAX_COUNT);
        }
        return new Latch(coordinator, new LatchLayout(path, count));
    }

    /**
     * Counts once for each call. Blocks until the backend has confirmed it.
     *
     * @throws InterruptedException if the thread is interrupted; it may have counted anyway
     * @throws IllegalArgumentException if the latch at this path was made for another count
     * @throws io.conclave.error.OutcomeUnknownException if a reply was lost and the latch was deleted meanwhile:
     *     it may have counted that one. Call again if one that was made since should count it as well. Also if the
     *     backend refuses to tell whether it has counted: call again with the same name only, since a call without a
     *     name counts once more
     * @throws io.conclave.error.SessionGoneException if the session is lost meanwhile; it may have counted anyway
     * @throws io.conclave.error.RefusedException if the backend refuses it
     */
    public void countDown() throws InterruptedException {
        countDown(UUID.randomUUID().toString());
    }

    /**
     * Counts once for each name, whichever client uses it, and however often. Otherwise as {@link #countDown()}.
     *
     * @param name of what was done; one component of a path
     */
    public void countDown(String name) throws InterruptedException {
        Waiting.await(RecipeAccess.session(coordinator), countDownAsync(name));
    }

    /** As {@link #countDown()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Void> countDownAsync() {
        return countDownAsync(UUID.randomUUID().toString());
    }

    /** As {@link #countDown(String)}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Void> countDownAsync(String name) {
        return new LatchWrites(RecipeAccess.session(coordinator), layout)
                .count(layout.by(Objects.requireNonNull(name, "name")));
    }

    /**
     * How many counts are missing; 0 if it is open. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalArgumentException if the latch at this path was made for another count
     */
    public int remaining() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), look());
    }

    /** As {@link #remaining()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Integer> remainingAsync() {
        return RecipeAccess.session(coordinator).onListenerThread("remaining of " + layout.path(), look());
    }

    private CompletionStage<Integer> look() {
        return RecipeAccess.read(coordinator, Exists.of(layout.counts()))
                .thenCompose(counts -> counts.isPresent()
                        ? CompletableFuture.completedFuture(
                                Math.max(0, layout.count() - counts.get().numChildren()))
                        : lookForOtherCount());
    }

    /** Nothing has counted, or the latch was made for another count. */
    private CompletionStage<Integer> lookForOtherCount() {
        return Waiting.ifThere(RecipeAccess.read(coordinator, GetData.of(layout.path())))
                .thenCompose(found -> found.flatMap(node -> layout.refusalOf(node.bytes()))
                        .map(CompletableFuture::<Integer>failedFuture)
                        .orElseGet(() -> CompletableFuture.completedFuture(layout.count())));
    }

    /**
     * Waits without a limit of time until it is open; returns at once if it is. Waiting makes the latch if it is not
     * there, and that stays until {@link #delete}.
     *
     * @throws InterruptedException if the thread is interrupted; no watch stays behind
     * @throws IllegalArgumentException if the latch at this path was made for another count
     * @throws io.conclave.error.ClosedException if the coordinator is closed
     * @throws io.conclave.error.RefusedException if the backend refuses it
     */
    public void await() throws InterruptedException {
        awaiting().await();
    }

    /**
     * As {@link #await()}, with a limit of time. With a limit of zero it looks once.
     *
     * @throws io.conclave.error.WaitTimeoutException if the time is over
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout
     * @throws IllegalArgumentException as {@link #await()}, and if the timeout is negative
     */
    public void await(Duration timeout) throws InterruptedException {
        awaiting().await(timeout);
    }

    /** As {@link #await()}, without blocking. Completes on a listener thread; cancelling it leaves no watch behind. */
    public CompletableFuture<Void> awaitAsync() {
        return awaiting().stage();
    }

    /**
     * As {@link #awaitAsync()}, with a limit of time after which it fails with
     * {@link io.conclave.error.WaitTimeoutException}; zero as in {@link #await(Duration)}.
     */
    public CompletableFuture<Void> awaitAsync(Duration timeout) {
        return awaiting().stage(timeout);
    }

    private Wait awaiting() {
        return ZnodeWait.untilOpen(coordinator, layout);
    }

    /**
     * Deletes it with all that belongs to it, so that the path can be used for another one. To be called when no client
     * waits or counts any more: one that does so later uses a new latch. A call deletes one latch at most:
     * the one that it finds first, and not one that is made at the path afterwards. What others keep below the path
     * stays. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted; some of it may be left: call it again before the path
     *     is used
     * @throws IllegalArgumentException if the znode at this path is no latch; it stays
     * @throws io.conclave.error.RefusedException with {@link io.conclave.error.RefusalReason#NOT_EMPTY} if others keep
     *     znodes below the path; the counts may be gone by then
     * @throws io.conclave.error.ConclaveException if it is refused, or the session is lost meanwhile; it may be called
     *     again
     */
    public void delete() throws InterruptedException {
        Waiting.await(RecipeAccess.session(coordinator), deleteAsync());
    }

    /** As {@link #delete}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Void> deleteAsync() {
        return new LatchDeletion(RecipeAccess.session(coordinator), layout).begin();
    }

    /** The latch's znode, in the coordinator's namespace. */
    public NodePath path() {
        return layout.path();
    }

    @Override
    public String toString() {
        return "Latch[" + layout.path() + " of " + layout.count() + ", " + coordinator + "]";
    }
}
