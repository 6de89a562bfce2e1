package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.NotConnectedException;
import io.conclave.node.DataCodec;
import io.conclave.recipe.RecipeSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** With a limit of zero the store's answer decides, and a put waits neither for room nor for other producers. */
@Timeout(300)
class ZeroLimitTest {
    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource(); // so nothing ends by its time
    private final Coordinator coordinator = store.connect(clock);
    private final Coordinator other = store.connect(clock);
    private final DistributedQueue<String> queue = bounded(coordinator);

    private static DistributedQueue<String> bounded(Coordinator coordinator) {
        return DistributedQueue.at(coordinator, "/queue", DataCodec.TEXT).withBound(2);
    }

    @Test
    void itemIsPutWhileThereIsRoom() throws Exception {
        assertTrue(queue.put("first", Duration.ZERO));
        assertTrue(queue.put("second", Duration.ZERO));
        assertFalse(queue.put("third", Duration.ZERO));
        assertFalse(queue.putAsync("fourth", Duration.ZERO).get(120, SECONDS));
        assertEquals("first", queue.take());
        assertTrue(queue.put("fifth", Duration.ZERO));
        assertEquals(new QueueCount(2, 0, 0), queue.count());
    }

    @Test
    void ofSeveralAtOnceAsManyArePutAsThereIsRoom() throws Exception {
        RecipeSession session = RecipeAccess.session(coordinator);
        CompletableFuture<List<CompletableFuture<Boolean>>> begun = new CompletableFuture<>();
        session.execute(() -> begun.complete(List.of(
                queue.putAsync("first", Duration.ZERO),
                queue.putAsync("second", Duration.ZERO),
                queue.putAsync("third", Duration.ZERO))));
        List<CompletableFuture<Boolean>> puts = begun.get(120, SECONDS);
        assertTrue(puts.get(0).get(120, SECONDS));
        assertTrue(puts.get(1).get(120, SECONDS));
        assertFalse(puts.get(2).get(120, SECONDS));
    }

    @Test
    void putDoesNotWaitBehindAnotherProducer() throws Exception {
        queue.put("first");
        queue.put("second");
        CompletableFuture<Void> waiting = queue.putAsync("third");
        Quiescence.await(faults, List.of(coordinator));
        assertFalse(bounded(other).put("fourth", Duration.ZERO), "the other one waits for room");
        assertFalse(queue.put("fifth", Duration.ZERO), "so does one of this process");
        assertEquals("first", queue.take());
        waiting.get(120, SECONDS);
    }

    @Test
    void putDoesNotWaitBehindOneOfItsProcessThatWaitsForAnotherProducer() throws Exception {
        queue.put("first");
        queue.put("second");
        CompletableFuture<Void> others = bounded(other).putAsync("third");
        Quiescence.await(faults, List.of(other));
        CompletableFuture<Void> ours = queue.putAsync("fourth");
        Quiescence.await(faults, List.of(coordinator));
        assertFalse(queue.putAsync("fifth", Duration.ZERO).get(120, SECONDS));
        assertFalse(queue.putAsync("sixth", Duration.ZERO).get(120, SECONDS));
        assertEquals("first", queue.take());
        assertEquals("second", queue.take());
        others.get(120, SECONDS);
        ours.get(120, SECONDS);
        assertEquals("third", queue.take());
        assertTrue(queue.putAsync("seventh", Duration.ZERO).get(120, SECONDS), "the line is empty again");
    }

    @Test
    void withoutAnAnswerItEndsWithinTheTryTimeout() throws Exception {
        faults.holdReplies(RecipeAccess.session(coordinator).id());
        CompletableFuture<Boolean> put = queue.putAsync("first", Duration.ZERO);
        clock.advanceUntil(Duration.ofMillis(100), put::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, put::get);
        assertInstanceOf(NotConnectedException.class, failure.getCause());
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        assertEquals(new QueueCount(0, 0, 0), queue.count());
    }
}
