package io.conclave.coordinator;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** The thin blocking forms over stages, for recipes. */
public final class Waiting {
    private Waiting() {}

    /**
     * Waits for a stage and answers with its result.
     *
     * @throws InterruptedException if the thread is interrupted; the stage is left alone
     * @throws IllegalStateException if called on the session's dispatcher, which would wait for itself
     */
    public static <R> R await(RecipeSession session, CompletionStage<R> stage) throws InterruptedException {
        CompletableFuture<R> future = stage.toCompletableFuture();
        refuseOnDispatcher(session, future);
        if (Thread.interrupted()) { // a stage that is done already would not look
            throw new InterruptedException("Interrupted before waiting");
        }
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw unchecked(cause(e));
        }
    }

    /** Waits for a stage whatever interrupts come, and answers with its result; the thread's interrupt flag is kept. */
    public static <R> R awaitUninterruptibly(RecipeSession session, CompletionStage<R> stage) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return await(session, stage);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A stage that completes with the given one, or normally once the bound has passed on the clock; never exceptionally. */
    public static CompletionStage<Void> atMost(TimeSource time, Duration bound, CompletionStage<?> stage) {
        CompletableFuture<Void> either = new CompletableFuture<>();
        TimeSource.Timer timer = time.schedule(bound, () -> either.complete(null));
        stage.whenComplete((result, failure) -> {
            timer.cancel();
            either.complete(null);
        });
        return either;
    }

    /**
     * The timeout that an application has given. To be called before anything is sent.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public static Duration checkedTimeout(Duration timeout) {
        if (Objects.requireNonNull(timeout, "timeout").isNegative()) {
            throw new IllegalArgumentException("Invalid timeout " + timeout + ": it must not be negative");
        }
        return timeout;
    }

    /** The failure that a stage reports, without the wrapper that dependent stages put around it. */
    public static Throwable cause(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException || cause instanceof ExecutionException) {
            Throwable wrapped = cause.getCause();
            if (wrapped == null) {
                break;
            }
            cause = wrapped;
        }
        return cause;
    }

    private static void refuseOnDispatcher(RecipeSession session, CompletableFuture<?> future) {
        if (!future.isDone() && session.isDispatcherThread()) {
            throw new IllegalStateException(
                    "A blocking call on the session's dispatcher would wait for itself; use the asynchronous form");
        }
    }

    private static RuntimeException unchecked(Throwable cause) {
        if (cause instanceof RuntimeException runtime) {
            return runtime;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        CancellationException cancelled = new CancellationException(String.valueOf(cause));
        cancelled.initCause(cause);
        return cancelled;
    }
}
