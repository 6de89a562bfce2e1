package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Curator's mutex and ours on one path exclude each other and queue up together, so that a fleet can move from one to
 * the other.
 */
@Tag("default")
class CuratorAndOurLockIT extends CuratorBesideOurs {
    private static final String PATH = "/locks/shared";

    private DistributedLock ours() {
        return DistributedLock.at(coordinator, PATH);
    }

    private void awaitMembers(int count) {
        await().atMost(PATIENCE).until(() -> ours().members().size() == count);
    }

    @ParameterizedTest
    @EnumSource
    void ourLockWaitsForCurators(ServerKind kind) throws Exception {
        open(kind);
        InterProcessMutex theirs = new InterProcessMutex(curator, PATH);
        theirs.acquire();
        assertTrue(ours().tryAcquire().isEmpty());
        CompletableFuture<LockGrant> waiting = ours().acquireAsync();
        awaitMembers(2);
        assertFalse(waiting.isDone());
        long before = ours().members().get(0).sequence();
        theirs.release();
        LockGrant grant = waiting.get(120, SECONDS);
        assertTrue(grant.token().sequence() > before);
        grant.close();
        awaitMembers(0);
    }

    @ParameterizedTest
    @EnumSource
    void curatorsLockWaitsForOurs(ServerKind kind) throws Exception {
        open(kind);
        LockGrant grant = ours().acquire(PATIENCE);
        InterProcessMutex theirs = new InterProcessMutex(curator, PATH);
        assertFalse(theirs.acquire(200, java.util.concurrent.TimeUnit.MILLISECONDS));
        Future<?> waiting = threads.submit(() -> {
            theirs.acquire();
            theirs.release();
            return null;
        });
        awaitMembers(2);
        assertFalse(waiting.isDone());
        assertTrue(ours().members().get(1).sequence() > grant.token().sequence());
        grant.close();
        waiting.get(120, SECONDS);
        awaitMembers(0);
    }

    @ParameterizedTest
    @EnumSource
    void bothKindsAreServedInTheOrderInWhichTheyCame(ServerKind kind) throws Exception {
        open(kind);
        LockGrant first = ours().acquire(PATIENCE);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<Future<?>> waiting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int number = i;
            waiting.add(threads.submit(() -> {
                take(number % 2 == 0, () -> order.add(number));
                return null;
            }));
            awaitMembers(i + 2);
        }
        first.close();
        for (Future<?> one : waiting) {
            one.get(120, SECONDS);
        }
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), order);
    }

    @ParameterizedTest
    @EnumSource
    void neverTwoInsideAndTheOwnersNumbersGrow(ServerKind kind) throws Exception {
        open(kind);
        AtomicInteger inside = new AtomicInteger();
        List<Long> holders = Collections.synchronizedList(new ArrayList<>());
        List<Future<?>> workers = new ArrayList<>();
        for (int worker = 0; worker < 6; worker++) {
            boolean curators = worker % 2 == 0;
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 10; round++) {
                    take(curators, () -> {
                        assertEquals(1, inside.incrementAndGet());
                        holders.add(ours().holder().orElseThrow().sequence());
                        inside.decrementAndGet();
                    });
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(120, SECONDS);
        }
        assertEquals(60, holders.size());
        assertEquals(holders.stream().sorted().distinct().toList(), holders);
    }

    private interface Inside {
        void run() throws Exception;
    }

    private void take(boolean curators, Inside inside) throws Exception {
        if (curators) {
            InterProcessMutex theirs = new InterProcessMutex(curator, PATH);
            theirs.acquire();
            try {
                inside.run();
            } finally {
                theirs.release();
            }
        } else {
            try (LockGrant grant = ours().acquire()) {
                inside.run();
                grant.ensureHeld();
            }
        }
    }
}
