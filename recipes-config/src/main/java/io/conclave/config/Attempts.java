package io.conclave.config;

import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A call of the application that writes on a condition, and begins anew after each race that it loses. Once the
 * application waits for it no more, because it was interrupted or has cancelled the future, no further attempt begins.
 *
 * <p>However many attempts there are, only the present one is in memory.
 */
final class Attempts<T> {
    private final Requests requests;
    private final Supplier<CompletionStage<Optional<T>>> attempt;
    private final CompletableFuture<T> done = new CompletableFuture<>();
    private volatile boolean isGivenUp;

    private Attempts(Requests requests, Supplier<CompletionStage<Optional<T>>> attempt) {
        this.requests = requests;
        this.attempt = attempt;
    }

    /**
     * Makes the first attempt. The answer completes on a listener thread.
     *
     * @param attempt empty if it has lost a race
     */
    static <T> CompletableFuture<T> start(
            Requests requests, String what, Supplier<CompletionStage<Optional<T>>> attempt) {
        Attempts<T> attempts = new Attempts<>(requests, attempt);
        CompletableFuture<T> call = requests.forApplication(what, attempts.done);
        call.whenComplete((result, failure) -> attempts.isGivenUp = true);
        attempts.make(1);
        return call;
    }

    private void make(int number) {
        if (isGivenUp) {
            return; // nobody asks for the result
        }
        CompletionStage<Optional<T>> made;
        try {
            made = attempt.get();
        } catch (RuntimeException e) {
            done.completeExceptionally(e);
            return;
        }
        made.whenComplete((result, failure) -> {
            if (failure != null) {
                done.completeExceptionally(Waiting.cause(failure));
            } else if (result.isPresent()) {
                done.complete(result.get());
            } else {
                makeLater(number + 1);
            }
        });
    }

    private void makeLater(int number) {
        try {
            RecipeSession session = requests.session();
            session.time().schedule(Backoff.after(number - 1), () -> session.execute(() -> make(number)));
        } catch (RuntimeException e) {
            done.completeExceptionally(e);
        }
    }
}
