package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lease is held, and the watch on it is refused at first, by the bound of the session's queue. */
class RefusedLeaseWatchTest {
    private static final NodePath PATH = NodePath.of("/leases/refused");
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
    private final LeasedLock lock = LeasedLock.at(holding, PATH, Duration.ofHours(1));

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

    private void isToldOfALossAfterAMoment(LeasedGrant grant) throws Exception {
        settle();
        assertTrue(grant.isHeld());
        clock.advance(Duration.ofSeconds(1));
        settle();
        assertTrue(LeasedLock.at(other, PATH, Duration.ofHours(1)).release(grant.id()));
        settle();
        assertFalse(grant.isHeld(), "without any request of its own");
        assertEquals(LossReason.NODE_DELETED, grant.lost().get());
    }

    @Test
    void fullQueueWhenTheLeaseIsExtendedCostsNoLoss() throws Exception {
        LeasedGrant grant = lock.acquire();
        settle();
        faults.holdReplies(session());
        other.execute(
                SetData.of(grant.path(), other.execute(GetData.of(grant.path())).data()));
        releaseRepliesBeforeThoseOfAFlood();
        isToldOfALossAfterAMoment(grant);
    }
}
