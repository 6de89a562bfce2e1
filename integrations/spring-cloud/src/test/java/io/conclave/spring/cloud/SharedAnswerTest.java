package io.conclave.spring.cloud;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class SharedAnswerTest {
    private static final int MANY = 100_000;

    private int questions;

    @Test
    void thoseThatAskWhileItIsAskedMakeNoNestedQuestions() throws Exception {
        AtomicReference<SharedAnswer<Integer>> self = new AtomicReference<>();
        SharedAnswer<Integer> answer = new SharedAnswer<>(() -> {
            if (++questions < MANY) {
                self.get().get();
            }
            return CompletableFuture.completedFuture(questions);
        });
        self.set(answer);
        assertEquals(1, answer.get().get(60, SECONDS));
        assertEquals(MANY, questions);
        assertEquals(MANY + 1, answer.get().get(60, SECONDS));
        assertEquals(0, answer.size());
    }

    @Test
    void thoseThatAskMeanwhileWaitForTheNextAnswer() throws Exception {
        Queue<CompletableFuture<String>> asked = new ArrayDeque<>();
        SharedAnswer<String> answer = new SharedAnswer<>(() -> {
            CompletableFuture<String> one = new CompletableFuture<>();
            asked.add(one);
            return one;
        });
        CompletableFuture<String> first = answer.get();
        CompletableFuture<String> second = answer.get();
        CompletableFuture<String> third = answer.get();
        assertEquals(1, asked.size());
        asked.remove().complete("first");
        assertEquals("first", first.get(60, SECONDS));
        assertFalse(second.isDone());
        asked.remove().complete("second");
        assertEquals("second", second.get(60, SECONDS));
        assertEquals("second", third.get(60, SECONDS));
        assertEquals(0, asked.size());
    }

    @Test
    void anErrorOfOneQuestionDoesNotKeepTheNext() throws Exception {
        SharedAnswer<Integer> answer = new SharedAnswer<>(() -> {
            if (++questions == 1) {
                throw new StackOverflowError();
            }
            return CompletableFuture.completedFuture(questions);
        });
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> answer.get().get(60, SECONDS));
        assertInstanceOf(StackOverflowError.class, failure.getCause());
        assertEquals(2, answer.get().get(60, SECONDS));
    }
}
