package io.conclave.queues;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.SessionGoneException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A queue that all processes share that use the same path, whose items have a time each: none goes out before its time;
 * of those that are due the earliest goes first, of one time the oldest.
 *
 * <p><b>Whose clock.</b> The producer writes the time into the name of the item, from its own wall clock if it gives a
 * delay. The consumer compares it with its own wall clock. So an item goes out early by as much as the consumer's clock
 * is ahead of the producer's, and late by as much as it is behind; keep clocks together (NTP), and leave that much. A
 * consumer that waits notices within ten seconds that its clock was set.
 *
 * <p>A consumer that waits for an item's time is woken by an earlier one that is put meanwhile. It keeps its turn while
 * it waits, and takes when the time comes: one request later. For what consumers get, what happens on failures, and the
 * znodes see {@link ItemQueue}. {@link #tryTake} and {@link #tryClaim} see items that are due; {@link #count} counts
 * the others as well. A put is done once it has returned, on a majority's disks if the backend has them; if its reply
 * is lost the item is not put twice. With a bound a put waits for room ({@link #withBound}).
 *
 * <p><b>Beside Curator.</b> Names and data are those of Curator's {@code DistributedDelayQueue}, so that its producers
 * and consumers (without {@code lockPath}) and these may share a path. What else this queue needs is in
 * {@code <path>-conclave}. Take, do not claim, where consumers of Curator's are: they do not heed claims.
 *
 * @param <T> the type of the items
 */
public final class DistributedDelayQueue<T> extends ItemQueue<T> {
    /** The latest time of an item; a later one is refused. */
    public static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999Z");

    private DistributedDelayQueue(
            Coordinator coordinator, QueueLayout layout, DataCodec<T> codec, QueueOptions options) {
        super(coordinator, layout, codec, options, ItemOrder.BY_TIME);
    }

    /**
     * The queue at a path.
     *
     * @param codec turns items into bytes and back, the same for all users of the queue; in the znode the bytes stand
     *     in Curator's form, ten more
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static <T> DistributedDelayQueue<T> at(Coordinator coordinator, String path, DataCodec<T> codec) {
        return at(coordinator, NodePath.of(path), codec);
    }

    /** As {@link #at(Coordinator, String, DataCodec)}. */
    public static <T> DistributedDelayQueue<T> at(Coordinator coordinator, NodePath path, DataCodec<T> codec) {
        return new DistributedDelayQueue<>(
                coordinator, QueueLayout.besideCurator(path), CuratorItem.of(codec), QueueOptions.DEFAULT);
    }

    /** As {@link DistributedQueue#withBound}. */
    public DistributedDelayQueue<T> withBound(int items) {
        return with(options().withBound(items));
    }

    /** As {@link DistributedQueue#withVisibility}. */
    public DistributedDelayQueue<T> withVisibility(Duration duration) {
        return with(options().withVisibility(duration));
    }

    /** As {@link DistributedQueue#withMaxDeliveries}. */
    public DistributedDelayQueue<T> withMaxDeliveries(int number) {
        return with(options().withMaxDeliveries(number));
    }

    private DistributedDelayQueue<T> with(QueueOptions options) {
        return new DistributedDelayQueue<>(coordinator(), layout(), codec(), options);
    }

    /**
     * Puts an item that goes out after a delay, counted by this process's wall clock from this call on. Blocks until it
     * is there; with a bound, until there is room.
     *
     * @param delay how long it stays hidden; zero lets it go out at once
     * @throws InterruptedException if the thread is interrupted; the item may be put anyway
     * @throws SessionGoneException if the session is lost meanwhile; the item may be put anyway
     * @throws io.conclave.error.OutcomeUnknownException if it cannot be found out whether it was put, because an
     *     operator deletes znodes of the queue, or the backend refuses to tell
     * @throws io.conclave.error.ConclaveException if it was refused
     * @throws IllegalArgumentException if the item has more than {@value ItemQueue#MAX_BYTES} bytes, the delay is
     *     negative, or its end is after {@link #LATEST}
     */
    public void put(T item, Duration delay) throws InterruptedException {
        putAt(item, in(delay));
    }

    /**
     * As {@link #put(Object, Duration)}, with a limit of time for the wait for room; whether it was put. The delay
     * counts from the call on as well. Without a bound the limit does not matter; zero as in
     * {@link DistributedQueue#put(Object, Duration)}.
     *
     * @throws io.conclave.error.NotConnectedException as {@link DistributedQueue#put(Object, Duration)}
     * @throws IllegalArgumentException if the timeout is negative
     */
    public boolean put(T item, Duration delay, Duration timeout) throws InterruptedException {
        return putAt(item, in(delay), timeout);
    }

    /**
     * As {@link #put(Object, Duration)}, without blocking. Completes on a listener thread. What is put while another is
     * on its way goes along in one request. Cancelling it takes the item back if it is not on its way.
     */
    public CompletableFuture<Void> putAsync(T item, Duration delay) {
        return putAtAsync(item, in(delay));
    }

    /** As {@link #put(Object, Duration, Duration)}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> putAsync(T item, Duration delay, Duration timeout) {
        return putAtAsync(item, in(delay), timeout);
    }

    /**
     * As {@link #put(Object, Duration)}, with the time at which the item goes out; one in the past lets it go out at
     * once, before items of later times.
     *
     * @throws IllegalArgumentException if the time is before 1970 or after {@link #LATEST}
     */
    public void putAt(T item, Instant time) throws InterruptedException {
        putting(item, nameAt(time)).begin(Optional.empty()).await();
    }

    /**
     * As {@link #putAt(Object, Instant)}, with a limit of time for the wait for room; whether it was put. Without a
     * bound the limit does not matter; zero as in {@link DistributedQueue#put(Object, Duration)}.
     *
     * @throws io.conclave.error.NotConnectedException as {@link DistributedQueue#put(Object, Duration)}
     * @throws IllegalArgumentException if the timeout is negative
     */
    public boolean putAt(T item, Instant time, Duration timeout) throws InterruptedException {
        return putting(item, nameAt(time)).within(timeout).await();
    }

    /** As {@link #putAt(Object, Instant)}, without blocking; as {@link #putAsync(Object, Duration)}. */
    public CompletableFuture<Void> putAtAsync(T item, Instant time) {
        return putting(item, nameAt(time)).begin(Optional.empty()).stage(done -> null);
    }

    /** As {@link #putAt(Object, Instant, Duration)}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> putAtAsync(T item, Instant time, Duration timeout) {
        return putting(item, nameAt(time)).within(timeout).stage(Function.identity());
    }

    private Instant in(Duration delay) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("Invalid delay " + delay + ": it must not be negative");
        }
        Instant now =
                Instant.ofEpochMilli(RecipeAccess.session(coordinator()).time().wallMillis());
        if (delay.compareTo(Duration.between(now, LATEST)) > 0) {
            throw new IllegalArgumentException("Invalid delay " + delay + ": it must end by " + LATEST);
        }
        return now.plus(delay);
    }

    private static UnaryOperator<String> nameAt(Instant time) {
        if (time.isBefore(Instant.EPOCH) || time.isAfter(LATEST)) {
            throw new IllegalArgumentException(
                    "Invalid time " + time + ": it must be from " + Instant.EPOCH + " to " + LATEST);
        }
        long millis = time.plusNanos(999_999).toEpochMilli(); // rounded up: never early
        return guid -> ItemName.toCreateDelayed(guid, millis);
    }

    @Override
    public String toString() {
        return "DistributedDelayQueue[" + path() + "]";
    }
}
