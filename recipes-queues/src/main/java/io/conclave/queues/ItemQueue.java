package io.conclave.queues;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * What queues have in common: how items leave them. There are two ways, and consumers of both kinds may share a queue.
 *
 * <ul>
 *   <li>{@link #take()}: the item is deleted and given to one consumer, at most once. If the consumer dies, or its
 *       session ends before the reply, the item is lost.
 *   <li>{@link #claim()}: the item is hidden and given to one consumer at a time until one acknowledges it, at least
 *       once. It comes back when its consumer's session ends, when its visibility deadline passes, or when it is given
 *       back; an item that was delivered too often goes to the {@link #deadLetters()} instead.
 * </ul>
 *
 * <p>Waiting consumers stand in a line, one place for each session; only the one at the head looks at the items, so a
 * new item wakes one process, and what a take costs does not grow with the number of consumers. A process whose turn it
 * is takes as many items as its callers wait for, 16 at most if others wait. Should it be stopped at that very moment,
 * the others wait until its session has expired.
 *
 * <p>While the connection is away everything waits. If the session is lost, waiting calls fail with
 * {@link SessionGoneException}, claims end ({@link ClaimEnd#SESSION_LOST}), and a new call uses the coordinator's next
 * session. Waits that time out, are interrupted or cancelled leave nothing behind: an item that had come by then goes
 * back to its place.
 *
 * <p>The znodes are those of the ZooKeeper recipes page: an item is a child of the queue's znode named
 * {@code queue-<sequence>}, or {@code queue-<priority>-<sequence>}, here with {@code _c_<guid>-} before it; or as in
 * Curator's delay queue, {@code queue-<guid>-|<time>|<sequence>}. Claims
 * ({@code claim-<item>}, ephemeral) are its neighbours. Besides there are {@code consumers} and {@code producers}
 * (lines), {@code witnesses} (commit markers, which tell after a lost reply what took effect) and {@code dead} (a
 * queue). Immutable and thread-safe; making one costs nothing.
 *
 * @param <T> the type of the items
 */
public abstract sealed class ItemQueue<T> permits DistributedQueue, DistributedPriorityQueue, DistributedDelayQueue {
    /**
     * The most bytes of an item. A queue is for small items; what is large is kept elsewhere, and its address queued.
     */
    public static final int MAX_BYTES = 900_000;

    private final Coordinator coordinator;
    private final QueueLayout layout;
    private final DataCodec<T> codec;
    private final QueueOptions options;
    private final ItemOrder order;

    ItemQueue(Coordinator coordinator, QueueLayout layout, DataCodec<T> codec, QueueOptions options, ItemOrder order) {
        RecipePaths.requireOwn(layout.path(), "a queue");
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.layout = layout;
        this.codec = Objects.requireNonNull(codec, "codec");
        this.options = options;
        this.order = order;
    }

    /**
     * Waits for an item without a limit of time, and takes it.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind, and an item that had come goes
     *     back
     * @throws SessionGoneException if the session is lost meanwhile; an item that was being taken may be lost with it
     * @throws OutcomeUnknownException if a reply was lost, and the item that was being taken is gone: another consumer
     *     has it, or, if an operator deletes znodes of the queue, this call may have taken it; or if the backend
     *     refuses to tell what became of it. Take again
     * @throws io.conclave.error.ConclaveException if no item can be taken
     * @throws RuntimeException what the codec throws; the item is a dead letter then
     */
    public T take() throws InterruptedException {
        return taking().inLine(Optional.empty()).await().orElseThrow();
    }

    /**
     * As {@link #take()}, with a limit of time; empty if there was no item until then. To get the turn and to look
     * needs a round trip or two, which count; with a limit of zero it is {@link #tryTake()}.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public Optional<T> take(Duration timeout) throws InterruptedException {
        return taking().within(timeout).await();
    }

    /**
     * Takes an item if there is one now, past waiting consumers; empty also if others were quicker again and again, and
     * if the server lags behind and the coordinator does not read linearizably. Blocks for the coordinator's try
     * timeout at most ({@link io.conclave.coordinator.CoordinatorBuilder#tryTimeout}, 1 second if not set). Otherwise
     * as {@link #take()}.
     *
     * @throws io.conclave.error.NotConnectedException if the store does not answer within the try timeout; an item that
     *     was taken by then goes back to its place
     */
    public Optional<T> tryTake() throws InterruptedException {
        return taking().atOnce().await();
    }

    /** As {@link #tryTake()}, without blocking. Completes on a listener thread; cancelling it leaves nothing behind. */
    public CompletableFuture<Optional<T>> tryTakeAsync() {
        return taking().atOnce().stage(Function.identity());
    }

    /** As {@link #take()}, without blocking. Completes on a listener thread; cancelling it leaves nothing behind. */
    public CompletableFuture<T> takeAsync() {
        return taking().inLine(Optional.empty()).stage(Optional::orElseThrow);
    }

    /**
     * As {@link #take(Duration)}, without blocking; with a limit of zero it is {@link #tryTakeAsync()}. Completes on a
     * listener thread; cancelling it leaves nothing behind.
     */
    public CompletableFuture<Optional<T>> takeAsync(Duration timeout) {
        return taking().within(timeout).stage(Function.identity());
    }

    /**
     * Waits for an item without a limit of time, and claims it.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if no item can be taken
     * @throws RuntimeException what the codec throws; the item is given back, and is a dead letter one day
     */
    public Claim<T> claim() throws InterruptedException {
        return claiming().inLine(Optional.empty()).await().orElseThrow();
    }

    /**
     * As {@link #claim()}, with a limit of time; empty if there was no item until then. To get the turn and to look
     * needs a round trip or two, which count; with a limit of zero it is {@link #tryClaim()}.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public Optional<Claim<T>> claim(Duration timeout) throws InterruptedException {
        return claiming().within(timeout).await();
    }

    /**
     * Claims an item if there is one now, past waiting consumers; empty also if others were quicker again and again.
     * Blocks for the coordinator's try timeout at most. Otherwise as {@link #claim()}.
     *
     * @throws io.conclave.error.NotConnectedException if the store does not answer within the try timeout; an item that
     *     was claimed by then is given back
     */
    public Optional<Claim<T>> tryClaim() throws InterruptedException {
        return claiming().atOnce().await();
    }

    /**
     * As {@link #tryClaim()}, without blocking. Completes on a listener thread; cancelling it leaves nothing behind.
     */
    public CompletableFuture<Optional<Claim<T>>> tryClaimAsync() {
        return claiming().atOnce().stage(Function.identity());
    }

    /** As {@link #claim()}, without blocking. Completes on a listener thread; cancelling it leaves nothing behind. */
    public CompletableFuture<Claim<T>> claimAsync() {
        return claiming().inLine(Optional.empty()).stage(Optional::orElseThrow);
    }

    /**
     * As {@link #claim(Duration)}, without blocking; with a limit of zero it is {@link #tryClaimAsync()}. Completes on
     * a listener thread; cancelling it leaves nothing behind.
     */
    public CompletableFuture<Optional<Claim<T>>> claimAsync(Duration timeout) {
        return claiming().within(timeout).stage(Function.identity());
    }

    /**
     * The items that were delivered too often, in the order of the queue's sequence: a queue of its own, whose items
     * can be taken and claimed, and never come back here by themselves.
     */
    public DistributedQueue<T> deadLetters() {
        return DistributedQueue.at(coordinator, layout.dead(), codec);
    }

    /**
     * How many items there are. Out of date as soon as it is known. Blocks; reads the names of all items.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public QueueCount count() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), readCount());
    }

    /** As {@link #count()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<QueueCount> countAsync() {
        return RecipeAccess.session(coordinator).onListenerThread("count of " + layout.path(), readCount());
    }

    private CompletionStage<QueueCount> readCount() {
        return names(layout.path())
                .thenCompose(children -> children.isEmpty() && !layout.isApart()
                        ? CompletableFuture.completedFuture(new QueueCount(0, 0, 0))
                        : names(layout.dead()).thenApply(dead -> {
                            int waiting = ItemName.unclaimed(children, ItemOrder.BY_SEQUENCE)
                                    .size();
                            int claimed = ItemName.all(children).size() - waiting;
                            return new QueueCount(
                                    waiting, claimed, ItemName.all(dead).size());
                        }));
    }

    /** The names of the children; none if there is no such znode. */
    private CompletionStage<List<String>> names(NodePath parent) {
        return Waiting.ifThere(RecipeAccess.read(coordinator, GetChildren.of(parent)))
                .thenApply(children -> children.map(GetChildren.Children::names).orElse(List.of()));
    }

    private Consumption<T> taking() {
        RecipeSession session = RecipeAccess.session(coordinator);
        return new Consumption<>(
                session,
                layout,
                order,
                pending(session, PendingTake.Mode.TAKE),
                one -> open(session, one),
                (one, item) -> session.execute(() -> Requeue.of(session, layout, one)));
    }

    private T decode(Delivery delivery) {
        return Objects.requireNonNull(codec.decode(delivery.data()), "what the codec makes of an item");
    }

    private T open(RecipeSession session, Delivery delivery) {
        try {
            return decode(delivery);
        } catch (Throwable e) { // Kotlin and Scala code may throw anything
            session.execute(() -> Requeue.toDeadLetters(session, layout, delivery));
            throw e;
        }
    }

    private Consumption<Claim<T>> claiming() {
        RecipeSession session = RecipeAccess.session(coordinator);
        return new Consumption<>(
                session,
                layout,
                order,
                pending(session, PendingTake.Mode.CLAIM),
                one -> claimed(session, one),
                (one, claim) -> claim.close());
    }

    private Claim<T> claimed(RecipeSession session, Delivery delivery) {
        try {
            T item = decode(delivery);
            return ClaimedItem.of(session, layout, delivery, item, options.visibility());
        } catch (Throwable e) { // Kotlin and Scala code may throw anything
            session.execute(() -> ClaimedItem.giveBack(session, layout, delivery));
            throw e;
        }
    }

    private PendingTake pending(RecipeSession session, PendingTake.Mode mode) {
        return new PendingTake(new PendingTake.Kind(mode, options.maxDeliveries()), session.time());
    }

    /** One call that puts an item, under the name that is made of its guid. */
    Production putting(T item, UnaryOperator<String> nameOf) {
        byte[] data = codec.encode(item);
        if (data.length > MAX_BYTES) {
            throw new IllegalArgumentException("Invalid item for " + layout.path() + ": it has " + data.length
                    + " bytes, and must not have more than " + MAX_BYTES);
        }
        return new Production(RecipeAccess.session(coordinator), layout, options.bound(), nameOf, data);
    }

    /** The queue's znode, in the coordinator's namespace. */
    public NodePath path() {
        return layout.path();
    }

    Coordinator coordinator() {
        return coordinator;
    }

    DataCodec<T> codec() {
        return codec;
    }

    QueueLayout layout() {
        return layout;
    }

    QueueOptions options() {
        return options;
    }
}
