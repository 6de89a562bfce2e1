package io.conclave.recipe;

import io.conclave.error.ConclaveException;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** What recipes do with stages: they wait for them, or go on when they are done. */
public final class Waiting {
    private static final int MAX_CALLERS = 8;
    private static final Duration LONGEST_IN_WORDS = Duration.ofDays(10);

    private Waiting() {}

    /**
     * Waits for a stage and answers with its result. A failure is thrown with the stack of the calling thread, and with
     * the failure of the stage as its cause.
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
            throw here(cause(e));
        } catch (CancellationException e) {
            throw here(e);
        }
    }

    /**
     * As {@link #await(RecipeSession, CompletionStage)}, for a limited time.
     *
     * @param tooLate is thrown if the stage is not done by then; it is left alone
     */
    public static <R> R await(
            RecipeSession session,
            CompletionStage<R> stage,
            Duration timeout,
            Supplier<? extends RuntimeException> tooLate)
            throws InterruptedException {
        await(session, atMost(session.time(), timeout, stage));
        if (!stage.toCompletableFuture().isDone()) {
            throw tooLate.get();
        }
        return await(session, stage);
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

    /**
     * Waits, whatever interrupts come, until nothing of a grant is left, or the session that owned it is surely gone.
     * Not on the session's dispatcher, which would wait for itself: the deletion goes on.
     */
    public static void awaitGone(RecipeSession session, CompletionStage<Void> gone) {
        if (gone.toCompletableFuture().isDone() || session.isDispatcherThread()) {
            return;
        }
        Duration remaining = session.remaining();
        Duration bound = remaining.compareTo(session.sessionTimeout()) < 0 ? remaining : session.sessionTimeout();
        awaitUninterruptibly(session, atMost(session.time(), bound, gone));
    }

    /**
     * A stage that completes with the given one, or normally once the bound has passed on the clock; never
     * exceptionally.
     */
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
     * Goes on with the result of a stage, or with its failure without the wrapper of dependent stages: at once if it is
     * done, else on the thread that completes it.
     */
    public static <R> void whenDone(
            CompletionStage<R> stage, Consumer<? super R> onResult, Consumer<? super Throwable> onFailure) {
        stage.whenComplete((result, failure) -> {
            if (failure == null) {
                onResult.accept(result);
            } else {
                onFailure.accept(cause(failure));
            }
        });
    }

    /** What a read answers with; empty if the znode is not there. */
    public static <R> CompletionStage<Optional<R>> ifThere(CompletionStage<R> read) {
        return read.thenApply(Optional::of)
                .exceptionallyCompose(failure -> Failures.isNoNode(cause(failure))
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : CompletableFuture.failedFuture(failure));
    }

    /** What several stages answer with, in their order. */
    public static <R> CompletableFuture<List<R>> all(Stream<? extends CompletionStage<R>> stages) {
        List<CompletableFuture<R>> all =
                stages.map(CompletionStage::toCompletableFuture).toList();
        return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> all.stream().map(CompletableFuture::join).toList());
    }

    /** The stage for an application: a continuation gets the failure itself, not the wrapper of dependent stages. */
    public static <R> CompletableFuture<R> unwrapped(CompletionStage<R> stage) {
        CompletableFuture<R> plain = new CompletableFuture<>();
        forward(stage, plain);
        return plain;
    }

    /** Completes a stage as another one, with a failure without the wrapper. */
    public static <R> void forward(CompletionStage<? extends R> from, CompletableFuture<R> to) {
        whenDone(from, to::complete, to::completeExceptionally);
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

    /**
     * The failure to throw in the calling thread. One of our exceptions is copied: the copy has the caller's stack, and
     * the original as its cause. Any other exception comes from the application's own code, and is thrown itself, with
     * the caller's stack as a suppressed exception.
     */
    private static RuntimeException here(Throwable failure) {
        if (failure instanceof ConclaveException ours) {
            return ours.withCallersStack();
        }
        if (failure instanceof CancellationException
                || !(failure instanceof RuntimeException || failure instanceof Error)) {
            CancellationException cancelled = new CancellationException(String.valueOf(failure));
            cancelled.initCause(failure);
            return cancelled;
        }
        noteCaller(failure);
        if (failure instanceof Error error) {
            throw error;
        }
        return (RuntimeException) failure;
    }

    /** One failure may be told to many callers; the first ones are enough to find the code. */
    private static void noteCaller(Throwable failure) {
        if (failure.getSuppressed().length < MAX_CALLERS) {
            failure.addSuppressed(new WaitedFor(Thread.currentThread().getName()));
        }
    }

    /** Shows in a stack trace who waited for what failed elsewhere. */
    private static final class WaitedFor extends Exception {
        private static final long serialVersionUID = 1L;

        WaitedFor(String thread) {
            super("Waited for by the thread " + thread);
        }
    }

    /** A duration for messages: "80 ms", "2.5 s", "10 min". */
    public static String text(Duration duration) {
        long millis = duration.compareTo(LONGEST_IN_WORDS) > 0 ? Long.MAX_VALUE : duration.toMillis();
        if (millis == Long.MAX_VALUE) {
            return duration.toDays() + " days";
        }
        if (millis < 1000) {
            return millis == 0 && !duration.isZero() ? duration.toNanos() / 1000 + " us" : millis + " ms";
        }
        if (millis < 120_000) {
            String seconds = Long.toString(millis / 1000);
            return millis % 1000 == 0 ? seconds + " s" : seconds + "." + millis % 1000 / 100 + " s";
        }
        return millis / 60_000 + " min";
    }
}
