package io.conclave.spring.cloud;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A question that many may ask while the store does not answer: it is sent once for all of them, and those that give up
 * leave nothing behind. An answer may be older than a question that came while it was on its way, so those that ask
 * meanwhile wait for the next one. Thread-safe.
 */
final class SharedAnswer<T> {
    private final Supplier<CompletableFuture<T>> question;
    // All below: @GuardedBy("this").
    private Set<CompletableFuture<T>> asked = new HashSet<>(); // wait for the answer that is on its way
    private Set<CompletableFuture<T>> waiting = new HashSet<>(); // wait for the next one
    private boolean isUnderWay;
    private boolean isAsking; // a thread is in the loop of askAll

    SharedAnswer(Supplier<CompletableFuture<T>> question) {
        this.question = question;
    }

    /** Never blocks. To be cancelled by those that do not wait any more. */
    CompletableFuture<T> get() {
        CompletableFuture<T> own = new CompletableFuture<>();
        synchronized (this) {
            waiting.add(own);
        }
        own.whenComplete((answer, failure) -> leave(own));
        askAll();
        return own;
    }

    @SuppressWarnings("CollectionUndefinedEquality") // the very same future is meant
    private synchronized void leave(CompletableFuture<T> own) {
        asked.remove(own);
        waiting.remove(own);
    }

    /** Asks until none waits or a question is on its way. A loop: an answer that is there at once has none nested. */
    private void askAll() {
        while (begins()) {
            CompletableFuture<T> answer;
            try {
                answer = question.get();
            } catch (Throwable e) { // also an error must not keep those that ask afterwards
                answer = CompletableFuture.failedFuture(e);
            }
            answer.whenComplete(this::onAnswer);
            synchronized (this) {
                isAsking = false;
            }
        }
    }

    private synchronized boolean begins() {
        if (isAsking || isUnderWay || waiting.isEmpty()) {
            return false;
        }
        asked = waiting;
        waiting = new HashSet<>();
        isUnderWay = true;
        isAsking = true;
        return true;
    }

    private void onAnswer(@Nullable T answer, @Nullable Throwable failure) {
        Set<CompletableFuture<T>> told;
        synchronized (this) {
            told = asked;
            asked = new HashSet<>();
            isUnderWay = false;
        }
        for (CompletableFuture<T> one : told) {
            if (failure == null) {
                one.complete(answer);
            } else {
                one.completeExceptionally(failure);
            }
        }
        askAll();
    }

    /** How many wait. */
    synchronized int size() {
        return asked.size() + waiting.size();
    }
}
