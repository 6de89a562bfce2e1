package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.FullQueue;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A lease is held, and the watch on it is refused at first, by the bound of the session's queue. */
class RefusedLeaseWatchTest {
    private static final NodePath PATH = NodePath.of("/leases/refused");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final FullQueue full = new FullQueue(store);
    private final Coordinator holding = full.client();
    private final Coordinator other =
            store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)).timeSource(new ManualTimeSource()));
    private final LeasedLock lock = LeasedLock.at(holding, PATH, Duration.ofHours(1));

    private void isToldOfALossAfterAMoment(LeasedGrant grant) throws Exception {
        full.settle();
        assertTrue(grant.isHeld());
        full.goOn();
        assertTrue(LeasedLock.at(other, PATH, Duration.ofHours(1)).release(grant.id()));
        full.settle();
        assertFalse(grant.isHeld(), "without any request of its own");
        assertEquals(LossReason.NODE_DELETED, grant.lost().get());
    }

    @Test
    void fullQueueWhenTheLeaseIsExtendedCostsNoLoss() throws Exception {
        LeasedGrant grant = lock.acquire();
        full.settle();
        faults.holdReplies(full.session());
        other.execute(
                SetData.of(grant.path(), other.execute(GetData.of(grant.path())).data()));
        full.releaseRepliesBeforeThoseOfAFlood();
        isToldOfALossAfterAMoment(grant);
    }
}
