package io.conclave.queues;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A claim is given back whose item another client has written to. */
class ClaimReleaseTest {
    private static final NodePath PATH = NodePath.of("/queue");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final Coordinator coordinator = connect();
    private final Coordinator operator = connect();
    private final DistributedQueue<String> queue = DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);

    private Coordinator connect() {
        return store.builder()
                .sessionTimeout(Duration.ofHours(1))
                .timeSource(new ManualTimeSource()) // so nothing ends by its time
                .connect();
    }

    private ItemName claimed() throws InterruptedException {
        return RecipeFixture.children(operator, PATH.toString()).stream()
                .flatMap(child -> ItemName.claimed(child).stream())
                .findFirst()
                .orElseThrow();
    }

    private void writeToTheItem() throws InterruptedException {
        operator.execute(SetData.of(PATH.child(claimed().name()), DataCodec.TEXT.encode("written")));
    }

    private void deleteTheClaim() throws InterruptedException {
        operator.execute(Delete.of(PATH.child(claimed().claim())));
    }

    private int claims() throws InterruptedException {
        return queue.count().claimed();
    }

    private static boolean isRelease(Request<?> request) {
        return request instanceof Multi multi && multi.operations().size() == 2;
    }

    @Test
    void claimGoesAlsoIfRepliesAreLost() throws Exception {
        for (RequestFate fate : new RequestFate[] {
            RequestFate.DROP_BEFORE, RequestFate.DROP_AFTER, RequestFate.DROP_AND_APPLY_LATE, RequestFate.DROP_AND_LAG
        }) {
            queue.put("item");
            Claim<String> claim = queue.claim();
            writeToTheItem();
            faults.onNth(1, ClaimReleaseTest::isRelease, fate); // it is refused
            faults.onNth(3, ClaimReleaseTest::isRelease, fate); // behind the same again: it takes effect
            claim.close();
            await().until(() -> claims() == 0);
            assertEquals("written", queue.take());
            faults.clear();
        }
    }

    @Test
    void laterClaimOfTheSameSessionStays() throws Exception {
        queue.put("item");
        Claim<String> former = queue.claim();
        deleteTheClaim();
        Claim<String> later = queue.claim();
        former.close();
        awaitAnswers();
        assertEquals(1, claims());
        assertTrue(later.isHeld());
        later.acknowledge();
        assertEquals(Optional.empty(), queue.tryTake());
    }

    @Test
    void claimOfAnotherStaysThatComesBeforeADeletionThatIsLate() throws Exception {
        queue.put("item");
        Claim<String> former = queue.claim();
        writeToTheItem();
        faults.onNth(2, ClaimReleaseTest::isRelease, RequestFate.DROP_AND_APPLY_LATE); // the first one is refused
        faults.reconnectAfter(Duration.ofMinutes(1));
        former.close();
        await().until(() -> coordinator.state() == SessionState.SUSPENDED);
        deleteTheClaim();
        DistributedQueue<String> others = DistributedQueue.at(operator, PATH, DataCodec.TEXT);
        Claim<String> later = others.tryClaim().orElseThrow(); // past the consumers in line
        faults.restoreAll();
        awaitAnswers();
        assertEquals(1, others.count().claimed());
        later.acknowledge();
        assertEquals(Optional.empty(), others.tryTake());
    }

    /** Requests are answered in order; a release is one, a sync, two reads and a deletion, and as much once more. */
    private void awaitAnswers() throws Exception {
        for (int answer = 0; answer < 10; answer++) {
            queue.count();
        }
    }
}
