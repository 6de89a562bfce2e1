package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.AddWatch;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which clock decides when an item is due: the consumer's wall clock, against what the producer's wall clock wrote. */
class DelayQueueClocksTest {
    private static final String PATH = "/queues/clocks";
    private static final Duration STEP = Duration.ofSeconds(1);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final ManualTimeSource producersClock = new ManualTimeSource();
    private final ManualTimeSource consumersClock = new ManualTimeSource();
    private final Coordinator producing = connect(producersClock);
    private final Coordinator consuming = connect(consumersClock);
    private final DistributedDelayQueue<String> producer = queue(producing);
    private final DistributedDelayQueue<String> consumer = queue(consuming);

    private Coordinator connect(ManualTimeSource time) {
        return store.opened(
                store.builder().sessionTimeout(Duration.ofMinutes(5)).timeSource(time));
    }

    private static DistributedDelayQueue<String> queue(Coordinator coordinator) {
        return DistributedDelayQueue.at(coordinator, PATH, DataCodec.TEXT);
    }

    /** A consumer that has looked at the list and waits for the time of an item. */
    private CompletableFuture<String> waiting() {
        CompletableFuture<String> waiting = consumer.takeAsync();
        await().until(() -> consumersClock.untilNextTimer().isPresent()
                && !RecipeFixture.children(producing, PATH + "-conclave/consumers")
                        .isEmpty());
        return waiting;
    }

    @Test
    void consumersClockAheadLetsAnItemOutEarlyByAsMuch() throws Exception {
        producer.put("item", Duration.ofSeconds(60));
        consumersClock.advanceWallOnly(Duration.ofSeconds(59));
        assertEquals(Optional.empty(), consumer.tryTake());
        consumersClock.advanceWallOnly(Duration.ofSeconds(1));
        assertEquals(Optional.of("item"), consumer.tryTake());
    }

    @Test
    void consumersClockBehindLetsAnItemOutLateByAsMuch() throws Exception {
        producersClock.advanceWallOnly(Duration.ofSeconds(30));
        producer.put("item", Duration.ofSeconds(60));
        consumersClock.advanceWallOnly(Duration.ofSeconds(89));
        assertEquals(Optional.empty(), consumer.tryTake());
        consumersClock.advanceWallOnly(Duration.ofSeconds(1));
        assertEquals(Optional.of("item"), consumer.tryTake());
    }

    @Test
    void waiterTakesWhenTheTimeComes() throws Exception {
        producer.put("item", Duration.ofMinutes(2));
        long due = consumersClock.wallMillis() + Duration.ofMinutes(2).toMillis();
        CompletableFuture<String> waiting = waiting();
        consumersClock.advanceUntil(STEP, waiting::isDone);
        assertEquals("item", waiting.get(120, SECONDS));
        assertFalse(consumersClock.wallMillis() < due, "early");
    }

    /** Within a minute of the monotonic clock, though the item was due in three. */
    @Test
    void waiterNoticesThatItsClockWasSetForward() throws Exception {
        producer.put("item", Duration.ofMinutes(3));
        CompletableFuture<String> waiting = waiting();
        consumersClock.advanceWallOnly(Duration.ofMinutes(3)); // less than the session lives
        for (int second = 0; second < 60 && !waiting.isDone(); second++) {
            consumersClock.advance(STEP);
            for (int i = 0; i < 4; i++) { // what the step has begun goes on before the next one
                consuming.execute(Exists.of(NodePath.ROOT));
            }
        }
        assertEquals("item", waiting.get(120, SECONDS), "within a minute of its clock");
    }

    @Test
    void waiterWhoseClockWasSetBackDoesNotTakeEarly() throws Exception {
        producer.put("item", Duration.ofSeconds(5));
        CompletableFuture<String> waiting = waiting();
        consumersClock.advanceWallOnly(Duration.ofSeconds(-20));
        long due = consumersClock.wallMillis() + Duration.ofSeconds(25).toMillis();
        consumersClock.advanceUntil(STEP, waiting::isDone);
        assertEquals("item", waiting.get(120, SECONDS));
        assertFalse(consumersClock.wallMillis() < due, "early");
    }

    /** A consumer that follows a list of items that are due in an hour. */
    private CompletableFuture<String> following() throws Exception {
        for (int i = 0; i <= Consumers.FOLLOWED_ABOVE; i++) {
            producer.put("later", Duration.ofHours(1));
        }
        CompletableFuture<String> waiting = waiting();
        AtomicInteger lists = new AtomicInteger();
        faults().intercept((session, request, index) -> {
            if (request instanceof AddWatch || (lists.get() > 0 && request instanceof GetChildren)) {
                lists.incrementAndGet();
            }
            return RequestFate.PROCEED;
        });
        await().until(
                        () -> { // one that is put before the consumer's first look has it follow nothing
                            producer.put("later", Duration.ofHours(1));
                            return lists.get() > 1;
                        });
        consuming.execute(Exists.of(NodePath.of(PATH))); // answered behind the list
        return waiting;
    }

    private Faults faults() {
        return store.faults();
    }

    /** On the next connection nothing is followed, until the list is read again. */
    @Test
    void waiterThatFollowsHearsAtOnceOfAnItemThatIsPutAfterItsConnectionBroke() throws Exception {
        CompletableFuture<String> waiting = following();
        faults().isolate(consumersClock);
        await().until(() -> consuming.state() == SessionState.SUSPENDED);
        faults().rejoin(consumersClock);
        await().until(() -> consuming.state() == SessionState.CONNECTED);
        producer.put("now", Duration.ZERO);
        assertEquals("now", waiting.get(60, SECONDS));
    }

    @Test
    void waiterThatFollowsHearsAtOnceOfAnItemThatIsPutAfterTheQueuesZnodeWasWritten() throws Exception {
        CompletableFuture<String> waiting = following();
        producing.execute(SetData.of(NodePath.of(PATH), new byte[] {1}));
        producer.put("now", Duration.ZERO);
        assertEquals("now", waiting.get(60, SECONDS));
    }
}
