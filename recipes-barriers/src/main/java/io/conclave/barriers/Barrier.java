package io.conclave.barriers;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.Waiting;
import io.conclave.request.Exists;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A barrier among all processes that use the same path: while it is in place, callers wait; when it is removed, all
 * continue. It is in place while its znode exists, as the ZooKeeper recipes page has it.
 *
 * <pre>{@code
 * Barrier maintenance = Barrier.at(coordinator, "/barriers/maintenance");
 * maintenance.set();                              // one process
 * maintenance.await(Duration.ofMinutes(10));      // others: returns at once while it is not set
 * maintenance.remove();                           // anyone
 * }</pre>
 *
 * <p>The znode is persistent: a barrier outlives the process that has set it, until it is removed; then it may be set
 * again. A waiter reads again at every wake-up, so a barrier that is removed and set again at once may be seen as never
 * removed, and holds on. A waiter costs one request to read (two for the first look, which sees every barrier that any
 * client was told is set), one event and one more look. The layout is the one of Curator's DistributedBarrier.
 *
 * <p>While the connection is away a wait goes on; if the session is lost it goes on with the coordinator's next one,
 * because a waiter owns nothing. {@link #set} and {@link #remove} get over lost connections by themselves and fail with
 * {@link io.conclave.error.SessionGoneException} if the session is lost; they may be called again. Immutable and
 * thread-safe; making one costs nothing.
 */
public final class Barrier {
    private final Coordinator coordinator;
    private final NodePath path;

    private Barrier(Coordinator coordinator, NodePath path) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.path = path;
    }

    /**
     * The barrier at a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static Barrier at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** The barrier at a path. */
    public static Barrier at(Coordinator coordinator, NodePath path) {
        RecipePaths.requireOwn(path, "a barrier");
        return new Barrier(coordinator, path);
    }

    /**
     * Puts the barrier in place; it succeeds if it is there already. A call sets the barrier once at most: after a lost
     * reply it does not set it again if it may have been removed since. Blocks until the backend has confirmed it.
     *
     * @throws InterruptedException if the thread is interrupted; it may be in place nevertheless
     * @throws io.conclave.error.OutcomeUnknownException if a reply was lost, the barrier is not in place now, and
     *     znodes beside it have come or gone meanwhile: so the barrier was either set and removed by another client, or
     *     never set; or the backend refuses to tell. Ask {@link #isSet}, and call again if it should be in place
     * @throws io.conclave.error.ConclaveException if it is refused, or the session is lost meanwhile; then it may have
     *     been set
     */
    public void set() throws InterruptedException {
        Waiting.await(RecipeAccess.session(coordinator), setAsync());
    }

    /** As {@link #set}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Void> setAsync() {
        return BarrierWrites.set(coordinator, path);
    }

    /**
     * Removes the barrier, so that all waiters continue; it succeeds if there is none. A call removes one barrier at
     * most: after a lost reply it leaves one alone that was set since. Blocks until the backend has confirmed it.
     *
     * @throws InterruptedException if the thread is interrupted; it may be removed anyway
     * @throws io.conclave.error.OutcomeUnknownException if a reply was lost, and the backend refuses to tell what
     *     became of it. Ask {@link #isSet}, and call again if it should be removed
     * @throws io.conclave.error.ConclaveException if it is refused, or the session is lost meanwhile
     */
    public void remove() throws InterruptedException {
        Waiting.await(RecipeAccess.session(coordinator), removeAsync());
    }

    /** As {@link #remove}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Void> removeAsync() {
        return BarrierWrites.remove(coordinator, path);
    }

    /**
     * Whether the barrier is in place. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public boolean isSet() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), look());
    }

    /** As {@link #isSet()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> isSetAsync() {
        return RecipeAccess.session(coordinator).onListenerThread("look at " + path, look());
    }

    private CompletionStage<Boolean> look() {
        return RecipeAccess.read(coordinator, Exists.of(path)).thenApply(Optional::isPresent);
    }

    /**
     * Waits without a limit of time until the barrier is not in place; returns at once if it is not.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws io.conclave.error.ClosedException if the coordinator is closed
     * @throws io.conclave.error.RefusedException if the backend does not let us look
     */
    public void await() throws InterruptedException {
        awaiting().await();
    }

    /**
     * As {@link #await()}, with a limit of time. With a limit of zero it looks once.
     *
     * @param timeout how long at most; the first look needs a little, too
     * @throws io.conclave.error.WaitTimeoutException if the time is over
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout
     * @throws IllegalArgumentException if the timeout is negative
     */
    public void await(Duration timeout) throws InterruptedException {
        awaiting().await(timeout);
    }

    /** Waits without blocking. Completes on a listener thread; cancelling it leaves nothing behind. */
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
        return ZnodeWait.untilRemoved(coordinator, path);
    }

    /** The barrier's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    @Override
    public String toString() {
        return "Barrier[" + path + ", " + coordinator + "]";
    }
}
