package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusalReason;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When items that the store refused to give are tried again, and the list is read again because of them. */
class RetriedItemsTest extends QueueFixture {
    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final AtomicInteger refusals = new AtomicInteger();
    private Coordinator coordinator;
    private Faults faults;

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @BeforeEach
    void connectAll() {
        faults = memoryStore().faults();
        coordinator = opened(builder().sessionTimeout(Duration.ofHours(1)).timeSource(clock));
    }

    @AfterEach
    void clear() {
        faults.clear();
    }

    /** Refuses reads of items with this in their name, as far as the condition holds for the number of the read. */
    private void refuseReadsOf(String part, IntPredicate isRefused) {
        faults.refuse(
                request -> request instanceof GetData get
                        && get.path().name().contains(part)
                        && isRefused.test(refusals.incrementAndGet()),
                RefusalReason.NO_AUTH);
    }

    /** As another client puts it; at once, so that it can be done while the store decides on a request. */
    private boolean putAtOnce(String item) {
        Create create = Create.of(NodePath.of(PATH).child("_c_" + UUID.randomUUID() + "-queue-"))
                .withData(item.getBytes(StandardCharsets.UTF_8))
                .withMode(CreateMode.PERSISTENT_SEQUENTIAL);
        RecipeAccess.session(coordinator).submit(create);
        return true;
    }

    /** Nothing tells that an item has been mended: what is below it makes no event of the queue. */
    @Test
    void oneOfADelayQueueIsTriedAgainThoughNothingChangesAndNoOtherIsDue() throws Exception {
        DistributedDelayQueue<String> queue = delayQueue(coordinator);
        queue.put("refused once", Duration.ZERO);
        queue.put("later", Duration.ofHours(1));
        refuseReadsOf("queue-", number -> number == 1);
        CompletableFuture<String> taken = queue.takeAsync();
        await().atMost(PATIENCE).until(() -> refusals.get() == 1);
        long from = clock.monotonicNanos();
        clock.advanceUntil(Duration.ofSeconds(1), taken::isDone);
        assertEquals("refused once", taken.get(60, SECONDS));
        long took = clock.monotonicNanos() - from;
        assertTrue(took < Duration.ofMinutes(10).toNanos(), () -> "tried again after " + took + " ns");
    }

    @Test
    void anItemThatComesBehindTheListGoesOutInsteadOfTheRefusal() throws Exception {
        DistributedQueue<String> queue = queue(coordinator);
        queue.put("bad");
        String bad = ItemName.unclaimed(children(coordinator, PATH), ItemOrder.BY_SEQUENCE)
                .get(0)
                .name();
        refuseReadsOf(bad, number -> number > 1 || putAtOnce("other"));
        assertEquals("other", queue.take());
    }

    /** Else a consumer to which the store answers slowly would begin with the refused ones over and over. */
    @Test
    void manyThatAreRefusedSlowlyDoNotKeepTheNextInABusyQueue() throws Exception {
        DistributedPriorityQueue<String> queue = priorityQueue(coordinator);
        DistributedQueue<String> items = queue(coordinator);
        for (int i = 0; i < 4; i++) {
            queue.put("bad", 7);
        }
        items.put("good");
        refuseReadsOf("queue-07-", number -> {
            clock.advanceMonotonicOnly(Duration.ofMillis(600));
            return number < 50 && putAtOnce("another");
        });
        assertEquals("good", items.take());
        assertEquals(4, refusals.get());
    }
}
