package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.testkit.history.LockHistory;
import io.conclave.testkit.history.LockHistoryChecker;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/**
 * What a lock promises to its waiters: their turn, one at a time, and that nothing stays behind of those that give up.
 */
abstract class LockWaitingContract extends LockFixture {
    @Test
    void onlyOneHoldsTheLockAndTokensGrow() throws Exception {
        LockHistory history = new LockHistory(TimeSource.system());
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int worker = i;
            DistributedLock lock = lockOf(connect());
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 10; round++) {
                    takeTurn(lock, history, "worker " + worker + " round " + round);
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(120, SECONDS);
        }
        assertEquals(40 * 4, history.events().size());
        LockHistoryChecker.assertClean(history);
    }

    private static void takeTurn(DistributedLock lock, LockHistory history, String contender) throws Exception {
        history.requested(contender);
        LockGrant grant = lock.acquire(PATIENCE);
        history.enqueued(contender, grant.token().sequence());
        history.granted(contender, grant);
        history.released(contender);
        grant.close();
    }

    @Test
    void virtualThreadsWaitAndRelease() throws Exception {
        Coordinator coordinator = connect();
        AtomicInteger turns = new AtomicInteger();
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            started.add(startVirtual(() -> {
                Lock view = lockOf(coordinator).asLock();
                view.lock();
                turns.incrementAndGet();
                view.unlock();
            }));
        }
        for (Thread thread : started) {
            thread.join(60_000);
        }
        assertEquals(20, turns.get());
        awaitMembers(coordinator, 0);
    }

    /** A virtual thread where the JVM has them (21 and newer), else a platform thread. */
    private static Thread startVirtual(Runnable task) throws ReflectiveOperationException {
        if (Runtime.version().feature() >= 21) {
            return (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        }
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    }

    @Test
    void firstComeFirstServed() throws Exception {
        Coordinator coordinator = connect();
        LockGrant first = lockOf(coordinator).acquire(PATIENCE);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<?>> waiters = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int number = i;
            waiters.add(
                    lockOf(i % 2 == 0 ? coordinator : connect()).acquireAsync().thenCompose(grant -> {
                        order.add(number);
                        return grant.closeAsync();
                    }));
            awaitMembers(coordinator, i + 2);
        }
        first.close();
        CompletableFuture.allOf(waiters.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7), order);
    }

    @Test
    void manyWaitersNeedNoThreadEach() throws Exception {
        ThreadGroup own = new ThreadGroup("many waiters"); // other tests run at the same time, and have threads, too
        FutureTask<Void> counted = new FutureTask<>(() -> {
            letManyWait(own);
            return null;
        });
        new Thread(own, counted, "many waiters").start();
        counted.get(120, SECONDS);
    }

    private void letManyWait(ThreadGroup own) throws Exception {
        Coordinator coordinator = connect();
        LockGrant first = lockOf(coordinator).acquire(PATIENCE);
        int before = own.activeCount();
        List<CompletableFuture<?>> waiters = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiters.add(lockOf(coordinator).acquireAsync().thenCompose(LockGrant::closeAsync));
        }
        awaitMembers(coordinator, 101);
        int after = own.activeCount();
        assertTrue(after - before < 50, "threads: " + before + " -> " + after);
        first.close();
        CompletableFuture.allOf(waiters.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
        assertEquals(List.of(), children(coordinator));
    }

    @Test
    void timeoutLeavesNothingBehind() throws Exception {
        Coordinator holder = connect();
        Coordinator other = connect();
        LockGrant grant = lockOf(holder).acquire(PATIENCE);
        assertThrows(AcquireTimeoutException.class, () -> lockOf(other).acquire(Duration.ofMillis(100)));
        awaitMembers(holder, 1);
        ExecutionException failure = assertThrows(
                ExecutionException.class,
                () -> lockOf(other).acquireAsync(Duration.ofMillis(50)).get(120, SECONDS));
        assertTrue(failure.getCause() instanceof AcquireTimeoutException, failure::toString);
        awaitMembers(holder, 1);
        assertTrue(grant.isHeld());
    }

    @Test
    void interruptLeavesNothingBehind() throws Exception {
        Coordinator holder = connect();
        Coordinator other = connect();
        LockGrant grant = lockOf(holder).acquire(PATIENCE);
        AtomicReference<Thread> waiting = new AtomicReference<>();
        Future<?> waiter = threads.submit(() -> {
            waiting.set(Thread.currentThread());
            assertThrows(InterruptedException.class, () -> lockOf(other).acquire());
        });
        awaitMembers(holder, 2);
        waiting.get().interrupt();
        waiter.get(120, SECONDS);
        awaitMembers(holder, 1);
        assertTrue(grant.isHeld());
    }

    @Test
    void interruptedBeforeTheCallLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        Future<?> waiter = threads.submit(() -> {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> lockOf(coordinator).acquire());
        });
        waiter.get(120, SECONDS);
        awaitMembers(coordinator, 0);
    }

    @Test
    void cancellingAnAsynchronousWaitLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(coordinator).acquireAsync();
        awaitMembers(coordinator, 2);
        waiter.cancel(true);
        awaitMembers(coordinator, 1);
        grant.close();
        CompletableFuture<LockGrant> cancelledAtOnce = lockOf(coordinator).acquireAsync();
        if (!cancelledAtOnce.cancel(true)) {
            cancelledAtOnce.get().close(); // the grant was quicker
        }
        awaitMembers(coordinator, 0);
    }

    @Test
    void callerThatCompletesTheStageItselfLeavesTheQueueToo() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(coordinator).acquireAsync();
        awaitMembers(coordinator, 2);
        assertTrue(waiter.complete(grant));
        awaitMembers(coordinator, 1);
        assertTrue(grant.isHeld());
        grant.close();
        awaitMembers(coordinator, 0);
    }
}
