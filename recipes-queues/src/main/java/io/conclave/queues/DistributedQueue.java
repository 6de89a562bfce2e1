package io.conclave.queues;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.SessionGoneException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A queue that all processes share that use the same path: first in, first out. A claimed item that comes back keeps
 * its place.
 *
 * <p>For what consumers get, what happens on failures, and the znodes see {@link ItemQueue}. A put is done once it has
 * returned, on a majority's disks if the backend has them; if its reply is lost the item is not put twice. With a bound
 * a put waits for room ({@link #withBound}).
 *
 * @param <T> the type of the items
 */
public final class DistributedQueue<T> extends ItemQueue<T> {
    private DistributedQueue(Coordinator coordinator, QueueLayout layout, DataCodec<T> codec, QueueOptions options) {
        super(coordinator, layout, codec, options, ItemOrder.BY_SEQUENCE);
    }

    /**
     * The queue at a path.
     *
     * @param codec turns items into bytes and back, the same for all users of the queue
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static <T> DistributedQueue<T> at(Coordinator coordinator, String path, DataCodec<T> codec) {
        return at(coordinator, NodePath.of(path), codec);
    }

    /** As {@link #at(Coordinator, String, DataCodec)}. */
    public static <T> DistributedQueue<T> at(Coordinator coordinator, NodePath path, DataCodec<T> codec) {
        return new DistributedQueue<>(coordinator, QueueLayout.within(path), codec, QueueOptions.DEFAULT);
    }

    /**
     * The same queue; puts wait while it has that many items, claimed ones included and dead ones not. The bound holds
     * among all producers that give the same; a put without one does not look. Producers stand in a line of their own,
     * and a consumer wakes one.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public DistributedQueue<T> withBound(int items) {
        return with(options().withBound(items));
    }

    /**
     * The same queue; an item claimed through it comes back if it is not acknowledged within this time. Five minutes if
     * not set. It is measured by the consumer's own clocks, from before the claim was sent; no other clock matters,
     * since the claim goes with its session.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public DistributedQueue<T> withVisibility(Duration duration) {
        return with(options().withVisibility(duration));
    }

    /**
     * The same queue; an item that was delivered this often is not claimed through it any more, but goes to the
     * {@link #deadLetters()}. 10 if not set.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public DistributedQueue<T> withMaxDeliveries(int number) {
        return with(options().withMaxDeliveries(number));
    }

    private DistributedQueue<T> with(QueueOptions options) {
        return new DistributedQueue<>(coordinator(), layout(), codec(), options);
    }

    /**
     * Puts an item. Blocks until it is there; with a bound, until there is room.
     *
     * @throws InterruptedException if the thread is interrupted; the item may be put anyway
     * @throws SessionGoneException if the session is lost meanwhile; the item may be put anyway
     * @throws io.conclave.error.OutcomeUnknownException if it cannot be found out whether it was put, because an
     *     operator deletes znodes of the queue, or the backend refuses to tell
     * @throws io.conclave.error.ConclaveException if it was refused
     * @throws IllegalArgumentException if the item has more than {@value ItemQueue#MAX_BYTES} bytes
     */
    public void put(T item) throws InterruptedException {
        putting(item, ItemName::toCreate).begin(Optional.empty()).await();
    }

    /**
     * As {@link #put(Object)}, with a limit of time for the wait for room; whether it was put. To get the turn and to
     * look for room needs a round trip or two, which count. With a limit of zero the item is put if there is room now
     * and no other producer waits. Without a bound the time does not matter.
     *
     * @throws io.conclave.error.NotConnectedException if the limit is zero, the queue has a bound, and the store does
     *     not answer within the try timeout; the item is not put. If it is on its way by then, the call ends when it
     *     is known what became of it
     * @throws IllegalArgumentException if the time is negative
     */
    public boolean put(T item, Duration timeout) throws InterruptedException {
        return putting(item, ItemName::toCreate).within(timeout).await();
    }

    /**
     * As {@link #put(Object)}, without blocking. Completes on a listener thread. What is put while another is on its
     * way goes along in one request. Cancelling it takes the item back if it is not on its way.
     */
    public CompletableFuture<Void> putAsync(T item) {
        return putting(item, ItemName::toCreate).begin(Optional.empty()).stage(done -> null);
    }

    /** As {@link #put(Object, Duration)}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> putAsync(T item, Duration timeout) {
        return putting(item, ItemName::toCreate).within(timeout).stage(Function.identity());
    }

    @Override
    public String toString() {
        return "DistributedQueue[" + path() + "]";
    }
}
