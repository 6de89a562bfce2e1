package io.conclave.shedlock;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What ShedLock's own tests demand of an extensible lock provider. */
public abstract class ShedLockContract extends ShedLockFixture {
    private static final Duration AT_LEAST = ofSeconds(60);
    private static final Duration LONG_SESSION = ofSeconds(40);
    private static final int THREADS = 8;
    private static final int TURNS = 100;

    private Coordinator other;
    private ConclaveLockProvider provider;

    @BeforeEach
    final void connectTwo() {
        Coordinator coordinator = connect();
        provider = ConclaveLockProvider.at(coordinator);
        other = connect();
    }

    @Test
    void lockIsTakenUntilItIsUnlocked() {
        SimpleLock lock = locked(provider, config(NAME));
        assertFalse(isFree(other, NAME));
        lock.unlock();
        assertTrue(isFree(other, NAME));
    }

    @Test
    void secondLockOfTheNameIsNotGiven() {
        SimpleLock lock = locked(provider, config(NAME));
        assertFalse(isFree(provider, NAME));
        lock.unlock();
    }

    @Test
    void locksOfTwoNamesAreIndependent() {
        SimpleLock one = locked(provider, config(NAME));
        SimpleLock two = locked(provider, config("name2"));
        one.unlock();
        assertFalse(isFree(other, "name2"));
        two.unlock();
        assertTrue(isFree(other, "name2"));
    }

    @Test
    void lockIsFreeRightAfterEachUnlock() {
        for (int i = 0; i < 10; i++) {
            SimpleLock lock = locked(provider, config(NAME));
            assertFalse(isFree(provider, NAME));
            lock.unlock();
        }
    }

    @Test
    void lockIsFreeAfterLockAtMostForThoughItsHolderLives() {
        SimpleLock late = locked(provider, config(NAME, ofSeconds(30), ZERO));
        clock.advance(ofSeconds(30));
        assertTrue(isFree(other, NAME));
        SimpleLock next = locked(provider, config(NAME));
        late.unlock();
        assertFalse(isFree(other, NAME), "the late unlock has freed the successor's lock");
        next.unlock();
        assertTrue(isFree(other, NAME));
    }

    @Test
    void unlockedLockStaysTakenUntilLockAtLeastForIsOver() {
        locked(provider, config(NAME, AT_LEAST.multipliedBy(2), AT_LEAST)).unlock();
        assertFalse(isFree(provider, NAME));
        assertFalse(isFree(other, NAME));
        clock.advance(AT_LEAST.plusMillis(100));
        assertTrue(isFree(other, NAME));
        assertTrue(isFree(provider, NAME));
    }

    /** A counter of each name, which loses additions unless the lock excludes. */
    private static final class Job {
        private final String name;
        private int counter; // guarded by the lock under test alone

        Job(String name) {
            this.name = name;
        }

        void turn() {
            int before = counter;
            Thread.yield();
            counter = before + 1;
        }
    }

    /** The session is a long one: a lock ends with it, and then its holder and the next one are at work together. */
    @Test
    void eightThreadsTakeTurnsOnTwoNames() throws Exception {
        List<Job> jobs = List.of(new Job("lock1"), new Job("lock2"));
        Coordinator patient = opened(builder().sessionTimeout(LONG_SESSION));
        LockingTaskExecutor executor = new DefaultLockingTaskExecutor(ConclaveLockProvider.at(patient));
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Job job = jobs.get(i % 2);
            running.add(threads.submit(() -> takeTurns(executor, job)));
        }
        for (Future<?> one : running) {
            one.get();
        }
        for (Job job : jobs) {
            assertEquals(THREADS / 2 * turns(), job.counter, job.name);
        }
    }

    /** How often each thread gets the lock; fewer where each attempt takes a network's time. */
    protected int turns() {
        return TURNS;
    }

    private void takeTurns(LockingTaskExecutor executor, Job job) {
        int[] turns = {0};
        while (turns[0] < turns()) {
            Runnable task = () -> {
                job.turn();
                turns[0]++;
            };
            executor.executeWithLock(task, new LockConfiguration(clock.instant(), job.name, LONG, ofMillis(5)));
            clock.advance(ofMillis(1)); // so that lockAtLeastFor costs no time
        }
    }

    @Test
    void extendedLockOutlivesItsFirstTime() {
        SimpleLock lock = locked(provider, config(NAME, ofSeconds(30), ZERO));
        SimpleLock extended = extended(lock, ZERO);
        clock.advance(ofSeconds(30));
        assertFalse(isFree(other, NAME));
        extended.unlock();
        assertTrue(isFree(other, NAME));
    }

    @Test
    void lockIsExtendedThreeTimes() {
        SimpleLock lock = locked(provider, config(NAME, ofSeconds(30), ZERO));
        SimpleLock extended = extended(extended(extended(lock, ZERO), ZERO), ZERO);
        clock.advance(ofSeconds(30));
        assertFalse(isFree(other, NAME));
        extended.unlock();
        assertTrue(isFree(other, NAME));
    }

    @Test
    void unlockedLockIsNotExtended() {
        SimpleLock lock = locked(provider, config(NAME));
        lock.unlock();
        assertThrows(IllegalStateException.class, () -> lock.extend(ofSeconds(10), ZERO));
        assertTrue(isFree(other, NAME));
    }

    /** However long the store takes to answer, as in ShedLock's own tests. */
    @Test
    void lockForAMomentIsGivenThoughItMayBeOver() {
        assertTrue(provider.lock(config(NAME, Duration.ofNanos(1), ZERO)).isPresent());
        clock.advance(ofMillis(1));
        assertTrue(isFree(other, NAME));
    }

    @Test
    void expiredLockIsNotExtended() {
        SimpleLock lock = locked(provider, config(NAME, ofMillis(2), ZERO));
        clock.advance(ofMillis(4));
        assertTrue(lock.extend(ofSeconds(10), ZERO).isEmpty());
        assertTrue(isFree(other, NAME));
    }

    @Test
    void extensionMayAddLockAtLeastFor() {
        SimpleLock lock = locked(provider, config(NAME, ofSeconds(10), ZERO));
        extended(lock, ofSeconds(9)).unlock();
        assertFalse(isFree(other, NAME));
        clock.advance(ofSeconds(9));
        assertTrue(isFree(other, NAME));
    }

    @Test
    void extendedLockIsNeitherExtendedAgainNorUnlockedByItsOldHandle() {
        SimpleLock lock = locked(provider, config(NAME, ofSeconds(10), ZERO));
        SimpleLock extended = extended(lock, ofSeconds(9));
        assertThrows(IllegalStateException.class, () -> lock.extend(ofSeconds(10), ofSeconds(9)));
        assertThrows(IllegalStateException.class, lock::unlock);
        assertFalse(isFree(other, NAME));
        extended.unlock();
    }

    private static SimpleLock extended(SimpleLock lock, Duration atLeast) {
        return lock.extend(ofSeconds(60), atLeast).orElseThrow(() -> new AssertionError("not extended"));
    }
}
