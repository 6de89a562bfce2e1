package io.conclave.locks;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Permits are held, and the watch on one of them is refused at first, by the bound of the session's queue. */
class RefusedPermitWatchTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final NodePath PATH = NodePath.of("/semaphores/refused");
    private static final int BOUND = 20;

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator holding = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofSeconds(30))
            .timeSource(clock)
            .maxQueuedRequests(BOUND)
            .connect();
    private final Coordinator other = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofSeconds(30))
            .timeSource(new ManualTimeSource())
            .connect();
    private final DistributedSemaphore semaphore = DistributedSemaphore.at(holding, PATH, 2);

    @AfterEach
    void close() {
        faults.clear();
        holding.close();
        other.close();
        MemoryStore.forget(store);
    }

    private long session() {
        return RecipeAccess.session(holding).id();
    }

    /** What was sent before is answered when this returns, and so is what follows from it. */
    private void settle() throws Exception {
        for (int i = 0; i < 4; i++) {
            holding.execute(Exists.of(NodePath.ROOT));
        }
    }

    /** What the session is told next finds its queue full. */
    private void releaseRepliesBeforeThoseOfAFlood() {
        List<CompletableFuture<?>> flood = new ArrayList<>();
        for (int i = 0; i < BOUND; i++) {
            flood.add(holding.submit(Exists.of(NodePath.ROOT)).handle((stat, failure) -> stat));
        }
        faults.releaseReplies(session());
        flood.forEach(CompletableFuture::join);
    }

    private void isToldOfALossAfterAMoment(PermitGrant grant) throws Exception {
        settle();
        assertTrue(grant.isHeld());
        clock.advance(Duration.ofSeconds(1));
        settle();
        List<NodePath> permits = grant.paths();
        assertEquals(permits.size(), faults.watchCount(session()));
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
        releaseRepliesBeforeThoseOfAFlood(); // the transaction's own place in the queue is free for the first watch
        isToldOfALossAfterAMoment(acquiring.get());
    }

    @Test
    void fullQueueWhenAPermitIsWrittenCostsNoPermits() throws Exception {
        PermitGrant grant = semaphore.acquire(1);
        settle();
        faults.holdReplies(session());
        other.execute(SetData.of(grant.paths().get(0), new byte[] {1}));
        releaseRepliesBeforeThoseOfAFlood();
        isToldOfALossAfterAMoment(grant);
    }

    @Test
    void permitsThatAreGivenUpBeforeTheNextAttemptAreNotWatched() throws Exception {
        PermitGrant grant = semaphore.acquire(1);
        settle();
        faults.holdReplies(session());
        other.execute(SetData.of(grant.paths().get(0), new byte[] {1}));
        releaseRepliesBeforeThoseOfAFlood();
        grant.close();
        clock.advance(Duration.ofSeconds(1));
        settle();
        assertEquals(0, faults.watchCount(session()));
        assertEquals(LossReason.RELEASED, grant.lost().get());
    }
}
