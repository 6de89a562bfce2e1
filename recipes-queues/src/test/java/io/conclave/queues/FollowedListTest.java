package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A consumer of a long priority queue follows its list instead of reading it again. Its clock stands still, so the list
 * never is old.
 */
class FollowedListTest {
    private static final NodePath PATH = NodePath.of("/queues/long");
    private static final int ITEMS = 200;

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator producing = connect(TimeSource.system());
    private final Coordinator consuming = connect(new ManualTimeSource());
    private final Faults faults = store.faults();
    private final DistributedPriorityQueue<String> producer = queue(producing);
    private final DistributedPriorityQueue<String> consumer = queue(consuming);

    private Coordinator connect(TimeSource time) {
        return store.builder()
                .sessionTimeout(Duration.ofMinutes(5))
                .tryTimeout(Duration.ofMinutes(2)) // for a busy machine
                .timeSource(time)
                .connect();
    }

    private static DistributedPriorityQueue<String> queue(Coordinator coordinator) {
        return DistributedPriorityQueue.at(coordinator, PATH.toString(), DataCodec.TEXT);
    }

    @BeforeEach
    void putMany() throws Exception {
        List<CompletableFuture<Void>> puts = new ArrayList<>();
        for (int i = 0; i < ITEMS; i++) {
            puts.add(producer.putAsync("work " + i, 10));
        }
        CompletableFuture.allOf(puts.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
    }

    private void take(int first, int count) throws InterruptedException {
        for (int i = first; i < first + count; i++) {
            assertEquals("work " + i, consumer.take());
        }
    }

    /** A list that is read for each item would be two and a half requests each, and its names. */
    @Test
    void takesReadOnlyTheItems() throws Exception {
        take(0, 5);
        long before = faults.requestCount();
        take(5, 100);
        long requests = faults.requestCount() - before;
        assertTrue(requests <= 210, () -> requests + " requests for 100 takes");
    }

    @Test
    void whatCameWhileTheConnectionWasAwayIsNotMissed() throws Exception {
        take(0, 5);
        faults.suspend(RecipeAccess.session(consuming).id());
        await().until(() -> consuming.state() == SessionState.SUSPENDED);
        producer.put("urgent", 1);
        assertEquals("urgent", queue(producing).tryTake().orElseThrow());
        producer.put("urgent again", 1);
        faults.restoreAll();
        await().until(() -> consuming.state() == SessionState.CONNECTED);
        assertEquals("urgent again", consumer.take());
        take(5, 5);
    }

    @Test
    void itemThatThisSessionGivesBackKeepsItsPlace() throws Exception {
        take(0, 5);
        Claim<String> claim = consumer.claim();
        assertEquals("work 5", claim.item());
        take(6, 5);
        claim.close();
        await().until(() -> producer.count().claimed() == 0);
        consuming.execute(Sync.of(PATH));
        take(5, 1);
        take(11, 5);
    }

    @Test
    void listIsReadWhereTheServerHasNoPersistentWatches() throws Exception {
        faults.withoutPersistentWatches();
        try (Coordinator older = connect(new ManualTimeSource())) {
            DistributedPriorityQueue<String> queue = queue(older);
            for (int i = 0; i < 5; i++) {
                assertEquals("work " + i, queue.take());
            }
            producer.put("urgent", 1);
            assertEquals("urgent", queue.take());
        }
    }

    @Test
    @Timeout(300)
    void listIsReadWhereTheServerRefusesThePersistentWatch() throws Exception {
        faults.withoutPersistentWatches(); // the consumer was told otherwise when it connected
        take(0, 5);
        producer.put("urgent", 1);
        assertEquals("urgent", consumer.take());
        take(5, 5);
    }
}
