package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class WordTurnsTest {
    private int busy;
    private final WordTurns turns = new WordTurns(() -> busy++);
    private final List<CompletableFuture<String>> begun = new ArrayList<>();

    private CompletionStage<String> begin() {
        CompletableFuture<String> text = new CompletableFuture<>();
        begun.add(text);
        return text;
    }

    private CompletableFuture<String> ask() {
        return turns.answer(this::begin).toCompletableFuture();
    }

    @Test
    void oneIsAnsweredAtATimeSomeWaitAndOthersComeAgain() {
        List<CompletableFuture<String>> asked = new ArrayList<>();
        for (int i = 0; i <= WordTurns.MOST_WAITING; i++) {
            asked.add(ask());
        }
        assertEquals(0, busy);
        assertEquals(WordTurns.BUSY, ask().getNow("none"));
        assertEquals(1, busy);
        for (int i = 0; i <= WordTurns.MOST_WAITING; i++) {
            assertEquals(i + 1, begun.size());
            assertFalse(asked.get(i).isDone());
            begun.get(i).complete("text " + i);
            assertEquals("text " + i, asked.get(i).getNow("none"));
        }
        assertFalse(ask().isDone(), "there is room again");
        assertEquals(WordTurns.MOST_WAITING + 2, begun.size());
    }

    @Test
    void theNextOneHasItsTurnAlsoIfAWordFails() {
        CompletableFuture<String> first = ask();
        CompletableFuture<String> second = turns.answer(() -> {
                    throw new IllegalStateException("a fault");
                })
                .toCompletableFuture();
        CompletableFuture<String> third = ask();
        begun.get(0).completeExceptionally(new IllegalStateException("another"));
        assertTrue(first.isCompletedExceptionally());
        assertTrue(second.isCompletedExceptionally());
        begun.get(1).complete("text");
        assertEquals("text", third.getNow("none"));
    }
}
