package io.conclave.config;

import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A write on a condition, which begins anew after each race that it loses, as long as somebody waits for it. An
 * application that was interrupted, or has cancelled the future, waits for it no more: then no further attempt begins.
 *
 * <p>However many attempts there are, only the present one is in memory.
 */
final class Attempts<T> {
    private static final int ATTEMPTS_WITHOUT_PAUSE = 2;
    private static final int LONGEST_PAUSE_MS = 64;

    private final Requests requests;
    private final BooleanSupplier isWanted;
    private final Supplier<CompletionStage<Optional<T>>> attempt;
    private final CompletableFuture<T> done;

    private Attempts(
            Requests requests,
            BooleanSupplier isWanted,
            Supplier<CompletionStage<Optional<T>>> attempt,
            CompletableFuture<T> done) {
        this.requests = requests;
        this.isWanted = isWanted;
        this.attempt = attempt;
        this.done = done;
    }

    /**
     * Makes the first attempt for one call of the application. The answer completes on a listener thread.
     *
     * @param attempt empty if it has lost a race
     */
    static <T> CompletableFuture<T> start(
            Requests requests, String what, Supplier<CompletionStage<Optional<T>>> attempt) {
        CompletableFuture<T> done = new CompletableFuture<>();
        CompletableFuture<T> call = requests.onListenerThread(what, done);
        new Attempts<>(requests, () -> !call.isDone(), attempt, done).make(1);
        return call;
    }

    /**
     * Makes the first attempt for several calls. The answer completes where the attempt does; it is cancelled if an
     * attempt is to begin that nobody wants.
     *
     * @param isWanted asked before each attempt
     * @param attempt empty if it has lost a race
     */
    static <T> CompletableFuture<T> whileWanted(
            Requests requests, BooleanSupplier isWanted, Supplier<CompletionStage<Optional<T>>> attempt) {
        CompletableFuture<T> done = new CompletableFuture<>();
        new Attempts<>(requests, isWanted, attempt, done).make(1);
        return done;
    }

    private void make(int number) {
        CompletionStage<Optional<T>> made;
        try {
            if (!isWanted.getAsBoolean()) {
                done.cancel(false);
                return;
            }
            made = attempt.get();
        } catch (RuntimeException e) {
            done.completeExceptionally(e);
            return;
        }
        Waiting.whenDone(
                made,
                result -> result.ifPresentOrElse(done::complete, () -> makeLater(number + 1)),
                done::completeExceptionally);
    }

    private void makeLater(int number) {
        try {
            RecipeSession session = requests.session();
            Runnable next = () -> session.execute(() -> make(number));
            Duration pause = pauseAfter(number - 1);
            if (pause.isZero()) {
                next.run();
            } else {
                session.time().schedule(pause, next);
            }
        } catch (RuntimeException e) {
            done.completeExceptionally(e);
        }
    }

    /** None at first, then longer and longer at random, so that many come through one after the other. */
    private static Duration pauseAfter(int lostRaces) {
        if (lostRaces <= ATTEMPTS_WITHOUT_PAUSE) {
            return Duration.ZERO;
        }
        int mostMs = Math.min(LONGEST_PAUSE_MS, 1 << Math.min(lostRaces - ATTEMPTS_WITHOUT_PAUSE, 10));
        return Duration.ofMillis(ThreadLocalRandom.current().nextInt(1, mostMs + 1));
    }
}
