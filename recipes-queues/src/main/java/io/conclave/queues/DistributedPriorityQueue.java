package io.conclave.queues;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.SessionGoneException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A queue that all processes share that use the same path: the item with the lowest number goes first, as in Unix; of
 * one priority the oldest.
 *
 * <p>A consumer always works from a fresh list: a watch makes it stale as soon as an item is put or taken. So each turn
 * of a consumer reads the names of all items, which a FIFO queue's consumer does once for many; keep it short. For what
 * consumers get, what happens on failures, and the znodes see {@link ItemQueue}. A put is done once it has returned, on
 * a majority's disks if the backend has them; if its reply is lost the item is not put twice. With a bound a put waits
 * for room ({@link #withBound}).
 *
 * @param <T> the type of the items
 */
public final class DistributedPriorityQueue<T> extends ItemQueue<T> {
    /** The priority of what goes last; there is no larger number. */
    public static final int LAST_PRIORITY = ItemName.HIGHEST_PRIORITY_NUMBER;

    private DistributedPriorityQueue(
            Coordinator coordinator, QueueLayout layout, DataCodec<T> codec, QueueOptions options) {
        super(coordinator, layout, codec, options, ItemOrder.BY_PRIORITY);
    }

    /**
     * The queue at a path.
     *
     * @param codec turns items into bytes and back, the same for all users of the queue
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static <T> DistributedPriorityQueue<T> at(Coordinator coordinator, String path, DataCodec<T> codec) {
        return at(coordinator, NodePath.of(path), codec);
    }

    /** As {@link #at(Coordinator, String, DataCodec)}. */
    public static <T> DistributedPriorityQueue<T> at(Coordinator coordinator, NodePath path, DataCodec<T> codec) {
        return new DistributedPriorityQueue<>(coordinator, QueueLayout.within(path), codec, QueueOptions.DEFAULT);
    }

    /** As {@link DistributedQueue#withBound}. */
    public DistributedPriorityQueue<T> withBound(int items) {
        return with(options().withBound(items));
    }

    /** As {@link DistributedQueue#withVisibility}. */
    public DistributedPriorityQueue<T> withVisibility(Duration duration) {
        return with(options().withVisibility(duration));
    }

    /** As {@link DistributedQueue#withMaxDeliveries}. */
    public DistributedPriorityQueue<T> withMaxDeliveries(int number) {
        return with(options().withMaxDeliveries(number));
    }

    private DistributedPriorityQueue<T> with(QueueOptions options) {
        return new DistributedPriorityQueue<>(coordinator(), layout(), codec(), options);
    }

    /**
     * Puts an item. Blocks until it is there; with a bound, until there is room.
     *
     * @param priority from 0, the first to go, to {@value #LAST_PRIORITY}; of one priority the oldest goes first
     * @throws InterruptedException if the thread is interrupted; the item may be put anyway
     * @throws SessionGoneException if the session is lost meanwhile; the item may be put anyway
     * @throws io.conclave.error.OutcomeUnknownException if it cannot be found out whether it was put, because an
     *     operator deletes znodes of the queue, or the backend refuses to tell
     * @throws io.conclave.error.ConclaveException if it was refused
     * @throws IllegalArgumentException if the item has more than {@value ItemQueue#MAX_BYTES} bytes, or the priority is
     *     out of range
     */
    public void put(T item, int priority) throws InterruptedException {
        putting(item, nameWith(priority)).begin(Optional.empty()).await();
    }

    /**
     * As {@link #put(Object, int)}, with a limit of time for the wait for room; whether it was put. To get the turn and
     * to look for room needs a round trip or two, which count. With a limit of zero the item is put if there is room
     * now and no other producer waits. Without a bound the time does not matter.
     *
     * @throws io.conclave.error.NotConnectedException as {@link DistributedQueue#put(Object, Duration)}
     * @throws IllegalArgumentException if the time is negative
     */
    public boolean put(T item, int priority, Duration timeout) throws InterruptedException {
        return putting(item, nameWith(priority)).within(timeout).await();
    }

    /**
     * As {@link #put(Object, int)}, without blocking. Completes on a listener thread. What is put while another is on
     * its way goes along in one request. Cancelling it takes the item back if it is not on its way.
     */
    public CompletableFuture<Void> putAsync(T item, int priority) {
        return putting(item, nameWith(priority)).begin(Optional.empty()).stage(done -> null);
    }

    /** As {@link #put(Object, int, Duration)}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> putAsync(T item, int priority, Duration timeout) {
        return putting(item, nameWith(priority)).within(timeout).stage(Function.identity());
    }

    private static UnaryOperator<String> nameWith(int priority) {
        if (priority < 0 || priority > LAST_PRIORITY) {
            throw new IllegalArgumentException(
                    "Invalid priority " + priority + ": it must be from 0 to " + LAST_PRIORITY);
        }
        return guid -> ItemName.toCreate(guid, priority);
    }

    @Override
    public String toString() {
        return "DistributedPriorityQueue[" + path() + "]";
    }
}
