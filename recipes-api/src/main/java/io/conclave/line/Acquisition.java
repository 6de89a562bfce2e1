package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Waiting;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.spi.SessionState;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One wait for a grant: whatever way it ends other than with the grant, the contender leaves the line.
 *
 * @param <G> the kind of grant
 */
public final class Acquisition<G> {
    /** How long a failed wait goes on for the confirmation that the znode is gone, while there is a connection to confirm it on. */
    private static final Duration CONFIRMATION_BOUND = Duration.ofSeconds(1);

    private final Contender contender;
    private final RecipeSession session;
    private final CompletableFuture<G> outcome = new CompletableFuture<>();

    private Acquisition(Contender contender, Function<Contender, G> grant) {
        this.contender = contender;
        this.session = contender.session();
        contender.granted().whenComplete((granted, failure) -> {
            if (failure == null) {
                outcome.complete(grant.apply(granted));
            } else {
                failOnceGone(Waiting.cause(failure));
            }
        });
    }

    /** Waits without a limit of time. Never blocks. */
    public static <G> Acquisition<G> of(Contender contender, Function<Contender, G> grant) {
        return new Acquisition<>(contender, grant);
    }

    /**
     * Waits until the timeout, then fails with {@link AcquireTimeoutException}. Never blocks.
     *
     */
    public static <G> Acquisition<G> of(Contender contender, Function<Contender, G> grant, Duration timeout) {
        Acquisition<G> acquisition = new Acquisition<>(contender, grant);
        TimeSource.Timer timer = contender
                .session()
                .time()
                .schedule(
                        timeout,
                        () -> acquisition.contender.leave(
                                new AcquireTimeoutException("Not granted within " + timeout + ": " + contender)));
        contender.granted().whenComplete((granted, failure) -> timer.cancel());
        return acquisition;
    }

    private void failOnceGone(Throwable cause) {
        CompletionStage<Void> gone = contender.gone();
        CompletionStage<Void> bounded = session.state() == SessionState.CONNECTED
                ? Waiting.atMost(session.time(), CONFIRMATION_BOUND, gone)
                : CompletableFuture.completedFuture(null);
        bounded.thenRun(() -> outcome.completeExceptionally(cause));
    }

    /**
     * The asynchronous form: completes on a listener thread. Cancelling it leaves the line; a grant that had come by then is given back.
     *
     * @param abandon gives a grant back that nobody takes
     */
    public CompletableFuture<G> stage(Consumer<G> abandon) {
        CompletableFuture<G> stage = new CompletableFuture<>();
        Executor listeners = session.listenerExecutor();
        stage.whenComplete((grant, failure) -> {
            if (stage.isCancelled()) {
                contender.leave(new ClosedException("Cancelled: " + contender));
            }
        });
        outcome.whenComplete((grant, failure) -> listeners.execute(() -> {
            if (failure != null) {
                stage.completeExceptionally(Waiting.cause(failure));
            } else if (!stage.complete(grant)) {
                abandon.accept(grant);
            }
        }));
        return stage;
    }

    /**
     * The blocking form.
     *
     * @throws InterruptedException if the thread is interrupted; the line is left
     */
    public G await() throws InterruptedException {
        try {
            return Waiting.await(session, outcome);
        } catch (InterruptedException | IllegalStateException e) {
            contender.leave(new ClosedException("The waiting thread gave up: " + contender));
            throw e;
        }
    }

    /** The blocking form that goes on through interrupts; the thread's interrupt flag is kept. */
    public G awaitUninterruptibly() {
        return Waiting.awaitUninterruptibly(session, outcome);
    }
}
