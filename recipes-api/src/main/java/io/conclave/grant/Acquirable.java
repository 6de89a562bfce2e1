package io.conclave.grant;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Something that can be acquired, and is given back by closing its grant: a mutex, either half of a shared lock,
 * several locks at once, a permit of a semaphore. Code that does not care which takes an {@code Acquirable}.
 *
 * <p>All forms wait in the same line, first come, first served. However a wait ends without a grant, nothing of it
 * stays behind: at once, or as soon as the connection is back. While the connection is away a wait goes on; if the
 * session is lost it fails with {@link io.conclave.error.SessionGoneException}, and a new one uses the coordinator's
 * next session. Thread-safe.
 *
 * @param <G> the kind of grant
 */
public interface Acquirable<G extends Grant> {
    /**
     * Waits without a limit of time. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws io.conclave.error.SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if the store refuses it
     */
    G acquire() throws InterruptedException;

    /**
     * Waits with a limit of time. Blocks. With a limit of zero it acquires what is free, as {@link #tryAcquire()} does:
     * it waits for the store's answer, for the try timeout at most, and for no other contender.
     *
     * @param timeout how long at most
     * @throws io.conclave.error.AcquireTimeoutException if the time is over; with a limit of zero, if another one holds
     *     it or waits for it
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout
     * @throws IllegalArgumentException if the timeout is negative
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws io.conclave.error.SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if the store refuses it
     */
    G acquire(Duration timeout) throws InterruptedException;

    /**
     * Waits without blocking and without a limit of time. Completes on a listener thread, with what {@link #acquire()}
     * gives or throws. Cancelling the future leaves the line, or gives back what was granted by then.
     */
    CompletableFuture<G> acquireAsync();

    /**
     * As {@link #acquireAsync()}, with a limit of time after which it fails with {@link
     * io.conclave.error.AcquireTimeoutException}. With a limit of zero it acquires what is free, and may fail with
     * {@link io.conclave.error.NotConnectedException}, as {@link #acquire(Duration)} does.
     */
    CompletableFuture<G> acquireAsync(Duration timeout);

    /**
     * Acquires if the resource is free. Waits for the store's answer and for no other contender. What this coordinator
     * is giving back counts as free, once the store has confirmed it. Blocks for the coordinator's try timeout at most
     * ({@link io.conclave.coordinator.CoordinatorBuilder#tryTimeout}, 1 second if not set), with or without a
     * connection.
     *
     * @return empty if another one holds it or waits for it
     * @throws io.conclave.error.NotConnectedException if the store does not answer within the try timeout; nothing is
     *     held, and what was created is deleted as soon as the connection is back
     * @throws io.conclave.error.SessionGoneException if the session is lost meanwhile
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     */
    Optional<G> tryAcquire() throws InterruptedException;

    /** As {@link #tryAcquire()}, without blocking. Completes on a listener thread. */
    CompletableFuture<Optional<G>> tryAcquireAsync();

    /**
     * Acquires, does the work on the calling thread while the grant is held, and gives it back. The recommended form: a
     * loss is never silent. It interrupts the work, and the caller gets a {@link io.conclave.error.GrantLostException}
     * when the work has ended; what the work threw then is a suppressed exception of it.
     *
     * <p>An interrupt from elsewhere that comes before the loss stays; the work is interrupted a second time only if it
     * clears that flag and goes on. One that comes after the loss may be taken for that of the loss, because a thread
     * has one flag that does not tell which interrupt has set it. Work that closes the grant itself is not watched any
     * longer.
     *
     * @param timeout how long to wait at most; zero as in {@link #acquire(Duration)}
     * @throws io.conclave.error.GrantLostException if the grant was lost before the work ended
     * @throws io.conclave.error.AcquireTimeoutException if the time is over; the work was not begun
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout; the work was not begun
     * @throws X what the work throws
     * @throws InterruptedException if the thread is interrupted while it waits; the work was not begun
     */
    <X extends Exception> void whileHeld(Duration timeout, HeldWork<? super G, X> work) throws X, InterruptedException;

    /** As {@link #whileHeld(Duration, HeldWork)}, without a limit of time for the wait. */
    <X extends Exception> void whileHeld(HeldWork<? super G, X> work) throws X, InterruptedException;

    /** As {@link #whileHeld(Duration, HeldWork)}, with a result. */
    <R extends @Nullable Object, X extends Exception> R callWhileHeld(Duration timeout, HeldCall<? super G, R, X> work)
            throws X, InterruptedException;

    /** As {@link #callWhileHeld(Duration, HeldCall)}, without a limit of time for the wait. */
    <R extends @Nullable Object, X extends Exception> R callWhileHeld(HeldCall<? super G, R, X> work)
            throws X, InterruptedException;
}
