package io.conclave.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetAcl;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Items that the store refuses to give, each for a reason of its own: the others go out. */
class UnusableItemsTest extends QueueFixture {
    private final String store = UUID.randomUUID().toString();
    private Coordinator coordinator;
    private DistributedQueue<String> queue;
    private Faults faults;

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @BeforeEach
    void connectAll() {
        faults = memoryStore().faults();
        coordinator = connect();
        queue = queue(coordinator);
    }

    @AfterEach
    void clear() {
        faults.clear();
    }

    /** Puts an item, and says where its znode is. */
    private NodePath put(String item) throws InterruptedException {
        queue.put(item);
        return ItemName.unclaimed(children(coordinator, PATH), ItemOrder.BY_SEQUENCE).stream()
                .reduce((before, last) -> last)
                .map(last -> NodePath.of(PATH).child(last.name()))
                .orElseThrow();
    }

    private static Predicate<Request<?>> isReadOf(NodePath path) {
        return request -> request instanceof GetData get && get.path().equals(path);
    }

    /** The request as a whole, as a client does that finds it too large. */
    private static Predicate<Request<?>> isClaimOf(NodePath path) {
        return request -> request instanceof Multi && request.describe().contains("claim-" + path.name());
    }

    @Test
    void oneThatMayNotBeReadIsPassedOver() throws Exception {
        faults.refuse(isReadOf(put("secret")), RefusalReason.NO_AUTH);
        putAll(queue, "one", "two", "three");
        assertEquals(Optional.of("one"), queue.tryTake());
        assertEquals("two", queue.take());
        assertEquals("three", queue.claim().item());
        RefusedException refusal = assertThrows(RefusedException.class, queue::take);
        assertEquals(RefusalReason.NO_AUTH, refusal.reason());
        assertEquals(1, queue.count().waiting());
        faults.clear();
        assertEquals("secret", queue.take());
    }

    @Test
    void callersThatAreServedTogetherGetTheOthers() throws Exception {
        putAll(queue, "zero");
        faults.refuse(isReadOf(put("secret")), RefusalReason.NO_AUTH);
        putAll(queue, "one");
        CompletableFuture<String> first = queue.takeAsync();
        CompletableFuture<String> second = queue.takeAsync();
        CompletableFuture<String> third = queue.takeAsync();
        assertEquals("zero", get(first));
        assertEquals("one", get(second));
        assertThrows(ExecutionException.class, () -> get(third));
    }

    @Test
    void oneThatIsTooLargeToBeWrittenOnceMoreIsPassedOverByClaims() throws Exception {
        faults.refuse(isClaimOf(put("large")), RefusalReason.BAD_ARGUMENTS);
        putAll(queue, "one", "two");
        assertEquals("one", queue.tryClaim().orElseThrow().item());
        assertEquals("two", queue.claim().item());
        assertEquals(
                RefusalReason.BAD_ARGUMENTS,
                assertThrows(RefusedException.class, queue::claim).reason());
    }

    @Test
    void oneThatCannotBecomeADeadLetterIsPassedOver() throws Exception {
        DistributedQueue<String> once = queue.withMaxDeliveries(1);
        NodePath worn = put("worn");
        once.claim().close();
        coordinator.execute(Create.of(worn.child("x")));
        putAll(queue, "one", "two");
        assertEquals("one", once.tryClaim().orElseThrow().item());
        assertEquals("two", once.claim().item());
        assertEquals(
                RefusalReason.NOT_EMPTY,
                assertThrows(RefusedException.class, once::claim).reason());
    }

    /** An item that was delivered too often, and two others. */
    private DistributedQueue<String> wornAndTwoOthers() throws InterruptedException {
        DistributedQueue<String> once = queue.withMaxDeliveries(1);
        queue.put("worn");
        once.claim().close();
        putAll(queue, "one", "two");
        return once;
    }

    private static void assertThatTheOthersAreClaimed(DistributedQueue<String> once, RefusalReason reason)
            throws InterruptedException {
        assertEquals("one", once.tryClaim().orElseThrow().item());
        assertEquals("two", once.claim().item());
        assertEquals(
                reason, assertThrows(RefusedException.class, once::tryClaim).reason());
        assertEquals(reason, assertThrows(RefusedException.class, once::claim).reason());
    }

    @Test
    void oneThatMayNotBeAddedToTheDeadLettersIsPassedOver() throws Exception {
        DistributedQueue<String> once = wornAndTwoOthers();
        NodePath dead = NodePath.of(PATH).child("dead");
        coordinator.execute(Create.of(dead));
        coordinator.execute(SetAcl.of(dead, Acl.READ_ONLY));
        assertThatTheOthersAreClaimed(once, RefusalReason.NO_AUTH);
    }

    @ParameterizedTest
    @EnumSource(names = {"NO_AUTH", "LIMIT_EXCEEDED"})
    void oneForWhichThePlaceOfTheDeadLettersMayNotBeMadeIsPassedOver(RefusalReason reason) throws Exception {
        DistributedQueue<String> once = wornAndTwoOthers();
        faults.refuse(
                request ->
                        request instanceof Create create && create.path().name().equals("dead"),
                reason);
        assertThatTheOthersAreClaimed(once, reason);
    }

    /** Of a queue that it may not read at all a consumer is told, however long the queue is. */
    @Test
    void notEachOfAllItemsIsTriedIfTheStoreRefusesThemAll() throws Exception {
        for (int i = 0; i < PassedOver.MOST + 20; i++) {
            queue.put("item");
        }
        AtomicInteger reads = new AtomicInteger();
        faults.refuse(
                request -> request instanceof GetData get
                        && get.path().name().contains("queue-")
                        && reads.incrementAndGet() > 0,
                RefusalReason.NO_AUTH);
        assertThrows(RefusedException.class, queue::take);
        assertEquals(PassedOver.MOST, reads.getAndSet(0));
        assertThrows(RefusedException.class, queue::tryTake);
        assertEquals(PassedOver.MOST, reads.get());
        faults.clear();
        assertEquals("item", queue.take());
    }

    /** Else each event of a busy queue would have it tried once more, before any other. */
    @Test
    void oneOfAPriorityQueueIsNotTriedBeforeEachOfTheOthers() throws Exception {
        Coordinator other =
                opened(builder().timeSource(new ManualTimeSource()).sessionTimeout(PATIENCE.multipliedBy(2)));
        DistributedPriorityQueue<String> priorities = priorityQueue(other);
        priorities.put("secret", 0);
        for (int i = 1; i < 10; i++) {
            priorities.put("item " + i, i);
        }
        AtomicInteger tries = new AtomicInteger();
        faults.refuse(
                request -> request instanceof GetData get
                        && get.path().name().contains("queue-00-")
                        && tries.incrementAndGet() > 0,
                RefusalReason.NO_AUTH);
        for (int i = 1; i < 10; i++) {
            assertEquals("item " + i, priorities.take());
        }
        assertEquals(1, tries.get());
    }
}
