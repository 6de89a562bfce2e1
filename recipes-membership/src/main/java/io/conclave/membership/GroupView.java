package io.conclave.membership;

import io.conclave.error.WaitTimeoutException;
import io.conclave.session.Registration;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A live view of a group: its members, kept up to date until it is closed. Thread-safe.
 *
 * <p>It costs one watch; a member that joins or changes its payload costs one event and one read, one that leaves one
 * event. On Apache ZooKeeper before 3.6, which has one-shot watches only, a member that joins or leaves costs a list of
 * the group.
 *
 * <p>While the connection is away the last state stands, and {@link #isCurrent} is false. When it is back, or on the
 * coordinator's next session, the group is read again and the difference is told: nothing is missed, but a member that
 * came and went in between.
 *
 * @param <P> the type of the payloads
 */
public interface GroupView<P> extends AutoCloseable {
    /** The state now; of number 0 and empty before the first one is known. Never blocks. */
    GroupSnapshot<P> snapshot();

    /** Whether the view follows the group now. Never blocks. */
    boolean isCurrent();

    /**
     * How old the state may be: zero while the view follows the group, else the time since it last did, or since it was
     * made if it has no state yet. It counts from when the loss of the connection was noticed. By the coordinator's
     * clocks. Never blocks.
     */
    Duration age();

    /**
     * Completes on a listener thread with the first state; fails with {@link io.conclave.error.ClosedException} if the
     * view or the coordinator is closed before that.
     */
    CompletableFuture<GroupSnapshot<P>> firstSnapshot();

    /**
     * Waits for the first state. Blocks.
     *
     * @throws WaitTimeoutException if it does not come in time
     * @throws InterruptedException if the thread is interrupted
     */
    GroupSnapshot<P> awaitFirstSnapshot(Duration timeout) throws InterruptedException;

    /**
     * Tells a listener of the present state, with all of its members as joined, and then of every later one. The latest
     * state always comes; those that follow each other more quickly than the listener returns come together, in one
     * difference. It is called serially on a listener thread and may block; what it throws is logged.
     */
    Registration onChange(Consumer<? super GroupUpdate<P>> listener);

    /** Ends the view; a call of a listener that is under way may still be seen. Idempotent, never blocks. */
    @Override
    void close();
}
