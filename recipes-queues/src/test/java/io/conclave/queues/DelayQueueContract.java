package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** What a delay queue promises, on every backend; a subclass says where the backend is. */
public abstract class DelayQueueContract extends QueueFixture {
    private static final Duration SOON = Duration.ofMillis(300);
    private static final Duration FAR = Duration.ofHours(1);

    /** All processes of a test go by one clock. */
    private static Instant now(Coordinator coordinator) {
        return Instant.ofEpochMilli(RecipeAccess.session(coordinator).time().wallMillis());
    }

    private static void assertDue(Coordinator coordinator, Instant time) {
        Instant now = now(coordinator);
        assertFalse(now.isBefore(time), () -> "an item of " + time + " came at " + now);
    }

    @Test
    void itemsComeOutInTheOrderOfTheirTimesAndNoneBefore() throws Exception {
        Coordinator producing = connect();
        DistributedDelayQueue<String> producer = delayQueue(producing);
        producer.putAsync("at once", Duration.ZERO).get(120, SECONDS);
        producer.putAt("late already", Instant.EPOCH);
        Instant begin = now(producing); // the others are due after these, however long a put takes
        producer.putAt("later", begin.plus(SOON.multipliedBy(2)));
        producer.putAt("soon", begin.plus(SOON));
        Coordinator consuming = connect();
        DistributedDelayQueue<String> consumer = delayQueue(consuming);
        assertEquals("late already", consumer.take());
        assertEquals("at once", consumer.take(PATIENCE).orElseThrow());
        assertEquals("soon", consumer.take());
        assertDue(consuming, begin.plus(SOON));
        assertEquals("later", consumer.takeAsync().get(120, SECONDS));
        assertDue(consuming, begin.plus(SOON.multipliedBy(2)));
        awaitNothingLeft(connect(), PATH + "-conclave");
    }

    @Test
    void oldestOfOneTimeGoesFirst() throws Exception {
        DistributedDelayQueue<String> queue = delayQueue(connect());
        Instant time = Instant.ofEpochMilli(1_000_000);
        for (String item : List.of("one", "two", "three")) {
            queue.putAt(item, time);
        }
        assertEquals(List.of("one", "two", "three"), drain(queue));
    }

    @Test
    void tryDoesNotSeeWhatIsNotDue() throws Exception {
        Coordinator coordinator = connect();
        DistributedDelayQueue<String> queue = delayQueue(coordinator);
        queue.put("far", FAR);
        assertEquals(Optional.empty(), queue.tryTake());
        assertTrue(queue.tryClaim().isEmpty());
        assertEquals(Optional.empty(), queue.take(Duration.ofMillis(50)));
        assertEquals(new QueueCount(1, 0, 0), queue.count());
        queue.put("now", Duration.ZERO);
        assertEquals(Optional.of("now"), queue.tryTake());
    }

    @Test
    void waiterIsWokenByAnEarlierItem() throws Exception {
        Coordinator coordinator = connect();
        DistributedDelayQueue<String> producer = delayQueue(connect());
        CompletableFuture<String> waiting = delayQueue(coordinator).takeAsync();
        awaitChildren(coordinator, PATH + "-conclave/consumers", 1);
        producer.put("far", FAR);
        producer.put("soon", SOON);
        assertEquals("soon", waiting.get(120, SECONDS));
        CompletableFuture<String> again = delayQueue(coordinator).takeAsync();
        awaitChildren(coordinator, PATH + "-conclave/consumers", 1);
        producer.put("now", Duration.ZERO);
        assertEquals("now", again.get(120, SECONDS));
        assertEquals(1, producer.count().waiting());
    }

    /** So many that the consumer follows the list instead of reading it. */
    @Test
    void waiterIsWokenByAnEarlierItemThanThoseOfALongList() throws Exception {
        Coordinator coordinator = connect();
        DistributedDelayQueue<String> producer = delayQueue(connect());
        List<CompletableFuture<Void>> puts = new ArrayList<>();
        for (int i = 0; i < 4 * Consumers.FOLLOWED_ABOVE; i++) {
            puts.add(producer.putAsync("far " + i, FAR));
        }
        CompletableFuture.allOf(puts.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
        DistributedDelayQueue<String> consumer = delayQueue(coordinator);
        for (int i = 0; i < 5; i++) {
            CompletableFuture<String> waiting = consumer.takeAsync();
            awaitChildren(coordinator, PATH + "-conclave/consumers", 1);
            producer.put("soon " + i, Duration.ofMillis(40));
            assertEquals("soon " + i, waiting.get(120, SECONDS));
        }
    }

    @Test
    void consumerMayWaitBeforeThereIsAQueueAndAfterItWasDeleted() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<String> waiting = delayQueue(connect()).takeAsync();
        NodePath path = NodePath.of(PATH);
        await().atMost(PATIENCE).until(() -> children(coordinator, "/queues").contains(path.name()));
        coordinator.execute(Delete.of(path));
        delayQueue(coordinator).put("item", SOON);
        assertEquals("item", waiting.get(120, SECONDS));
    }

    @Test
    void claimedItemComesBackAndIsDue() throws Exception {
        DistributedDelayQueue<String> queue = delayQueue(connect());
        queue.put("item", SOON);
        try (Claim<String> claim = queue.claim()) {
            assertEquals("item", claim.item());
            assertEquals(Optional.empty(), delayQueue(connect()).tryTake());
        }
        Claim<String> again = delayQueue(connect()).claim(PATIENCE).orElseThrow();
        assertEquals("item", again.item());
        again.acknowledge();
        assertEquals(new QueueCount(0, 0, 0), queue.count());
    }

    @Test
    void itemOfAnotherFormBecomesADeadLetter() throws Exception {
        Coordinator coordinator = connect();
        DistributedDelayQueue<String> queue = delayQueue(coordinator);
        queue.put("good", Duration.ZERO);
        coordinator.execute(Create.of(NodePath.of(PATH + "/queue-|00000001|0000000000"))
                .withData(new byte[] {0, 1, 0, 1, 2})); // as Curator's putMulti writes no item at all
        assertThrows(IllegalArgumentException.class, queue::take);
        assertEquals("good", queue.take());
        await().atMost(PATIENCE).until(() -> queue.count().equals(new QueueCount(0, 0, 1)));
    }

    @Test
    void eachItemIsTakenByOneConsumer() throws Exception {
        int items = 60;
        List<String> taken = Collections.synchronizedList(new ArrayList<>());
        List<Future<?>> all = new ArrayList<>();
        for (int session = 0; session < 3; session++) {
            DistributedDelayQueue<String> queue = delayQueue(connect());
            String name = "of " + session;
            all.add(threads.submit(() -> {
                for (int i = 0; i < items / 3; i++) {
                    queue.put(name + " " + i, Duration.ofMillis(i % 5));
                    taken.add(queue.take());
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(60, SECONDS);
        }
        assertEquals(items, taken.size());
        assertEquals(items, new HashSet<>(taken).size());
        awaitNothingLeft(connect(), PATH + "-conclave");
    }

    @Test
    void boundCountsWhatIsNotDue() throws Exception {
        DistributedDelayQueue<String> bounded = delayQueue(connect()).withBound(1);
        assertTrue(bounded.put("one", SOON, PATIENCE));
        assertFalse(bounded.putAt("two", Instant.EPOCH, Duration.ofMillis(50)));
        CompletableFuture<Boolean> waiting = bounded.putAtAsync("two", Instant.EPOCH, PATIENCE);
        assertEquals("one", bounded.take());
        assertTrue(waiting.get(120, SECONDS));
        assertEquals("two", bounded.take());
    }

    @Test
    void timesOutOfRangeAreRefusedByName() {
        DistributedDelayQueue<String> queue = delayQueue(connect());
        IllegalArgumentException negative =
                assertThrows(IllegalArgumentException.class, () -> queue.put("no", Duration.ofSeconds(-1)));
        assertEquals("Invalid delay PT-1S: it must not be negative", negative.getMessage());
        assertThrows(IllegalArgumentException.class, () -> queue.put("no", Duration.ofDays(4_000_000)));
        IllegalArgumentException early =
                assertThrows(IllegalArgumentException.class, () -> queue.putAt("no", Instant.EPOCH.minusMillis(1)));
        assertEquals(
                "Invalid time 1969-12-31T23:59:59.999Z: it must be from 1970-01-01T00:00:00Z to"
                        + " 9999-12-31T23:59:59.999Z",
                early.getMessage());
        assertThrows(IllegalArgumentException.class, () -> queue.putAt("no", Instant.MAX));
    }
}
