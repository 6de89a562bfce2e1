package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Sync;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** What a priority queue promises, on every backend; a subclass says where the backend is. */
public abstract class PriorityQueueContract extends QueueFixture {
    @Test
    void lowerNumberGoesFirstAndTheOlderOfOnePriority() throws Exception {
        DistributedPriorityQueue<String> queue = priorityQueue(connect());
        queue.put("later", 50);
        queue.put("last", 99);
        queue.put("soon", 7);
        queue.put("soon as well", 7);
        queue.putAsync("now", 0).get(120, SECONDS);
        DistributedPriorityQueue<String> consumer = priorityQueue(connect());
        List<String> taken = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            taken.add(consumer.take());
        }
        assertEquals(List.of("now", "soon", "soon as well", "later", "last"), taken);
        awaitNothingLeft(connect());
    }

    @Test
    void urgentItemOvertakesItemsThatAConsumerHasListed() throws Exception {
        Coordinator producer = connect();
        Coordinator consuming = connect();
        DistributedPriorityQueue<String> consumer = priorityQueue(consuming);
        for (int i = 0; i < 10; i++) {
            priorityQueue(producer).put("work " + i, 10);
        }
        consuming.execute(Sync.of(NodePath.of(PATH))); // its server may not have heard of all that
        assertEquals("work 0", consumer.take());
        priorityQueue(producer).put("urgent", 1);
        consuming.execute(Sync.of(NodePath.of(PATH)));
        assertEquals("urgent", consumer.take(PATIENCE).orElseThrow());
        assertEquals("work 1", consumer.take());
    }

    /** So many that the consumer follows the list instead of reading it. */
    private static void putMany(DistributedPriorityQueue<String> queue, int count) throws Exception {
        List<CompletableFuture<Void>> puts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            puts.add(queue.putAsync("work " + i, 10));
        }
        CompletableFuture.allOf(puts.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
    }

    @Test
    void urgentItemsOvertakeALongListThatAConsumerFollows() throws Exception {
        Coordinator consuming = connect();
        Coordinator producing = connect();
        DistributedPriorityQueue<String> producer = priorityQueue(producing);
        DistributedPriorityQueue<String> consumer = priorityQueue(consuming);
        putMany(producer, 80);
        consuming.execute(Sync.of(NodePath.of(PATH)));
        for (int i = 0; i < 20; i++) {
            assertEquals("work " + 2 * i, consumer.take());
            producer.put("urgent", i % 10);
            consuming.execute(Sync.of(NodePath.of(PATH)));
            assertEquals("urgent", consumer.take());
            assertEquals("work " + (2 * i + 1), consumer.take());
        }
    }

    @Test
    void itemsThatOthersTakeAndGiveBackAreFollowed() throws Exception {
        Coordinator consuming = connect();
        DistributedPriorityQueue<String> other = priorityQueue(connect());
        DistributedPriorityQueue<String> consumer = priorityQueue(consuming);
        putMany(other, 80);
        consuming.execute(Sync.of(NodePath.of(PATH)));
        for (int i = 0; i < 4; i++) {
            assertEquals("work " + i, consumer.take());
        }
        assertEquals("work 4", other.tryTake().orElseThrow());
        Claim<String> claim = other.tryClaim().orElseThrow();
        assertEquals("work 5", claim.item());
        consuming.execute(Sync.of(NodePath.of(PATH)));
        assertEquals("work 6", consumer.take());
        other.put("after the claim", 10);
        claim.close();
        await().until(() -> other.count().claimed() == 0);
        consuming.execute(Sync.of(NodePath.of(PATH)));
        assertEquals("work 5", consumer.take());
        assertEquals("work 7", consumer.take());
    }

    @Test
    void waitingConsumerTakesWhatComes() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<String> waiting = priorityQueue(coordinator).takeAsync();
        awaitConsumers(coordinator, 1);
        priorityQueue(connect()).put("any", 42);
        assertEquals("any", waiting.get(120, SECONDS));
    }

    @Test
    void claimedItemComesBackBeforeLessUrgentOnes() throws Exception {
        Coordinator coordinator = connect();
        DistributedPriorityQueue<String> queue = priorityQueue(coordinator);
        queue.put("urgent", 1);
        queue.put("not", 2);
        try (Claim<String> claim = queue.claim()) {
            assertEquals("urgent", claim.item());
            assertEquals("not", priorityQueue(connect()).take());
            queue.put("not either", 2);
        }
        Claim<String> again = priorityQueue(connect()).claim();
        // the return may still be on its way
        assertTrue(List.of("urgent", "not either").contains(again.item()));
        again.acknowledge();
    }

    @Test
    void eachItemIsTakenByOneConsumer() throws Exception {
        int items = 60;
        List<String> taken = Collections.synchronizedList(new ArrayList<>());
        List<Future<?>> all = new ArrayList<>();
        for (int session = 0; session < 3; session++) {
            DistributedPriorityQueue<String> queue = priorityQueue(connect());
            String name = "of " + session;
            all.add(threads.submit(() -> {
                for (int i = 0; i < items / 3; i++) {
                    queue.put(name + " " + i, i % 5);
                    taken.add(queue.take());
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(120, SECONDS);
        }
        assertEquals(items, taken.size());
        assertEquals(items, new HashSet<>(taken).size());
        awaitNothingLeft(connect());
    }

    @Test
    void boundHolds() throws Exception {
        DistributedPriorityQueue<String> bounded = priorityQueue(connect()).withBound(1);
        assertTrue(bounded.put("one", 5, PATIENCE));
        assertFalse(bounded.put("two", 1, Duration.ofMillis(50)));
        assertEquals("one", bounded.take());
        bounded.put("two", 1);
        assertEquals("two", bounded.take());
    }

    @Test
    void priorityOutOfRangeIsRefusedByName() {
        DistributedPriorityQueue<String> queue = priorityQueue(connect());
        assertThrows(IllegalArgumentException.class, () -> queue.put("no", 100));
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> queue.put("no", -1));
        assertEquals("Invalid priority -1: it must be from 0 to 99", refusal.getMessage());
    }
}
