package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.NotConnectedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a semaphore promises when many want its permits at a time. */
abstract class SemaphoreCrowdContract extends SemaphoreFixture {
    private interface Turn {
        void take() throws Exception;
    }

    private void takeTurns(String who, DistributedSemaphore semaphore, int count, PermitHistory history)
            throws InterruptedException {
        try (PermitGrant grant = semaphore.acquire(count, PATIENCE.multipliedBy(3))) {
            history.granted(who, count);
            Thread.yield();
            history.released(who, count);
        }
    }

    private Future<?> start(Turn turn) {
        return threads.submit(() -> {
            turn.take();
            return null;
        });
    }

    private static void awaitAll(List<Future<?>> futures) throws Exception {
        for (Future<?> future : futures) {
            future.get(120, SECONDS);
        }
    }

    @Test
    void twoWaitersForManyPermitsAreServedAmongManyWaitersForFew() throws Exception {
        int permits = 4;
        PermitHistory history = new PermitHistory(permits);
        List<Coordinator> coordinators = List.of(connect(), connect(), connect());
        AtomicBoolean bigOnesDone = new AtomicBoolean();
        AtomicInteger small = new AtomicInteger();
        List<Future<?>> bigOnes = new ArrayList<>();
        List<Future<?>> smallOnes = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            String who = "small " + i;
            DistributedSemaphore semaphore = semaphore(coordinators.get(i % 3), permits);
            smallOnes.add(start(() -> {
                while (!bigOnesDone.get()) {
                    takeTurns(who, semaphore, 1, history);
                    small.incrementAndGet();
                }
            }));
        }
        for (int i = 0; i < 2; i++) {
            String who = "big " + i;
            DistributedSemaphore semaphore = semaphore(coordinators.get(i), permits);
            int count = permits - i; // 4 and 3 of 4 permits
            bigOnes.add(start(() -> {
                for (int turn = 0; turn < 10; turn++) {
                    takeTurns(who, semaphore, count, history);
                }
            }));
        }
        awaitAll(bigOnes);
        bigOnesDone.set(true);
        awaitAll(smallOnes);
        assertEquals(List.of(), history.violations());
        assertTrue(small.get() > 0);
        awaitEmpty(coordinators.get(0));
    }

    @Test
    void permitsNeverExceedTheirNumberInACrowd() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println(getClass().getSimpleName() + ": semaphore crowd, seed " + seed);
        int permits = 5;
        PermitHistory history = new PermitHistory(permits);
        List<Coordinator> coordinators = List.of(connect(), connect(), connect());
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            String who = "actor " + i;
            Random random = new Random(seed + i);
            DistributedSemaphore semaphore = semaphore(coordinators.get(i % 3), permits);
            all.add(start(() -> {
                for (int turn = 0; turn < 8; turn++) {
                    comeAndGo(who, semaphore, 1 + random.nextInt(permits), random, history);
                }
            }));
        }
        awaitAll(all);
        assertEquals(List.of(), history.violations());
        awaitEmpty(coordinators.get(0));
    }

    private void comeAndGo(String who, DistributedSemaphore semaphore, int count, Random random, PermitHistory history)
            throws Exception {
        switch (random.nextInt(5)) {
            case 0 -> {
                try {
                    semaphore.tryAcquire(count).ifPresent(grant -> use(who, grant, history));
                } catch (NotConnectedException busy) {
                    Thread.yield(); // the store did not answer within a second: nothing is held
                }
            }
            case 1 -> {
                try {
                    use(who, semaphore.acquire(count, Duration.ofMillis(random.nextInt(20))), history);
                } catch (AcquireTimeoutException tooLate) {
                    Thread.yield();
                }
            }
            case 2 -> {
                CompletableFuture<PermitGrant> stage = semaphore.acquireAsync(count);
                if (random.nextBoolean()) {
                    Thread.yield();
                }
                stage.cancel(false);
                try {
                    use(who, stage.getNow(null), history);
                } catch (CancellationException cancelled) {
                    Thread.yield();
                }
            }
            default -> takeTurns(who, semaphore, count, history);
        }
    }

    private static void use(String who, PermitGrant grant, PermitHistory history) {
        history.granted(who, grant.permits());
        Thread.yield();
        history.released(who, grant.permits());
        grant.close();
    }

    @Test
    void numberOfPermitsMayChangeWhileInUse() throws Exception {
        PermitHistory history = new PermitHistory(5); // the most that there ever are
        List<Coordinator> coordinators = List.of(connect(), connect(), connect());
        AtomicBoolean done = new AtomicBoolean();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String who = "actor " + i;
            DistributedSemaphore semaphore = adjustable(coordinators.get(i % 3), 5);
            int count = 1 + i % 2;
            all.add(start(() -> {
                while (!done.get()) {
                    takeTurns(who, semaphore, count, history);
                }
            }));
        }
        DistributedSemaphore semaphore = adjustable(connect(), 5);
        for (int permits : new int[] {1, 3, 0, 5, 2, 4, 1, 5}) {
            semaphore.setPermits(permits);
            assertEquals(permits, semaphore.permits());
            int before = history.grants();
            if (permits >= 2) {
                org.awaitility.Awaitility.await().atMost(PATIENCE).until(() -> history.grants() > before + 3);
            }
        }
        done.set(true);
        awaitAll(all);
        assertEquals(List.of(), history.violations());
        awaitEmpty(coordinators.get(0));
    }

    @Test
    void fewerPermitsHoldFromTheMomentTheyAreSet() throws Exception {
        Coordinator coordinator = connect();
        DistributedSemaphore semaphore = adjustable(coordinator, 4);
        semaphore.setPermits(4);
        PermitHistory history = new PermitHistory(4);
        AtomicBoolean done = new AtomicBoolean();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String who = "actor " + i;
            DistributedSemaphore theirs = adjustable(connect(), 4);
            all.add(start(() -> {
                while (!done.get()) {
                    takeTurns(who, theirs, 1, history);
                }
            }));
        }
        for (int round = 0; round < 10; round++) {
            semaphore.setPermits(1);
            for (int look = 0; look < 5; look++) {
                // permits granted before run out; from then on there is one, at every moment
                org.awaitility.Awaitility.await()
                        .atMost(PATIENCE)
                        .until(() -> leases(coordinator).size() <= 1);
            }
            for (int look = 0; look < 20; look++) {
                assertTrue(leases(coordinator).size() <= 1, "more than one permit out");
            }
            semaphore.setPermits(4);
        }
        done.set(true);
        awaitAll(all);
        assertEquals(List.of(), history.violations());
    }
}
