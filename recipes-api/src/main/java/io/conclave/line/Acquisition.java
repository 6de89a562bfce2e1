package io.conclave.line;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One wait for a grant: if it ends in any other way, the request leaves, and nothing of it stays behind.
 *
 * @param <G> the kind of grant
 */
public final class Acquisition<G> {
    /**
     * How long a failed wait goes on for the confirmation that the znode is gone, while there is a connection to
     * confirm it on; within the caller's limit of time.
     */
    private static final Duration CONFIRMATION_BOUND = Duration.ofSeconds(1);

    private static final Duration NO_LIMIT = Duration.ofSeconds(Long.MAX_VALUE);

    /** How long before the end of a wait it is asked who holds. */
    private static final Duration MAX_AHEAD = Duration.ofMillis(200);

    private final GrantRequest request;
    private final RecipeSession session;
    private final Duration limit;
    private final long beganNanos;
    private final CompletableFuture<G> outcome = new CompletableFuture<>();

    private Acquisition(GrantRequest request, Supplier<G> grant, Duration limit) {
        this.request = request;
        this.session = request.session();
        this.limit = limit;
        this.beganNanos = session.time().monotonicNanos();
        Waiting.whenDone(request.granted(), granted -> give(grant), this::failOnceGone);
    }

    /** Waits without a limit of time. Never blocks. */
    public static <G> Acquisition<G> of(GrantRequest request, Supplier<G> grant) {
        return new Acquisition<>(request, grant, NO_LIMIT);
    }

    private void give(Supplier<G> grant) {
        try {
            outcome.complete(grant.get());
        } catch (RuntimeException | Error e) {
            request.leave(new ClosedException("The grant could not be handed over: " + request)); // nobody has it
            outcome.completeExceptionally(e);
        }
    }

    /**
     * The blocking form.
     *
     * @throws InterruptedException if the thread is interrupted; the line is left
     * @throws IllegalStateException if called on the session's dispatcher; the line is left
     */
    public G await() throws InterruptedException {
        try {
            return Waiting.await(session, outcome);
        } catch (InterruptedException | RuntimeException | Error e) {
            giveUp();
            throw e;
        }
    }

    /** The blocking form that goes on through interrupts; the thread's interrupt flag is kept. */
    public G awaitUninterruptibly() {
        try {
            return Waiting.awaitUninterruptibly(session, outcome);
        } catch (RuntimeException | Error e) {
            giveUp();
            throw e;
        }
    }

    /** Nobody waits for the grant any more; if the wait had failed by itself, nothing is left to do. */
    private void giveUp() {
        request.leave(new ClosedException("The waiting thread gave up: " + request));
    }

    private void failOnceGone(Throwable cause) {
        CompletionStage<Void> gone = request.gone();
        Duration bound = confirmationBound();
        CompletionStage<Void> bounded = bound.isZero() || session.state() != SessionState.CONNECTED
                ? CompletableFuture.completedFuture(null)
                : Waiting.atMost(session.time(), bound, gone);
        bounded.thenRun(() -> outcome.completeExceptionally(cause));
    }

    /** A caller that gave a limit of time does not wait longer than that, unless others count it until it is gone. */
    private Duration confirmationBound() {
        if (request.countsUntilGone()) {
            return CONFIRMATION_BOUND;
        }
        Duration left = limit.minusNanos(session.time().monotonicNanos() - beganNanos);
        if (left.isNegative()) {
            return Duration.ZERO;
        }
        return left.compareTo(CONFIRMATION_BOUND) < 0 ? left : CONFIRMATION_BOUND;
    }

    // So far a blocking wait without a limit. From here on the limits of time, and the asynchronous form.

    /**
     * Waits until the timeout, then fails with {@link AcquireTimeoutException}; a grant that was given by then stays
     * given. With a limit of zero it waits for the store's answer alone, as {@link #ofTry} does. Never blocks.
     */
    public static <G> Acquisition<G> of(GrantRequest request, Supplier<G> grant, Duration timeout) {
        if (timeout.isZero()) {
            request.mustWait().thenRun(() -> request.giveUpWaiting(request.timedOut(timeout)));
            return ofTry(request, grant);
        }
        Acquisition<G> acquisition = new Acquisition<>(request, grant, timeout);
        TimeSource.Timer ahead =
                request.session().time().schedule(timeout.minus(askAhead(timeout)), request::timeIsRunningOut);
        request.granted().whenComplete((granted, failure) -> ahead.cancel());
        acquisition.endAfter(timeout, () -> request.timedOut(timeout));
        return acquisition;
    }

    /**
     * Waits only for the store to say whether the request, which does not wait for others, has it. If the store does
     * not say so within {@link RecipeSession#tryTimeout}, it fails with
     * {@link io.conclave.error.NotConnectedException}. Never blocks.
     */
    public static <G> Acquisition<G> ofTry(GrantRequest request, Supplier<G> grant) {
        RecipeSession session = request.session();
        Acquisition<G> acquisition = new Acquisition<>(request, grant, session.tryTimeout());
        acquisition.endAfter(session.tryTimeout(), () -> session.noAnswer(request.question(), request.withoutAnswer()));
        return acquisition;
    }

    private void endAfter(Duration time, Supplier<ConclaveException> why) {
        TimeSource.Timer timer =
                session.time().schedule(time, () -> request.session().execute(() -> request.giveUpWaiting(why.get())));
        request.granted().whenComplete((granted, failure) -> timer.cancel());
    }

    /** How long before the end of a wait it is asked who holds, so that the answer is there in time. */
    private static Duration askAhead(Duration timeout) {
        Duration half = timeout.dividedBy(2);
        return half.compareTo(MAX_AHEAD) < 0 ? half : MAX_AHEAD;
    }

    /**
     * The asynchronous form: completes on a listener thread. Cancelling it, or ending it in another way, leaves the
     * line; a grant that had come by then is given back.
     *
     * @param abandon gives a grant back that nobody takes
     */
    public CompletableFuture<G> stage(Consumer<G> abandon) {
        return stageOf(outcome, abandon);
    }

    /** As {@link #stage}, but somebody before us is no failure: empty. */
    public CompletableFuture<Optional<G>> stageIfFree(Consumer<G> abandon) {
        CompletableFuture<Optional<G>> ifFree = outcome.handle((grant, failure) -> {
            if (failure == null) {
                return Optional.of(grant);
            }
            if (Waiting.cause(failure) instanceof AcquireTimeoutException) {
                return Optional.empty();
            }
            throw new CompletionException(Waiting.cause(failure));
        });
        return stageOf(ifFree, grant -> grant.ifPresent(abandon));
    }

    /**
     * The application's own stage, which it may end as it likes; on threads that may reject, which must not lose the
     * grant.
     */
    private <T> CompletableFuture<T> stageOf(CompletableFuture<T> answer, Consumer<T> abandon) {
        CompletableFuture<T> stage = new CompletableFuture<>();
        Executor listeners = session.listenerThreads("acquiring " + request);
        stage.whenComplete((result, failure) -> {
            if (failure != null || !answer.isDone()) { // ended by the application, whichever way
                request.leave(new ClosedException("Cancelled: " + request));
            }
        });
        answer.whenComplete((result, failure) -> listeners.execute(() -> {
            if (failure != null) {
                stage.completeExceptionally(Waiting.cause(failure));
            } else if (!stage.complete(result)) {
                abandon.accept(result);
            }
        }));
        return stage;
    }
}
