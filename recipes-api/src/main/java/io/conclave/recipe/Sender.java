package io.conclave.recipe;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.request.Request;
import io.conclave.request.Sync;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Sends requests over one session and calls back with their answers, on the session's dispatcher. To be called there as
 * well.
 *
 * <p>A request whose reply is lost fails with {@link OutcomeUnknownException}. For a read there is nothing to find out:
 * it is sent again. It then waits for a connection in the session's queue, so sending it again does not spin.
 */
@FunctionalInterface
public interface Sender {
    /**
     * Sends a request.
     *
     * @param onFailure is given one of the kinds of failure (see {@link io.conclave.error}), unwrapped
     */
    <R> void send(Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure);

    /** Sends a request; the stage completes on the dispatcher, as {@link #send} tells it. */
    default <R> CompletableFuture<R> stage(Request<R> request) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        send(request, answer::complete, answer::completeExceptionally);
        return answer;
    }

    /**
     * Sends a read, again for as long as its reply is lost.
     *
     * @param onFailure is given one of the kinds of failure, but never {@link OutcomeUnknownException}
     */
    default <R> void read(Request<R> read, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        send(read, onAnswer, orAgain(() -> read(read, onAnswer, onFailure), onFailure));
    }

    /**
     * Reads what is no older than the outcome of any request of this session that failed before: a sync, and the read
     * behind its answer. Both are sent again for as long as a reply is lost.
     *
     * <p>One after the other, because what comes by another connection than the sync may be older. What such a look
     * does not show had no effect, and never will.
     *
     * @param path what is read
     * @param onFailure is given one of the kinds of failure, but never {@link OutcomeUnknownException}
     */
    default <R> void readLatest(
            NodePath path, Request<R> read, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        Consumer<Throwable> failed = orAgain(() -> readLatest(path, read, onAnswer, onFailure), onFailure);
        send(Sync.of(path), synced -> send(read, onAnswer, failed), failed);
    }

    private static Consumer<Throwable> orAgain(Runnable again, Consumer<? super Throwable> onFailure) {
        return cause -> {
            if (cause instanceof OutcomeUnknownException) {
                again.run();
            } else {
                onFailure.accept(cause);
            }
        };
    }
}
