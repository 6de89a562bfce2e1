package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.request.GetChildren;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many waiters of one process in one line: they share what they read of it. */
class LockCrowdTest {
    private static final int WAITERS = 200;

    @Test
    void waitersThatComeTogetherShareReadsOfTheQueueAndGetTheLockInTheirOrder() throws Exception {
        String store = UUID.randomUUID().toString();
        Faults faults = MemoryStore.named(store).faults();
        try (Coordinator coordinator = Coordinator.connect("memory:" + store)) {
            DistributedLock lock = DistributedLock.at(coordinator, "/locks/crowd");
            LockGrant first = lock.acquire();
            AtomicInteger lists = new AtomicInteger();
            faults.intercept((session, request, index) -> {
                if (request instanceof GetChildren) {
                    lists.incrementAndGet();
                }
                return RequestFate.PROCEED;
            });
            long session = RecipeAccess.session(coordinator).id();
            faults.suspend(session); // so that all have come before anything is answered
            List<CompletableFuture<LockGrant>> waiters = new ArrayList<>();
            for (int i = 0; i < WAITERS; i++) {
                waiters.add(lock.acquireAsync());
            }
            CompletableFuture<Void> allEntered = new CompletableFuture<>();
            RecipeAccess.session(coordinator).execute(() -> allEntered.complete(null));
            allEntered.get(120, SECONDS);
            faults.restore(session);
            assertEquals(WAITERS + 1, lock.members().size());
            int together = lists.get();
            assertTrue(together < 20, "lists of the line for " + WAITERS + " waiters: " + together);
            long last = first.token().sequence();
            first.close();
            for (CompletableFuture<LockGrant> waiter : waiters) {
                LockGrant grant = waiter.get(120, SECONDS);
                assertTrue(grant.token().sequence() > last);
                last = grant.token().sequence();
                grant.close();
            }
        } finally {
            MemoryStore.forget(store);
        }
    }
}
