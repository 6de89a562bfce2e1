package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * What a FIFO queue promises to producers and consumers, on every backend; a subclass says where the backend is.
 */
public abstract class QueueContract extends QueueFixture {
    @Test
    void itemsComeOutInTheOrderInWhichTheyWerePut() throws Exception {
        DistributedQueue<String> queue = queue(connect());
        putAll(queue, "one", "two", "three");
        assertEquals(new QueueCount(3, 0, 0), queue.count());
        DistributedQueue<String> consumer = queue(connect());
        assertEquals("one", consumer.take());
        assertEquals(Optional.of("two"), consumer.take(PATIENCE));
        assertEquals(Optional.of("three"), consumer.tryTake());
        assertEquals(Optional.empty(), consumer.tryTake());
        awaitNothingLeft(connect());
    }

    @Test
    void triesToTakeWithoutBlocking() throws Exception {
        DistributedQueue<String> queue = queue(connect());
        assertEquals(Optional.empty(), queue.tryTakeAsync().get(120, SECONDS));
        putAll(queue, "one", "two");
        assertEquals(Optional.of("one"), queue.tryTakeAsync().get(120, SECONDS));
        assertEquals(
                "two", queue.tryClaimAsync().get(120, SECONDS).orElseThrow().item());
        assertEquals(Optional.empty(), queue.tryTakeAsync().get(120, SECONDS), "it is claimed");
        assertEquals(Optional.empty(), queue.tryClaimAsync().get(120, SECONDS), "it is claimed");
    }

    @Test
    void itemsPutWithoutWaitingKeepTheirOrder() throws Exception {
        DistributedQueue<String> queue = queue(connect());
        List<String> expected =
                IntStream.range(0, 200).mapToObj(Integer::toString).toList();
        List<CompletableFuture<Void>> puts =
                expected.stream().map(queue::putAsync).toList();
        CompletableFuture.allOf(puts.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
        List<CompletableFuture<String>> takes =
                expected.stream().map(item -> queue.takeAsync()).toList();
        List<String> taken = new ArrayList<>();
        for (CompletableFuture<String> take : takes) {
            taken.add(take.get(120, SECONDS));
        }
        assertEquals(expected, taken);
    }

    @Test
    void consumerWaitsForAnItem() throws Exception {
        Coordinator coordinator = connect();
        Future<String> taken = threads.submit(() -> queue(coordinator).take());
        awaitConsumers(coordinator, 1);
        queue(connect()).put("late");
        assertEquals("late", taken.get(120, SECONDS));
        awaitNothingLeft(coordinator);
    }

    @Test
    void waitThatIsOverLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        assertEquals(Optional.empty(), queue(coordinator).take(Duration.ofMillis(50)));
        assertEquals(
                Optional.empty(),
                queue(coordinator).takeAsync(Duration.ofMillis(50)).get(120, SECONDS));
        awaitNothingLeft(coordinator);
        queue(coordinator).put("still there");
        assertEquals("still there", queue(connect()).take());
    }

    @Test
    void interruptedConsumerLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<Thread> waiting = new CompletableFuture<>();
        Future<?> taking = threads.submit(() -> {
            waiting.complete(Thread.currentThread());
            assertThrows(InterruptedException.class, () -> queue(coordinator).take());
        });
        awaitConsumers(coordinator, 1);
        waiting.get(120, SECONDS).interrupt();
        taking.get(120, SECONDS);
        awaitNothingLeft(coordinator);
    }

    @Test
    void cancelledConsumerTakesNothing() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<String> cancelled = queue(coordinator).takeAsync();
        awaitConsumers(coordinator, 1);
        CompletableFuture<String> behind = queue(connect()).takeAsync();
        awaitConsumers(coordinator, 2);
        assertTrue(cancelled.cancel(true));
        queue(coordinator).put("for the other one");
        assertEquals("for the other one", behind.get(120, SECONDS));
        awaitNothingLeft(coordinator);
    }

    @Test
    void tryDoesNotWaitForQueuedConsumers() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<String> waiting = queue(coordinator).takeAsync();
        awaitConsumers(coordinator, 1);
        assertEquals(Optional.empty(), queue(connect()).tryTake());
        assertEquals(
                Optional.empty(),
                DistributedQueue.at(connect(), "/never/used", DataCodec.TEXT).tryTake());
        queue(coordinator).put("one");
        assertEquals("one", waiting.get(120, SECONDS));
    }

    @Test
    void eachItemIsTakenByOneConsumer() throws Exception {
        int items = 120;
        List<String> taken = Collections.synchronizedList(new ArrayList<>());
        List<Future<?>> consumers = new ArrayList<>();
        for (int session = 0; session < 4; session++) {
            DistributedQueue<String> queue = queue(connect());
            for (int thread = 0; thread < 3; thread++) {
                consumers.add(threads.submit(() -> {
                    for (int i = 0; i < items / 12; i++) {
                        taken.add(queue.take());
                    }
                    return null;
                }));
            }
        }
        List<Future<?>> producers = new ArrayList<>();
        for (int session = 0; session < 2; session++) {
            DistributedQueue<String> queue = queue(connect());
            String name = "item " + session;
            producers.add(threads.submit(() -> {
                for (int i = 0; i < items / 2; i++) {
                    queue.put(name + " " + i);
                }
                return null;
            }));
        }
        for (Future<?> producer : producers) {
            producer.get(120, SECONDS);
        }
        for (Future<?> consumer : consumers) {
            consumer.get(120, SECONDS);
        }
        assertEquals(items, taken.size());
        assertEquals(items, new HashSet<>(taken).size());
        awaitNothingLeft(connect());
    }

    @Test
    void waitingConsumersAreServedInTheOrderInWhichTheyCame() throws Exception {
        Coordinator coordinator = connect();
        List<CompletableFuture<String>> waiting = new ArrayList<>();
        for (int i = 1; i <= 4; i++) {
            waiting.add(queue(connect()).takeAsync());
            awaitConsumers(coordinator, i);
        }
        putAll(queue(coordinator), "1", "2", "3", "4");
        for (int i = 1; i <= 4; i++) {
            assertEquals(Integer.toString(i), waiting.get(i - 1).get(120, SECONDS));
        }
    }

    @Test
    void itemThatAnotherLibraryPutIsTaken() throws Exception {
        Coordinator coordinator = connect();
        coordinator.execute(Create.of(NodePath.of(PATH).parent().orElseThrow()));
        coordinator.execute(Create.of(NodePath.of(PATH)));
        coordinator.execute(Create.of(NodePath.of(PATH + "/queue-"))
                .withData("by hand".getBytes(java.nio.charset.StandardCharsets.UTF_8))
                .withMode(CreateMode.PERSISTENT_SEQUENTIAL));
        coordinator.execute(Create.of(NodePath.of(PATH + "/notes")));
        assertEquals("by hand", queue(coordinator).take());
    }

    @Test
    void boundedProducerWaitsForRoom() throws Exception {
        Coordinator coordinator = connect();
        DistributedQueue<String> bounded = queue(coordinator).withBound(2);
        assertTrue(bounded.put("1", PATIENCE));
        assertTrue(bounded.put("2", PATIENCE));
        assertFalse(bounded.put("too many", Duration.ofMillis(50)));
        CompletableFuture<Void> waiting = bounded.putAsync("3");
        assertEquals("1", queue(connect()).take());
        waiting.get(120, SECONDS);
        assertEquals(List.of("2", "3"), drain(queue(connect())));
        awaitNothingLeft(coordinator);
    }

    @Test
    void boundHoldsAmongManyProducers() throws Exception {
        Coordinator watcher = connect();
        List<Future<?>> producers = new ArrayList<>();
        for (int session = 0; session < 3; session++) {
            DistributedQueue<String> bounded = queue(connect()).withBound(5);
            producers.add(threads.submit(() -> {
                for (int i = 0; i < 20; i++) {
                    bounded.put("item");
                }
                return null;
            }));
        }
        DistributedQueue<String> consumer = queue(watcher);
        for (int i = 0; i < 60; i++) {
            int waiting = consumer.count().waiting();
            assertTrue(waiting <= 5, () -> waiting + " items");
            consumer.take();
        }
        for (Future<?> producer : producers) {
            producer.get(120, SECONDS);
        }
        awaitNothingLeft(watcher);
    }

    @Test
    void itemThatCannotBeReadIsADeadLetter() throws Exception {
        Coordinator coordinator = connect();
        DistributedQueue.at(coordinator, PATH, DataCodec.TEXT).put("not a number");
        DistributedQueue<Long> numbers = DistributedQueue.at(coordinator, PATH, DataCodec.LONG);
        assertThrows(NumberFormatException.class, numbers::take);
        await().atMost(PATIENCE).until(() -> queue(coordinator).count().dead() == 1);
        assertEquals("not a number", queue(coordinator).deadLetters().take());
    }

    @Test
    void itemThatIsTooLargeIsRefusedByName() throws Exception {
        DistributedQueue<byte[]> queue = DistributedQueue.at(connect(), PATH, DataCodec.BYTES);
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> queue.put(new byte[1_000_000]));
        assertTrue(refusal.getMessage().contains("1000000 bytes"), refusal.getMessage());
        assertThrows(IllegalArgumentException.class, () -> queue.withBound(0));
        assertThrows(IllegalArgumentException.class, () -> DistributedQueue.at(connect(), "/", DataCodec.TEXT));
    }

    @Test
    void closedCoordinatorEndsTheWait() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<String> waiting = queue(coordinator).takeAsync();
        awaitConsumers(connect(), 1);
        coordinator.close();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiting.get(120, SECONDS));
        assertFalse(failure.getCause() instanceof RefusedException, () -> String.valueOf(failure.getCause()));
    }

    /** Another client has made a znode below it. */
    @Test
    void itemThatCannotBeTakenKeepsNoOtherInTheQueue() throws Exception {
        Coordinator coordinator = connect();
        DistributedQueue<String> queue = queue(coordinator);
        queue.put("stays");
        NodePath child = NodePath.of(PATH)
                .child(children(coordinator, PATH).stream()
                        .filter(name -> name.contains("queue-"))
                        .findFirst()
                        .orElseThrow())
                .child("x");
        coordinator.execute(Create.of(child));
        putAll(queue, "one", "two", "three");
        assertEquals(Optional.of("one"), queue.tryTake());
        assertEquals("two", queue.take());
        assertEquals("three", queue.take());
        assertNotEmpty(assertThrows(RefusedException.class, queue::tryTake));
        assertNotEmpty(assertThrows(RefusedException.class, queue::take));
        assertNotEmpty(assertThrows(RefusedException.class, queue::take));
        coordinator.execute(Delete.of(child));
        assertEquals("stays", queue.take());
    }

    private static void assertNotEmpty(RefusedException refusal) {
        assertEquals(RefusalReason.NOT_EMPTY, refusal.reason());
    }
}
