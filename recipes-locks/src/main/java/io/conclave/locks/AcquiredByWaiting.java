package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.grant.Acquirable;
import io.conclave.grant.Grant;
import io.conclave.grant.HeldCall;
import io.conclave.grant.HeldWork;
import io.conclave.line.Acquisition;
import io.conclave.line.GrantRequest;
import io.conclave.line.WhileHeld;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Every form of acquiring, from one way to ask.
 *
 * @param <G> the kind of grant
 */
abstract class AcquiredByWaiting<G extends Grant> implements Acquirable<G> {
    /**
     * A request that is under way.
     *
     * @param grant makes the grant, once the request is granted
     */
    record Entered<G>(GrantRequest request, Supplier<G> grant) {}

    /**
     * Asks for it. Never blocks.
     *
     * @param patient false to give up at once where somebody must be waited for
     */
    abstract Entered<G> enter(boolean patient);

    /** Waits without a limit of time. Never blocks. */
    final Acquisition<G> waitFor() {
        Entered<G> entered = enter(true);
        return Acquisition.of(entered.request, entered.grant);
    }

    @Override
    public G acquire() throws InterruptedException {
        return waitFor().await();
    }

    // So far acquire(). From here on its other forms.

    /** Waits with a limit of time. Never blocks. With a limit of zero no answer would ever be in time. */
    private Acquisition<G> waitFor(Duration timeout) {
        Waiting.checkedTimeout(timeout);
        if (timeout.isZero()) {
            return ifFree();
        }
        Entered<G> entered = enter(true);
        return Acquisition.of(entered.request, entered.grant, timeout);
    }

    /** Waits for the store's answer only. Never blocks. */
    final Acquisition<G> ifFree() {
        Entered<G> entered = enter(false);
        return Acquisition.ofTry(entered.request, entered.grant);
    }

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
        try {
            return Optional.of(ifFree().await());
        } catch (AcquireTimeoutException e) {
            return Optional.empty();
        }
    }

    @Override
    public CompletableFuture<Optional<G>> tryAcquireAsync() {
        return ifFree().stageIfFree(Grant::closeAsync);
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
