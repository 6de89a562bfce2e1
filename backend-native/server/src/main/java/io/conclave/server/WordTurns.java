package io.conclave.server;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Four-letter words that list all connections, sessions or watches: one is answered at a time, some wait, and others
 * are told to come again. So their texts, of many MB each, do not add up. Thread-safe; does not block.
 */
final class WordTurns {
    /** The answer to a word that finds no room. */
    static final String BUSY = "This server is busy with other such words. Ask again in a moment.\n";

    static final int MOST_WAITING = 16;

    private final Runnable onBusy;

    // Both: @GuardedBy("this").
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private boolean underWay;

    /** @param onBusy called for each word that finds no room */
    WordTurns(Runnable onBusy) {
        this.onBusy = onBusy;
    }

    /** The answer to a word, which is begun when its turn comes; the next one has its turn when it is complete. */
    CompletionStage<String> answer(Supplier<CompletionStage<String>> word) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        synchronized (this) {
            if (underWay && waiting.size() >= MOST_WAITING) {
                onBusy.run();
                return CompletableFuture.completedStage(BUSY);
            }
            if (underWay) {
                waiting.add(() -> begin(word, answer));
                return answer;
            }
            underWay = true;
        }
        begin(word, answer);
        return answer;
    }

    private void begin(Supplier<CompletionStage<String>> word, CompletableFuture<String> answer) {
        begun(word).whenComplete((text, failure) -> {
            if (failure == null) {
                answer.complete(text);
            } else {
                answer.completeExceptionally(failure);
            }
            next();
        });
    }

    private static CompletionStage<String> begun(Supplier<CompletionStage<String>> word) {
        try {
            return word.get();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private void next() {
        Runnable turn;
        synchronized (this) {
            turn = waiting.poll();
            underWay = turn != null;
        }
        if (turn != null) {
            turn.run();
        }
    }
}
