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
    private static final int MOST_OF_AN_ADDRESS = 16;
    private static final int MOST = 64;

    private static final String STRANGER = "10.0.0.1";
    private static final String OPERATOR = "10.0.0.2";

    private int busy;
    private final WordTurns turns = new WordTurns(1, MOST_OF_AN_ADDRESS, MOST, () -> busy++);
    private final List<CompletableFuture<String>> begun = new ArrayList<>();

    private CompletionStage<String> begin() {
        CompletableFuture<String> text = new CompletableFuture<>();
        begun.add(text);
        return text;
    }

    private CompletableFuture<String> ask(String host) {
        return turns.answer(host, this::begin).toCompletableFuture();
    }

    private List<CompletableFuture<String>> askTooOften(String host) {
        List<CompletableFuture<String>> asked = new ArrayList<>();
        for (int i = 0; i <= MOST_OF_AN_ADDRESS; i++) {
            asked.add(ask(host));
        }
        return asked;
    }

    @Test
    void oneIsAnsweredAtATimeSomeWaitAndOthersComeAgain() {
        List<CompletableFuture<String>> asked = askTooOften(STRANGER);
        assertEquals(0, busy);
        assertEquals(WordTurns.BUSY, ask(STRANGER).getNow("none"));
        assertEquals(1, busy);
        for (int i = 0; i < asked.size(); i++) {
            assertEquals(i + 1, begun.size());
            assertFalse(asked.get(i).isDone());
            begun.get(i).complete("text " + i);
            assertEquals("text " + i, asked.get(i).getNow("none"));
        }
        assertFalse(ask(STRANGER).isDone(), "there is room again");
        assertEquals(asked.size() + 1, begun.size());
    }

    @Test
    void anAddressThatAsksAllTheTimeKeepsNoOtherOneWaitingForMoreThanAWord() {
        askTooOften(STRANGER);
        CompletableFuture<String> ofOperator = ask(OPERATOR);
        begun.get(0).complete("text");
        begun.get(1).complete("text");
        begun.get(2).complete("for the operator");
        assertEquals("for the operator", ofOperator.getNow("none"));
    }

    @Test
    void theAddressesOfOneNetworkOfIpv6CountAsOne() {
        askTooOften("2001:db8:0:1::1");
        assertEquals(WordTurns.BUSY, ask("2001:db8:0:1::2").getNow("none"));
        assertFalse(ask("2001:db8:0:2::1").isDone());
        assertEquals(1, busy);
    }

    @Test
    void whereManyWaitAnAddressMayStillHaveItsFirst() {
        for (int i = 0; i <= MOST / MOST_OF_AN_ADDRESS; i++) {
            askTooOften("10.1.0." + i);
        }
        int before = busy;
        assertFalse(ask(OPERATOR).isDone());
        assertEquals(WordTurns.BUSY, ask(OPERATOR).getNow("none"));
        assertEquals(before + 1, busy);
    }

    @Test
    void asManyAsAreSaidAreAnsweredAtATime() {
        WordTurns two = new WordTurns(2, MOST_OF_AN_ADDRESS, MOST, () -> busy++);
        List<CompletableFuture<String>> asked = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            asked.add(two.answer(STRANGER, this::begin).toCompletableFuture());
        }
        assertEquals(2, begun.size());
        begun.get(1).complete("text");
        assertTrue(asked.get(1).isDone());
        assertEquals(3, begun.size());
        begun.get(0).complete("text");
        begun.get(2).complete("text");
        assertTrue(asked.get(0).isDone() && asked.get(2).isDone());
    }

    @Test
    void theNextOneHasItsTurnAlsoIfAWordFails() {
        CompletableFuture<String> first = ask(STRANGER);
        CompletableFuture<String> second = turns.answer(STRANGER, () -> {
                    throw new IllegalStateException("a fault");
                })
                .toCompletableFuture();
        CompletableFuture<String> third = ask(STRANGER);
        begun.get(0).completeExceptionally(new IllegalStateException("another"));
        assertTrue(first.isCompletedExceptionally());
        assertTrue(second.isCompletedExceptionally());
        begun.get(1).complete("text");
        assertEquals("text", third.getNow("none"));
    }
}
