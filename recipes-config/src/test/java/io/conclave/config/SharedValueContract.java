package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.session.Registration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** What shared values and counters promise. */
abstract class SharedValueContract extends CacheContract {
    private static SharedValue<String> value(Coordinator coordinator) {
        return SharedValue.at(coordinator, "/shared/value", DataCodec.TEXT);
    }

    @Test
    void valueIsSetReadAndTakenAway() throws Exception {
        SharedValue<String> one = value(connect());
        SharedValue<String> other = value(connect());
        assertTrue(other.get().isEmpty());
        one.set("one");
        assertEquals("one", other.get().orElseThrow().value());
        assertTrue(one.remove());
        assertFalse(one.remove());
        assertTrue(other.get().isEmpty());
        assertEquals("two", other.setIfAbsent("two").orElseThrow().value());
        assertTrue(one.setIfAbsent("three").isEmpty());
        assertEquals("two", one.get().orElseThrow().value());
    }

    @Test
    void compareAndSetIsRefusedAfterAnotherClientsSet() throws Exception {
        SharedValue<String> one = value(connect());
        SharedValue<String> other = value(connect());
        Versioned<String> read = one.set("one");
        Versioned<String> written = other.compareAndSet(read, "two").orElseThrow();
        assertTrue(written.zxid() > read.zxid());
        assertTrue(one.compareAndSet(read, "three").isEmpty());
        assertEquals(written, one.get().orElseThrow());
        one.remove();
        assertTrue(other.compareAndSet(written, "four").isEmpty());
    }

    @Test
    void onlyOneCallerRemovesAValue() throws Exception {
        SharedValue<String> one = value(connect());
        SharedValue<String> other = value(connect());
        for (int round = 0; round < 30; round++) {
            one.set("value " + round);
            CompletableFuture<Boolean> mine = one.removeAsync();
            CompletableFuture<Boolean> others = other.removeAsync();
            assertTrue(get(mine) ^ get(others), "removed by both or neither: " + round);
        }
    }

    @Test
    void readInAContinuationDoesNotWaitForItself() throws Exception {
        Coordinator coordinator = connect();
        SharedValue<String> mine = value(coordinator);
        mine.set("one");
        CompletionStage<String> read = coordinator
                .submit(Exists.of(NodePath.ROOT))
                .thenCompose(root -> {
                    try {
                        return CompletableFuture.completedFuture(
                                mine.get().orElseThrow().value());
                    } catch (InterruptedException e) {
                        return CompletableFuture.failedFuture(e);
                    }
                });
        assertEquals("one", get(read.toCompletableFuture()));
    }

    @Test
    void functionOfAnUpdateIsCalledOnAListenerThread() throws Exception {
        SharedValue<String> mine = value(connect());
        Set<String> threads = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 20; i++) {
            mine.update(present -> {
                threads.add(Thread.currentThread().getName());
                return "next";
            });
        }
        assertTrue(threads.stream().allMatch(name -> name.startsWith("conclave-listener")), threads::toString);
    }

    @Test
    void updatesOfManyAreAllCounted() throws Exception {
        List<CompletableFuture<Versioned<Long>>> updates = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SharedValue<Long> mine = SharedValue.at(connect(), "/shared/sum", DataCodec.LONG);
            for (int j = 0; j < 5; j++) {
                updates.add(mine.updateAsync(present -> present.orElse(0L) + 1));
            }
        }
        for (CompletableFuture<Versioned<Long>> update : updates) {
            get(update);
        }
        assertEquals(
                20,
                SharedValue.at(connect(), "/shared/sum", DataCodec.LONG)
                        .get()
                        .orElseThrow()
                        .value());
    }

    @Test
    void observerReceivesThePresentValueAndTheLatest() throws Exception {
        SharedValue<String> one = value(connect());
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        Registration registration = value(connect())
                .observe(read -> told.add(read.map(Versioned::value).orElse("-")));
        await().atMost(PATIENCE).until(() -> told.equals(List.of("-")));
        SharedValue.at(connect(), "/shared/value/below", DataCodec.TEXT).set("makes a znode of it, but no value");
        one.set("one");
        await().atMost(PATIENCE).until(() -> told.equals(List.of("-", "one")));
        for (int i = 0; i < 20; i++) {
            one.set("v" + i);
        }
        await().atMost(PATIENCE).until(() -> told.get(told.size() - 1).equals("v19"));
        one.remove();
        await().atMost(PATIENCE).until(() -> told.get(told.size() - 1).equals("-"));
        registration.close();
        one.set("unheard");
        assertFalse(told.contains("unheard"));
    }

    @Test
    void valueThatTheCodecDoesNotUnderstandIsNamed() throws Exception {
        value(connect()).set("no number");
        SharedValue<Long> number = SharedValue.at(connect(), "/shared/value", DataCodec.LONG);
        assertTrue(assertThrows(IllegalArgumentException.class, number::get)
                .getMessage()
                .contains("/shared/value"));
        assertThrows(IllegalArgumentException.class, () -> value(connect()).set(""));
    }

    @Test
    void counterCountsWhatManyAdd() throws Exception {
        List<CompletableFuture<Long>> sums = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SharedCounter counter = SharedCounter.at(connect(), "/shared/counter");
            for (int j = 0; j < 10; j++) {
                sums.add(counter.addAsync(2));
            }
        }
        List<Long> seen = new ArrayList<>();
        for (CompletableFuture<Long> sum : sums) {
            seen.add(get(sum));
        }
        assertEquals(40, seen.stream().distinct().count(), "each addition gets a sum of its own: " + seen);
        SharedCounter counter = SharedCounter.at(connect(), "/shared/counter");
        assertEquals(80, counter.get());
        assertFalse(counter.compareAndSet(79, 1));
        assertTrue(counter.compareAndSet(80, -5));
        assertEquals(-4, counter.increment());
        assertEquals(-3, counter.incrementAsync().get(120, java.util.concurrent.TimeUnit.SECONDS));
        assertEquals(-4, counter.add(-1));
    }

    @Test
    void counterThatIsNoneIsNamed() throws Exception {
        Coordinator coordinator = connect();
        create(coordinator, "/word", "word");
        SharedCounter counter = SharedCounter.at(coordinator, "/word");
        assertTrue(assertThrows(IllegalArgumentException.class, counter::increment)
                .getMessage()
                .contains("/word"));
        assertEquals(Optional.empty(), value(coordinator).get());
    }
}
