package io.conclave.barriers;

import io.conclave.grant.Grant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A place inside a double barrier, from the moment when all were there. Its loss says that the others count this
 * process as gone, because its session was lost or its znode was deleted.
 *
 * <p>{@link #leave} waits for the others to leave as well; {@link #close} leaves without waiting, as a process that
 * dies does, and does not block the others.
 */
public interface Participation extends Grant {
    /**
     * Leaves, and waits without a limit of time until all have left. If the znode was deleted meanwhile it still waits
     * for the others. A second call waits as well.
     *
     * @throws InterruptedException if the thread is interrupted; the barrier is left, without having waited for the
     *     others
     * @throws io.conclave.error.SessionGoneException if the session was or is lost: the others have gone on without
     *     this process
     * @throws io.conclave.error.ClosedException if the coordinator is closed
     */
    void leave() throws InterruptedException;

    /**
     * As {@link #leave()}, with a limit of time. With a limit of zero it leaves, and looks once whether all have.
     *
     * @throws io.conclave.error.WaitTimeoutException if the time is over; the barrier is left anyway, and nothing stays
     *     behind
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout; likewise
     * @throws IllegalArgumentException if the timeout is negative
     */
    void leave(Duration timeout) throws InterruptedException;

    /**
     * As {@link #leave()}, without blocking. Completes on a listener thread; cancelling it leaves the barrier at once.
     */
    CompletableFuture<Void> leaveAsync();

    /**
     * As {@link #leaveAsync()}, with a limit of time after which it fails with
     * {@link io.conclave.error.WaitTimeoutException}.
     */
    CompletableFuture<Void> leaveAsync(Duration timeout);
}
