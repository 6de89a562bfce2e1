package io.conclave.locks;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.FullQueue;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Permits are held, and the watch on one of them is refused at first, by the bound of the session's queue. */
class RefusedPermitWatchTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final NodePath PATH = NodePath.of("/semaphores/refused");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final FullQueue full = new FullQueue(store);
    private final Coordinator holding = full.client();
    private final Coordinator other =
            store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)).timeSource(new ManualTimeSource()));
    private final DistributedSemaphore semaphore = DistributedSemaphore.at(holding, PATH, 2);

    private void isToldOfALossAfterAMoment(PermitGrant grant) throws Exception {
        full.settle();
        assertTrue(grant.isHeld());
        full.goOn();
        List<NodePath> permits = grant.paths();
        assertEquals(permits.size(), faults.watchCount(full.session()));
        other.execute(Delete.of(permits.get(permits.size() - 1)));
        assertEquals(LossReason.NODE_DELETED, grant.lost().get());
    }

    @Test
    void fullQueueAtTheGrantCostsNoPermits() throws Exception {
        semaphore.acquire(1).close(); // the leases have their parent
        faults.onNext(Multi.class::isInstance, RequestFate.HOLD_REPLY);
        CompletableFuture<PermitGrant> acquiring = semaphore.acquireAsync(2);
        await().atMost(PATIENCE)
                .until(() -> other.execute(Exists.of(PATH.child("leases")))
                                .orElseThrow()
                                .numChildren()
                        == 2);
        full.releaseRepliesBeforeThoseOfAFlood(); // the transaction's own place in the queue is free for the first
        // watch
        isToldOfALossAfterAMoment(acquiring.get());
    }

    @Test
    void fullQueueWhenAPermitIsWrittenCostsNoPermits() throws Exception {
        PermitGrant grant = semaphore.acquire(1);
        full.settle();
        faults.holdReplies(full.session());
        other.execute(SetData.of(grant.paths().get(0), new byte[] {1}));
        full.releaseRepliesBeforeThoseOfAFlood();
        isToldOfALossAfterAMoment(grant);
    }

    @Test
    void permitsThatAreGivenUpBeforeTheNextAttemptAreNotWatched() throws Exception {
        PermitGrant grant = semaphore.acquire(1);
        full.settle();
        faults.holdReplies(full.session());
        other.execute(SetData.of(grant.paths().get(0), new byte[] {1}));
        full.releaseRepliesBeforeThoseOfAFlood();
        grant.close();
        full.goOn();
        assertEquals(0, faults.watchCount(full.session()));
        assertEquals(LossReason.RELEASED, grant.lost().get());
    }
}
