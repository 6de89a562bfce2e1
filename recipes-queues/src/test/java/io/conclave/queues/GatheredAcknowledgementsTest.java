package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What acknowledgements cost that come together, and what becomes of the others when one of them is refused. */
class GatheredAcknowledgementsTest {
    private static final NodePath PATH = NodePath.of("/queues/acknowledged");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator coordinator = store.builder()
            .sessionTimeout(Duration.ofHours(1)) // nobody keeps it alive
            .timeSource(new ManualTimeSource()) // so no timer sends a request that is counted
            .connect();
    private final DistributedQueue<String> queue = DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);

    @AfterEach
    void close() {
        coordinator.close();
    }

    private List<Claim<String>> claims(int count) throws Exception {
        List<CompletableFuture<Claim<String>>> claims = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            queue.put("item " + i);
            claims.add(queue.claimAsync());
        }
        List<Claim<String>> claimed = new ArrayList<>();
        for (CompletableFuture<Claim<String>> claim : claims) {
            claimed.add(claim.get(120, SECONDS));
        }
        return claimed;
    }

    /** All in one task of the dispatcher, so that no reply comes in between. */
    private CompletableFuture<List<CompletableFuture<Void>>> acknowledge(List<Claim<String>> claims) {
        CompletableFuture<List<CompletableFuture<Void>>> begun = new CompletableFuture<>();
        RecipeAccess.session(coordinator)
                .execute(() -> begun.complete(
                        claims.stream().map(Claim::acknowledgeAsync).toList()));
        return begun;
    }

    private long requestsOf(List<Claim<String>> claims) throws Exception {
        Faults faults = store.faults();
        Quiescence.await(faults, List.of(coordinator));
        long before = faults.requestCount();
        for (CompletableFuture<Void> one : acknowledge(claims).get(120, SECONDS)) {
            one.get(120, SECONDS);
        }
        long looking = Quiescence.await(faults, List.of(coordinator));
        return faults.requestCount() - before - looking;
    }

    @Test
    void oneAloneIsOneRequest() throws Exception {
        assertEquals(1, requestsOf(claims(1)));
    }

    @Test
    void whatGathersBehindTheFirstIsOneRequest() throws Exception {
        assertEquals(2, requestsOf(claims(10)));
        assertEquals(new QueueCount(0, 0, 0), queue.count());
    }

    @Test
    void moreThanOneTransactionTakesAreSeveral() throws Exception {
        assertEquals(3, requestsOf(claims(GatheredAcknowledgements.MAX_AT_ONCE + 10)));
        assertEquals(new QueueCount(0, 0, 0), queue.count());
    }

    @Test
    void oneThatIsRefusedDoesNotKeepTheOthers() throws Exception {
        List<Claim<String>> claims = claims(6);
        int lost = 3;
        coordinator.execute(Delete.of(PATH.child(claimOf(lost))));
        List<CompletableFuture<Void>> outcomes = acknowledge(claims).get(120, SECONDS);
        for (int i = 0; i < claims.size(); i++) {
            CompletableFuture<Void> outcome = outcomes.get(i);
            if (i == lost) {
                CompletionException failure =
                        assertThrows(CompletionException.class, () -> outcome.orTimeout(120, SECONDS)
                                .join());
                assertEquals(GrantLostException.class, failure.getCause().getClass());
            } else {
                outcome.get(120, SECONDS);
            }
        }
        assertEquals(ClaimEnd.TAKEN_AWAY, claims.get(lost).ended().get(120, SECONDS));
        assertEquals(new QueueCount(1, 0, 0), queue.count());
        assertEquals(claims.get(lost).item(), queue.take());
    }

    /** The items were put in their order. */
    private String claimOf(int item) throws InterruptedException {
        return QueueFixture.children(coordinator, PATH.toString()).stream()
                .flatMap(child -> ItemName.claimed(child).stream())
                .sorted(Comparator.comparingInt(ItemName::sequence))
                .toList()
                .get(item)
                .claim();
    }
}
