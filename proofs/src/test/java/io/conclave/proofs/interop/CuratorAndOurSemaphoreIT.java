package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.locks.DistributedSemaphore;
import io.conclave.locks.PermitGrant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Curator's semaphore and ours on one path share their permits and queue up together, so that a fleet can move from one
 * to the other.
 */
class CuratorAndOurSemaphoreIT extends CuratorBesideOurs {
    private static final String PATH = "/semaphores/shared";
    private static final int PERMITS = 3;

    private DistributedSemaphore ours() {
        return DistributedSemaphore.at(coordinator, PATH, PERMITS);
    }

    private InterProcessSemaphoreV2 theirs() {
        return new InterProcessSemaphoreV2(curator, PATH, PERMITS);
    }

    private void awaitWaiters(int count) {
        await().atMost(PATIENCE).until(() -> ours().waiters().size() == count);
    }

    @ParameterizedTest
    @EnumSource
    void ourAcquirersWaitForCuratorsLeases(ServerKind kind) throws Exception {
        open(kind);
        Collection<Lease> leases = theirs().acquire(2);
        assertEquals(2, ours().holders().size());
        assertTrue(ours().tryAcquire(2).isEmpty());
        CompletableFuture<PermitGrant> waiting = ours().acquireAsync(2);
        awaitWaiters(1);
        assertFalse(waiting.isDone());
        theirs().returnAll(leases);
        waiting.get(120, SECONDS).close();
        assertEquals(List.of(), ours().holders());
    }

    @ParameterizedTest
    @EnumSource
    void curatorsAcquirersWaitForOurPermits(ServerKind kind) throws Exception {
        open(kind);
        PermitGrant grant = ours().acquire(2);
        assertEquals(2, theirs().getParticipantNodes().size());
        Lease free = theirs().acquire(2, SECONDS);
        assertNotNull(free, "one is left");
        assertNull(theirs().acquire(200, MILLISECONDS));
        Future<?> waiting = threads.submit(() -> {
            InterProcessSemaphoreV2 semaphore = theirs();
            semaphore.returnLease(semaphore.acquire());
            return null;
        });
        awaitWaiters(1);
        CompletableFuture<PermitGrant> behind = ours().acquireAsync(3);
        awaitWaiters(2);
        assertFalse(waiting.isDone());
        grant.close();
        waiting.get(120, SECONDS);
        assertFalse(behind.isDone());
        theirs().returnLease(free);
        behind.get(120, SECONDS).close();
        assertEquals(List.of(), ours().holders());
    }

    @ParameterizedTest
    @EnumSource
    void numberOfPermitsIsCuratorsSharedCount(ServerKind kind) throws Exception {
        open(kind);
        DistributedSemaphore semaphore = DistributedSemaphore.adjustable(coordinator, PATH, 1);
        semaphore.setPermits(1);
        try (SharedCount count = new SharedCount(curator, PATH + "/permits", 7)) {
            count.start();
            assertEquals(1, count.getCount());
            InterProcessSemaphoreV2 theirs = new InterProcessSemaphoreV2(curator, PATH, count);
            Lease lease = theirs.acquire();
            CompletableFuture<PermitGrant> waiting = semaphore.acquireAsync(2);
            awaitWaiters(1);
            count.setCount(3);
            PermitGrant grant = waiting.get(120, SECONDS);
            assertEquals(3, semaphore.permits());
            Future<Lease> next = threads.submit(() -> theirs.acquire());
            awaitWaiters(1);
            assertFalse(next.isDone());
            semaphore.setPermits(4);
            theirs.returnLease(next.get(120, SECONDS));
            theirs.returnLease(lease);
            grant.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void neverMorePermitsThanThereAre(ServerKind kind) throws Exception {
        open(kind);
        AtomicInteger out = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Future<?>> workers = new ArrayList<>();
        for (int worker = 0; worker < 6; worker++) {
            boolean curators = worker % 2 == 0;
            int count = 1 + worker % 3;
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 10; round++) {
                    if (curators) {
                        // one at a time: a client that holds one lease and waits for the next, as Curator does, may
                        // wait for others like it
                        InterProcessSemaphoreV2 semaphore = theirs();
                        Lease lease = semaphore.acquire();
                        use(1, out, most);
                        semaphore.returnLease(lease);
                    } else {
                        try (PermitGrant grant = ours().acquire(count)) {
                            use(count, out, most);
                            grant.ensureHeld();
                        }
                    }
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(120, SECONDS);
        }
        assertTrue(most.get() <= PERMITS, "out: " + most);
        await().atMost(PATIENCE).until(() -> ours().holders().isEmpty());
    }

    private static void use(int count, AtomicInteger out, AtomicInteger most) {
        most.accumulateAndGet(out.addAndGet(count), Math::max);
        Thread.yield();
        out.addAndGet(-count);
    }
}
