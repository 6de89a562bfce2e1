package io.conclave.queues;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * An item that is ours to work on: hidden from others until it is acknowledged, given back, or taken from us.
 *
 * <p>It comes back to the queue when its deadline passes, which this process itself watches, and when the session is
 * lost, be it that the process died or could not be heard. From then on another consumer may have it, so work on an
 * item must bear being done twice; {@link #remaining()} says how long it surely is ours alone. It belongs to no thread;
 * everything here may be called from anywhere.
 *
 * @param <T> the type of the items
 */
public interface Claim<T> extends AutoCloseable {
    /** The item. */
    T item();

    /** How often the item was delivered, this time included; 1 for the first time. */
    int deliveries();

    /**
     * How long the item surely stays ours: until its deadline, and as long as the session lives if nothing more is
     * heard; zero when it is not. Never blocks.
     */
    Duration remaining();

    /** Whether the item is ours now. Never blocks. */
    default boolean isHeld() {
        return !remaining().isZero();
    }

    /**
     * The deadline is this long from now. Costs nothing, never blocks.
     *
     * @return whether the item is ours still
     * @throws IllegalArgumentException if the duration is not positive
     */
    boolean extend(Duration visibility);

    /**
     * The item is done: it is deleted. Blocks until the backend has confirmed it; while the connection is away it waits
     * for the next one. Acknowledgements of one queue that come while another is on its way share a transaction; each
     * has its own outcome. One that was called before the coordinator is closed goes out before its session ends.
     * Idempotent.
     *
     * @throws io.conclave.error.GrantLostException if the item was not ours any more: another consumer does it again
     * @throws io.conclave.error.SessionGoneException if the session is lost meanwhile: it may have been deleted or not
     * @throws io.conclave.error.ClosedException if the coordinator was closed before it was sent, because there was no
     *     connection say: the item comes back
     * @throws io.conclave.error.OutcomeUnknownException if the reply was lost, and the coordinator was closed or the
     *     backend refused to tell what became of it: the item may be done, or it comes back
     * @throws io.conclave.error.ConclaveException if the backend refused it
     * @throws InterruptedException if the thread is interrupted; the item may be acknowledged anyway
     */
    void acknowledge() throws InterruptedException;

    /** As {@link #acknowledge()}, without blocking. Completes on a listener thread. */
    CompletableFuture<Void> acknowledgeAsync();

    /**
     * Completes once, when the item is no longer claimed, with the reason. Its continuations run on the coordinator's
     * listener threads and may block.
     */
    CompletableFuture<ClaimEnd> ended();

    /**
     * Gives the item back, unless it was acknowledged: it is delivered again, in its old place in the order.
     * Idempotent, never blocks, never throws.
     */
    @Override
    void close();
}
