package io.conclave.spring.integration;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users of Spring Integration's lock registries rely on. */
class ConclaveLockRegistryTest extends SpringIntegrationFixture {
    private static final String ROOT = ConclaveLockRegistry.DEFAULT_ROOT;

    private final Coordinator coordinator = opened(builderOfStore().tryTimeout(PATIENCE)); // for a busy machine
    private final Coordinator otherProcess = opened(builderOfStore().tryTimeout(PATIENCE));
    private final ManualTimeSource clock = new ManualTimeSource();
    private final ConclaveLockRegistry registry = new ConclaveLockRegistry(coordinator);
    private final ConclaveLockRegistry other = new ConclaveLockRegistry(otherProcess);

    private io.conclave.coordinator.CoordinatorBuilder builderOfStore() {
        return Coordinator.builder(connectString()).sessionTimeout(sessionTimeout());
    }

    private <T> T elsewhere(Callable<T> call) throws Exception {
        return threads.submit(call).get(2, MINUTES);
    }

    private boolean isFree(String key) throws Exception {
        return elsewhere(() -> {
            Lock lock = other.obtain(key);
            boolean isFree = lock.tryLock();
            if (isFree) {
                lock.unlock();
            }
            return isFree;
        });
    }

    @Test
    void locksOfOneKeyExcludeEachOtherInAndAmongProcesses() throws Exception {
        Lock lock = registry.obtain("a");
        lock.lock();
        assertFalse(isFree("a"));
        assertFalse(elsewhere(() -> registry.obtain("a").tryLock(1, MILLISECONDS)));
        assertTrue(isFree("b"));
        lock.unlock();
        assertTrue(isFree("a"));
    }

    @Test
    void waiterGetsTheLockWhenItIsUnlocked() throws Exception {
        Lock lock = registry.obtain("a");
        lock.lockInterruptibly();
        Future<Boolean> waits = threads.submit(() -> {
            Lock theirs = other.obtain("a");
            boolean isTaken = theirs.tryLock(1, MINUTES);
            theirs.unlock();
            return isTaken;
        });
        awaitChildren(coordinator, ROOT + "/a", 2);
        lock.unlock();
        assertTrue(waits.get());
    }

    @Test
    void lockIsReentrantThroughTheRegistry() throws Exception {
        registry.obtain("a").lock();
        assertTrue(registry.obtain("a").tryLock());
        assertTrue(registry.obtain("a").tryLock(0, SECONDS));
        registry.obtain("a").unlock();
        registry.obtain("a").unlock();
        assertFalse(isFree("a"));
        registry.obtain("a").unlock();
        assertTrue(isFree("a"));
    }

    @Test
    void executeLockedRunsUnderTheLock() throws Exception {
        assertFalse(registry.<Boolean, Exception>executeLocked("a", () -> isFree("a")));
        assertTrue(registry.<Boolean, Exception>executeLocked("b", Duration.ofSeconds(5), () -> isFree("a")));
        assertTrue(isFree("b"));
    }

    @Test
    void tryLockEndsInItsTimeAlthoughTheStoreIsNotReached() throws Exception {
        ConclaveLockRegistry impatient =
                new ConclaveLockRegistry(opened(builderOfStore().tryTimeout(Duration.ofMillis(50))));
        impatient.obtain("held").lock();
        faults.suspendAll();
        assertFalse(elsewhere(() -> impatient.obtain("a").tryLock(50, MILLISECONDS)));
        assertFalse(elsewhere(() -> impatient.obtain("held").tryLock(50, MILLISECONDS)));
        assertFalse(elsewhere(() -> impatient.obtain("a").tryLock(0, MILLISECONDS)));
        assertFalse(elsewhere(() -> impatient.obtain("a").tryLock()));
        faults.restoreAll();
        await().until(() -> isFree("a"));
        impatient.obtain("held").unlock();
    }

    @Test
    void interruptedThreadIsRefusedOrItsWaitEnds() throws Exception {
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> registry.obtain("a").lockInterruptibly());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> registry.obtain("a").tryLock(1, SECONDS));
        assertFalse(Thread.interrupted());
        other.obtain("a").lock();
        Thread[] waiting = new Thread[1];
        Future<?> waits = threads.submit(() -> {
            waiting[0] = Thread.currentThread();
            return assertThrows(
                    InterruptedException.class, () -> registry.obtain("a").lockInterruptibly());
        });
        awaitChildren(coordinator, ROOT + "/a", 2);
        waiting[0].interrupt();
        waits.get();
        other.obtain("a").unlock();
        await().until(() -> isFree("a")); // the place of the wait goes in the background
    }

    @Test
    void interruptEndsAWaitWhileTheStoreIsNotReached() throws Exception {
        faults.suspendAll();
        Thread[] waiting = new Thread[1];
        Future<?> waits = threads.submit(() -> {
            waiting[0] = Thread.currentThread();
            return assertThrows(
                    InterruptedException.class, () -> registry.obtain("a").lockInterruptibly());
        });
        await().until(() -> waiting[0] != null && waiting[0].getState() == Thread.State.WAITING);
        waiting[0].interrupt();
        waits.get(2, MINUTES);
        faults.restoreAll();
        await().until(() -> isFree("a"));
    }

    @Test
    void lockWaitsThroughAnInterruptAndKeepsTheFlag() throws Exception {
        other.obtain("a").lock();
        Thread[] waiting = new Thread[1];
        Future<Boolean> waits = threads.submit(() -> {
            waiting[0] = Thread.currentThread();
            registry.obtain("a").lock();
            boolean flag = Thread.interrupted();
            registry.obtain("a").unlock();
            return flag;
        });
        awaitChildren(coordinator, ROOT + "/a", 2);
        waiting[0].interrupt();
        other.obtain("a").unlock();
        assertTrue(waits.get());
    }

    @Test
    void anotherThreadMayNotUnlock() throws Exception {
        Lock lock = registry.obtain("a");
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        lock.lock();
        elsewhere(() -> assertThrows(IllegalMonitorStateException.class, lock::unlock));
        assertFalse(isFree("a"));
        lock.unlock();
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    }

    @Test
    void unlockOfALostLockSaysSoAndEndsTheHold() throws Exception {
        Lock lock = registry.obtain("a");
        lock.lock();
        lock.lock();
        expire(coordinator);
        assertTrue(isFree("a"));
        Throwable reentry = assertThrows(ConcurrentModificationException.class, lock::lock);
        assertInstanceOf(GrantLostException.class, reentry.getCause());
        assertThrows(ConcurrentModificationException.class, lock::tryLock);
        assertThrows(ConcurrentModificationException.class, () -> lock.tryLock(1, SECONDS));
        assertThrows(ConcurrentModificationException.class, lock::unlock);
        assertThrows(ConcurrentModificationException.class, lock::unlock);
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        lock.lock();
        assertFalse(isFree("a"));
        lock.unlock();
        assertTrue(isFree("a"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void waitOutlastsALostSession(boolean isTimed) throws Exception {
        other.obtain("a").lock();
        Future<Boolean> waits = threads.submit(() -> {
            if (isTimed) {
                return registry.obtain("a").tryLock(1, MINUTES);
            }
            registry.obtain("a").lock();
            return true;
        });
        awaitChildren(otherProcess, ROOT + "/a", 2);
        expire(coordinator);
        awaitChildren(otherProcess, ROOT + "/a", 2);
        other.obtain("a").unlock();
        assertTrue(waits.get());
    }

    @Test
    void waitGoesOnWhenAnOperatorDeletesItsZnode() throws Exception {
        other.obtain("a").lock();
        List<String> holder = children(otherProcess, ROOT + "/a");
        Future<?> waits = threads.submit(() -> registry.obtain("a").lock());
        awaitChildren(otherProcess, ROOT + "/a", 2);
        List<String> both = new ArrayList<>(children(otherProcess, ROOT + "/a"));
        both.removeAll(holder);
        otherProcess.execute(Delete.of(NodePath.of(ROOT + "/a/" + both.get(0))));
        await().until(() -> {
            List<String> now = new ArrayList<>(children(otherProcess, ROOT + "/a"));
            return now.size() == 2 && !now.contains(both.get(0));
        });
        other.obtain("a").unlock();
        waits.get();
    }

    @Test
    void lockOfAClosedCoordinatorFails() {
        coordinator.close();
        assertThrows(ClosedException.class, () -> registry.obtain("a").lock());
        assertThrows(ClosedException.class, () -> registry.obtain("a").lockInterruptibly());
        assertThrows(ClosedException.class, () -> registry.obtain("a").tryLock());
        assertThrows(ClosedException.class, () -> registry.obtain("a").tryLock(1, SECONDS));
    }

    @Test
    void cacheHasABoundAndKeepsWhatIsInUse() throws Exception {
        registry.setCacheCapacity(3);
        registry.obtain("held").lock();
        Future<?> waits = threads.submit(() -> {
            other.obtain("awaited").lock();
            return null;
        });
        waits.get();
        Future<?> waiter = threads.submit(() -> registry.obtain("awaited").tryLock(1, MINUTES));
        awaitChildren(coordinator, ROOT + "/awaited", 2);
        for (int i = 0; i < 100; i++) {
            registry.obtain("key" + i);
        }
        assertEquals(3, registry.size());
        registry.obtain("held").unlock(); // it is still the same lock
        assertTrue(isFree("held"));
        assertFalse(waiter.isDone());
        waiter.cancel(true);
    }

    @Test
    void cacheGrowsWithWhatIsInUse() {
        registry.setCacheCapacity(1);
        for (int i = 0; i < 5; i++) {
            registry.obtain("key" + i).lock();
        }
        assertEquals(5, registry.size());
        for (int i = 0; i < 5; i++) {
            registry.obtain("key" + i).unlock();
        }
        registry.obtain("last");
        assertEquals(1, registry.size());
    }

    @Test
    void lockThatSomebodyRefersToIsFoundAfterItsEviction() {
        registry.setCacheCapacity(1);
        Lock early = registry.obtain("early");
        registry.obtain("next");
        assertSame(early, registry.obtain("early"));
        registry.obtain("next");
        early.lock(); // kept from now on, although it was not asked for again
        registry.obtain("more");
        registry.obtain("early").unlock();
    }

    @Test
    void unusedLocksExpire() {
        ConclaveLockRegistry timed = new ConclaveLockRegistry(coordinator, "/timed", clock);
        timed.obtain("held").lock();
        timed.obtain("old");
        clock.advance(Duration.ofSeconds(10));
        timed.obtain("young");
        timed.expireUnusedOlderThan(9_000);
        assertEquals(2, timed.size());
        timed.obtain("held").unlock();
        clock.advance(Duration.ofSeconds(10));
        timed.expireUnusedOlderThan(9_000);
        assertEquals(0, timed.size());
    }

    @Test
    void registriesOfTwoRootsAreIndependent() throws Exception {
        ConclaveLockRegistry elsewhere = new ConclaveLockRegistry(coordinator, "/app/locks");
        assertNotSame(registry.obtain("a"), elsewhere.obtain("a"));
        elsewhere.obtain("a").lock();
        assertTrue(isFree("a"));
        elsewhere.obtain("a").unlock();
        assertEquals("Lock /app/locks/a", elsewhere.obtain("a").toString());
        assertEquals(
                "Lock /a",
                new ConclaveLockRegistry(coordinator, "/").obtain("a").toString());
    }

    @Test
    void badArgumentsAreNamed() {
        assertThrows(IllegalArgumentException.class, () -> registry.obtain(42));
        assertThrows(IllegalArgumentException.class, () -> registry.obtain(""));
        assertThrows(IllegalArgumentException.class, () -> registry.obtain("a//b"));
        assertThrows(IllegalArgumentException.class, () -> registry.setCacheCapacity(0));
        assertThrows(IllegalArgumentException.class, () -> new ConclaveLockRegistry(coordinator, "locks"));
        assertThrows(
                UnsupportedOperationException.class, () -> registry.obtain("a").newCondition());
    }
}
