package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.grant.Acquirable;
import io.conclave.grant.Grant;
import io.conclave.grant.HeldCall;
import io.conclave.grant.HeldWork;
import io.conclave.line.Acquisition;
import io.conclave.line.WhileHeld;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Every form of acquiring, from three kinds of wait.
 *
 * @param <G> the kind of grant
 */
abstract class AcquiredByWaiting<G extends Grant> implements Acquirable<G> {
    /** Waits without a limit of time. Never blocks. */
    abstract Acquisition<G> waitFor();

    /** Waits with a limit of time. Never blocks. */
    abstract Acquisition<G> waitFor(Duration timeout);

    /** Waits for the store's answer only. Never blocks. */
    abstract Acquisition<G> ifFree();

    @Override
    public G acquire() throws InterruptedException {
        return waitFor().await();
    }

    // So far acquire(). From here on its other forms.

    @Override
    public G acquire(Duration timeout) throws InterruptedException {
        return waitFor(timeout).await();
    }

    @Override
    public CompletableFuture<G> acquireAsync() {
        return waitFor().stage(Grant::closeAsync);
    }

    @Override
    public CompletableFuture<G> acquireAsync(Duration timeout) {
        return waitFor(timeout).stage(Grant::closeAsync);
    }

    @Override
    public Optional<G> tryAcquire() throws InterruptedException {
        return tryWith(ifFree());
    }

    @Override
    public CompletableFuture<Optional<G>> tryAcquireAsync() {
        return ifFree().stageIfFree(Grant::closeAsync);
    }

    static <G> Optional<G> tryWith(Acquisition<G> ifFree) throws InterruptedException {
        try {
            return Optional.of(ifFree.await());
        } catch (AcquireTimeoutException e) {
            return Optional.empty();
        }
    }

    @Override
    public <X extends Exception> void whileHeld(Duration timeout, HeldWork<? super G, X> work)
            throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        WhileHeld.run(acquire(timeout), work);
    }

    @Override
    public <X extends Exception> void whileHeld(HeldWork<? super G, X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        WhileHeld.run(acquire(), work);
    }

    @Override
    public <R extends @Nullable Object, X extends Exception> R callWhileHeld(
            Duration timeout, HeldCall<? super G, R, X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        return WhileHeld.call(acquire(timeout), work);
    }

    @Override
    public <R extends @Nullable Object, X extends Exception> R callWhileHeld(HeldCall<? super G, R, X> work)
            throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        return WhileHeld.call(acquire(), work);
    }
}
