package io.conclave.server;

import io.conclave.consensus.AddressLines;
import io.conclave.consensus.HostNetwork;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Four-letter words of one kind: some are answered at a time, some wait, and others are told to come again. So the
 * texts of long ones, of many MB each, do not add up. Those that wait stand in {@linkplain AddressLines lines} by
 * address: one address that asks all the time delays another one by a word of its own, and keeps none out. Thread-safe;
 * does not block.
 */
final class WordTurns {
    /** The answer to a word that finds no room. */
    static final String BUSY = "This server is busy with other such words. Ask again in a moment.\n";

    private final int mostAtATime;
    private final int mostOfAnAddress;
    private final int most;
    private final Runnable onBusy;

    // Both: @GuardedBy("this").
    private final AddressLines<Runnable> waiting = new AddressLines<>();
    private int underWay;

    /**
     * Nobody has asked yet.
     *
     * @param mostAtATime that are answered
     * @param mostOfAnAddress that wait beside those
     * @param most that wait; beyond it the first one of an address is taken, up to as many again
     * @param onBusy called for each word that finds no room
     */
    WordTurns(int mostAtATime, int mostOfAnAddress, int most, Runnable onBusy) {
        this.mostAtATime = mostAtATime;
        this.mostOfAnAddress = mostOfAnAddress;
        this.most = most;
        this.onBusy = onBusy;
    }

    /** The answer to a word, which is begun when its turn comes; the next one has its turn when it is complete. */
    CompletionStage<String> answer(String host, Supplier<CompletionStage<String>> word) {
        String address = HostNetwork.of(host);
        CompletableFuture<String> answer = new CompletableFuture<>();
        synchronized (this) {
            if (underWay == mostAtATime) {
                if (!hasRoom(waiting.count(address))) {
                    onBusy.run();
                    return CompletableFuture.completedStage(BUSY);
                }
                waiting.add(address, () -> begin(word, answer));
                return answer;
            }
            underWay++;
        }
        begin(word, answer);
        return answer;
    }

    private boolean hasRoom(int ofAddress) {
        return ofAddress < mostOfAnAddress && waiting.count() < (ofAddress == 0 ? 2 * most : most);
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
            turn = waiting.next().orElse(null);
            underWay -= turn == null ? 1 : 0;
        }
        if (turn != null) {
            turn.run();
        }
    }
}
