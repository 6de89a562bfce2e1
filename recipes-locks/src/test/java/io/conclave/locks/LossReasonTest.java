package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.grant.Grant;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.NodePath;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.MemoryStore;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Why a grant is not held any more is known as soon as it is not, also before {@code lost()} tells. */
class LossReasonTest {
    @RegisterExtension
    final TestStore store = new TestStore();

    private final CompletableFuture<Grant> grant = new CompletableFuture<>();
    private final CompletableFuture<LossReason> reason = new CompletableFuture<>();
    private final Coordinator coordinator = store.opened(store.builder().metrics(new AsksAtTheLoss()));

    /** Is told of a loss before the grant's own listeners are. */
    private final class AsksAtTheLoss implements MetricsHook {
        @Override
        public void count(String name, String subject) {
            if (name.equals("semaphore.lost") || name.equals("lock.lost")) {
                reason.complete(assertThrows(
                                GrantLostException.class, () -> grant.join().ensureHeld())
                        .reason());
            }
        }
    }

    private void assertDeletionIsTheReason(String znodes) throws Exception {
        CompletableFuture<LossReason> lost = grant.join().lost();
        MemoryStore memory = store.memory();
        NodePath one = memory.snapshot().keySet().stream()
                .filter(path -> path.toString().startsWith(znodes + "/"))
                .findFirst()
                .orElseThrow();
        assertTrue(memory.faults().deleteAsOperator(one));
        assertEquals(LossReason.NODE_DELETED, reason.get(120, SECONDS));
        assertEquals(LossReason.NODE_DELETED, lost.get(120, SECONDS));
    }

    @Test
    void permitThatWasDeletedIsNotTakenForALostSession() throws Exception {
        grant.complete(DistributedSemaphore.at(coordinator, "/permits", 3).acquire(2));
        assertDeletionIsTheReason("/permits/leases");
    }

    @Test
    void placeOfAMultiLockThatWasDeletedIsNotTakenForALostSession() throws Exception {
        grant.complete(MultiLock.of(DistributedLock.at(coordinator, "/a"), DistributedLock.at(coordinator, "/b"))
                .acquire());
        assertDeletionIsTheReason("/b");
    }
}
