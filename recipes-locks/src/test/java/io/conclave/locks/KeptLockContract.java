package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.grant.RevocationOutcome;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** What a lock promises whose process keeps its place, on every backend. */
public abstract class KeptLockContract extends LockFixture {
    private static final Keeping LONG = Keeping.idleFor(Duration.ofHours(1));
    private static final Duration SOON = Duration.ofMillis(150);
    private static final int MANY = Integer.MAX_VALUE;

    private static KeptLock keptBy(Coordinator coordinator) {
        return keptBy(coordinator, LONG);
    }

    private static KeptLock keptBy(Coordinator coordinator, Keeping keeping) {
        return lockOf(coordinator).kept(keeping);
    }

    private static FencingToken acquireAndRelease(KeptLock lock) throws InterruptedException {
        try (LockGrant grant = lock.acquire(PATIENCE)) {
            assertTrue(grant.isHeld());
            return grant.token();
        }
    }

    private static Throwable causeOf(CompletableFuture<?> failed) {
        return assertThrows(ExecutionException.class, () -> failed.get(120, SECONDS))
                .getCause();
    }

    // ---- within the process

    @Test
    void placeIsKeptAndGrantedAgainWithALargerToken() throws Exception {
        Coordinator coordinator = connect();
        LockGrant first = keptBy(coordinator).acquire(PATIENCE);
        first.close();
        assertFalse(first.isHeld());
        assertEquals(LossReason.RELEASED, first.lost().get(120, SECONDS));
        LockGrant second = keptBy(coordinator).acquire(PATIENCE); // another object, the same place
        assertEquals(first.path(), second.path());
        assertEquals(new FencingToken(first.token().generation(), first.token().sequence(), 1), second.token());
        first.close(); // once more: it is nobody's any more
        assertTrue(second.isHeld());
        second.close();
        assertEquals(List.of(first.path().name()), children(coordinator));
    }

    @Test
    void callersOfOneProcessTakeTurnsInOrder() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator);
        LockGrant first = lock.acquire(PATIENCE);
        List<CompletableFuture<LockGrant>> behind = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            behind.add(lock.acquireAsync());
        }
        FencingToken last = first.token();
        first.close();
        for (CompletableFuture<LockGrant> next : behind) {
            LockGrant grant = get(next);
            assertTrue(grant.token().compareTo(last) > 0);
            last = grant.token();
            grant.close();
        }
        assertEquals(5, last.turn());
    }

    @Test
    void tryTakesAnIdlePlaceOnly() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator);
        LockGrant grant = lock.tryAcquire().orElseThrow();
        assertTrue(lock.tryAcquire().isEmpty());
        assertTrue(keptBy(connect()).tryAcquire().isEmpty());
        awaitMembers(coordinator, 1);
        grant.close();
        lock.tryAcquire().orElseThrow().close();
    }

    @Test
    void tryOfWhatAnotherProcessHoldsLeavesNothingBehind() throws Exception {
        try (LockGrant others = lockOf(connect()).acquire(PATIENCE)) {
            Coordinator coordinator = connect();
            assertTrue(keptBy(coordinator).tryAcquire().isEmpty());
            awaitMembers(coordinator, 1);
            assertTrue(others.isHeld());
        }
    }

    @Test
    void waiterOfTheProcessThatTimesOutIsPassedOver() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator);
        LockGrant grant = lock.acquire(PATIENCE);
        AcquireTimeoutException timeout = assertThrows(AcquireTimeoutException.class, () -> lock.acquire(SOON));
        assertTrue(timeout.getMessage().contains("another caller of this process"), timeout.getMessage());
        CompletableFuture<LockGrant> cancelled = lock.acquireAsync();
        CompletableFuture<LockGrant> next = lock.acquireAsync();
        cancelled.cancel(false);
        grant.close();
        get(next).close();
    }

    @Test
    void interruptedWaiterOfTheProcessIsPassedOver() throws Exception {
        KeptLock lock = keptBy(connect());
        LockGrant grant = lock.acquire(PATIENCE);
        Future<?> waiter = threads.submit(() -> {
            lock.acquire().close(); // the turn may come before the interrupt is seen
            return null;
        });
        CompletableFuture<LockGrant> next = lock.acquireAsync();
        waiter.cancel(true);
        grant.close();
        get(next).close();
        acquireAndRelease(lock);
    }

    @Test
    void lastWaiterThatTimesOutLeavesTheLine() throws Exception {
        Coordinator coordinator = connect();
        try (LockGrant others = lockOf(connect()).acquire(PATIENCE)) {
            AcquireTimeoutException timeout = assertThrows(
                    AcquireTimeoutException.class, () -> keptBy(coordinator).acquire(SOON));
            awaitMembers(coordinator, 1);
            assertTrue(others.isHeld(), timeout::getMessage);
        }
        acquireAndRelease(keptBy(coordinator));
    }

    @Test
    void viewIsReentrant() throws Exception {
        Coordinator coordinator = connect();
        Lock lock = keptBy(coordinator).asLock();
        lock.lock();
        assertTrue(lock.tryLock());
        assertFalse(threads.submit(() -> lock.tryLock()).get(120, SECONDS));
        lock.unlock();
        lock.unlock();
        assertTrue(threads.submit(() -> lock.tryLock()).get(120, SECONDS));
    }

    @Test
    void whileHeldWorks() throws Exception {
        KeptLock lock = keptBy(connect());
        long turn0 = lock.callWhileHeld(PATIENCE, grant -> grant.token().turn());
        assertEquals(0, turn0);
        long turn1 = lock.callWhileHeld(PATIENCE, grant -> grant.token().turn());
        assertEquals(1, turn1);
    }

    @Test
    void negativeLimitsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> Keeping.idleFor(Duration.ofMillis(-1)));
        assertThrows(IllegalArgumentException.class, () -> LONG.withHandOvers(-1));
        assertThrows(IllegalArgumentException.class, () -> LONG.withTime(Duration.ofMillis(-1)));
        assertThrows(IllegalArgumentException.class, () -> keptBy(connect()).acquire(Duration.ofMillis(-1)));
    }

    // ---- giving way

    @Test
    void idlePlaceGivesWayToAnotherProcess() throws Exception {
        FencingToken kept = acquireAndRelease(keptBy(connect()));
        try (LockGrant others = lockOf(connect()).acquire(PATIENCE)) {
            assertTrue(others.token().compareTo(kept) > 0);
        }
    }

    @Test
    void idlePlacesOfTwoProcessesGiveWayToEachOther() throws Exception {
        List<KeptLock> locks = List.of(keptBy(connect()), keptBy(connect()));
        FencingToken last = new FencingToken(0, 0);
        for (int i = 0; i < 20; i++) {
            FencingToken token = acquireAndRelease(locks.get(i % 2));
            assertTrue(token.compareTo(last) > 0);
            last = token;
        }
    }

    @Test
    void handOversAreLimitedInNumberWhileAnotherWaits() throws Exception {
        assertOthersAreNotShutOut(LONG.withHandOvers(3).withTime(Duration.ofHours(1)));
    }

    @Test
    void handOversAreLimitedInTimeWhileAnotherWaits() throws Exception {
        assertOthersAreNotShutOut(LONG.withHandOvers(MANY).withTime(Duration.ofMillis(50)));
    }

    /** The callers of one process want the lock without a pause, and another process still gets it. */
    private void assertOthersAreNotShutOut(Keeping keeping) throws Exception {
        KeptLock lock = keptBy(connect(), keeping);
        AtomicBoolean enough = new AtomicBoolean();
        List<Future<?>> crowd = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            crowd.add(threads.submit(() -> {
                while (!enough.get()) {
                    acquireAndRelease(lock);
                }
                return null;
            }));
        }
        DistributedLock others = lockOf(connect());
        for (int i = 0; i < 3; i++) {
            others.acquire(PATIENCE).close();
        }
        enough.set(true);
        for (Future<?> one : crowd) {
            one.get(120, SECONDS);
        }
    }

    @Test
    void twoProcessesWithManyCallersNeverHoldTogether() throws Exception {
        List<KeptLock> locks = List.of(keptBy(connect()), keptBy(connect()));
        int[] inside = {0}; // guarded by the lock under test
        long[] turns = {0, 0};
        FencingToken[] last = {new FencingToken(0, 0)};
        List<Future<?>> crowd = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int process = i % 2;
            crowd.add(threads.submit(() -> {
                for (int k = 0; k < 50; k++) {
                    try (LockGrant grant = locks.get(process).acquire()) {
                        assertEquals(1, ++inside[0]);
                        assertTrue(grant.token().compareTo(last[0]) > 0, () -> grant + " after " + last[0]);
                        last[0] = grant.token();
                        turns[process]++;
                        inside[0]--;
                    }
                }
                return null;
            }));
        }
        for (Future<?> one : crowd) {
            one.get(120, SECONDS);
        }
        assertEquals(List.of(200L, 200L), List.of(turns[0], turns[1]));
    }

    @Test
    void idlePlaceIsGivenUpAfterItsTime() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator, Keeping.idleFor(Duration.ofMillis(200)));
        FencingToken first = acquireAndRelease(lock);
        awaitMembers(coordinator, 0);
        FencingToken next = acquireAndRelease(lock);
        assertNotEquals(first.sequence(), next.sequence());
        awaitMembers(coordinator, 0);
    }

    @Test
    void withoutIdleTimeThePlaceIsGivenUpWithTheLastRelease() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator, Keeping.idleFor(Duration.ZERO));
        LockGrant first = lock.acquire(PATIENCE);
        CompletableFuture<LockGrant> second = lock.acquireAsync();
        first.close();
        assertEquals(1, get(second).token().turn());
        get(get(second).closeAsync());
        assertEquals(List.of(), children(coordinator));
    }

    @Test
    void grantWhoseAbsolutePathWasToldIsNotPassedOn() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator);
        LockGrant first = lock.acquire(PATIENCE);
        CompletableFuture<LockGrant> second = lock.acquireAsync();
        assertTrue(first.absolutePath().toString().endsWith(first.path().toString()));
        first.close();
        assertNotEquals(first.path(), get(second).path()); // a guard that checks the znode refuses the first one
        get(second).close();
    }

    // ---- revocation

    @Test
    void idlePlaceIsGivenUpWhenAnotherAsks() throws Exception {
        acquireAndRelease(keptBy(connect()));
        DistributedLock others = lockOf(connect());
        LockMember idle = others.holder().orElseThrow();
        assertEquals(RevocationOutcome.RELEASED, others.requestRelease(idle).get(120, SECONDS));
    }

    @Test
    void holderThatIsAskedIsTheLastOneOfThePlace() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator);
        acquireAndRelease(lock);
        LockGrant grant = lock.acquire(PATIENCE);
        CompletableFuture<LockGrant> behind = lock.acquireAsync();
        CompletableFuture<RevocationOutcome> asked =
                lock.requestRelease(lock.members().get(0));
        get(grant.revocationRequested());
        assertTrue(grant.isHeld());
        grant.close();
        assertEquals(RevocationOutcome.RELEASED, get(asked));
        assertNotEquals(grant.path(), get(behind).path());
        get(behind).close();
    }

    // ---- losses

    @Test
    void deletionOfAnIdlePlaceIsNobodysLoss() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator);
        LockGrant first = lock.acquire(PATIENCE);
        NodePath path = first.path();
        first.close();
        connect().execute(Delete.of(path));
        await().atMost(PATIENCE).until(() -> {
            try (LockGrant next = lock.acquire(PATIENCE)) {
                return !next.path().equals(path) && next.token().compareTo(first.token()) > 0;
            }
        });
    }

    @Test
    void deletionOfTheHoldersPlaceIsItsLossAndTheOthersGoOn() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator);
        LockGrant grant = lock.acquire(PATIENCE);
        CompletableFuture<LockGrant> behind = lock.acquireAsync();
        connect().execute(Delete.of(grant.path()));
        assertEquals(LossReason.NODE_DELETED, get(grant.lost()));
        assertFalse(grant.isHeld());
        LockGrant next = get(behind);
        assertTrue(next.token().compareTo(grant.token()) > 0);
        grant.close();
        assertTrue(next.isHeld());
        next.close();
    }

    @Test
    void lostSessionEndsTheHolderAndFailsTheWaiters() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        KeptLock lock = keptBy(coordinator);
        LockGrant grant = lock.acquire(PATIENCE);
        CompletableFuture<LockGrant> behind = lock.acquireAsync();
        loseSession(coordinator, clock);
        assertFalse(grant.isHeld());
        assertEquals(LossReason.SESSION_LOST, get(grant.lost()));
        assertInstanceOf(SessionGoneException.class, causeOf(behind));
        assertTrue(acquireAndRelease(lock).compareTo(grant.token()) > 0);
        grant.close();
        acquireAndRelease(lock);
    }

    @Test
    void idlePlaceOfALostSessionIsForgotten() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        KeptLock lock = keptBy(coordinator);
        FencingToken before = acquireAndRelease(lock);
        loseSession(coordinator, clock);
        FencingToken after = acquireAndRelease(lock);
        assertTrue(after.compareTo(before) > 0);
        assertNotEquals(before.sequence(), after.sequence());
    }

    @Test
    void closedCoordinatorGivesThePlaceUp() throws Exception {
        Coordinator coordinator = connect();
        KeptLock lock = keptBy(coordinator);
        LockGrant grant = lock.acquire(PATIENCE);
        CompletableFuture<LockGrant> behind = lock.acquireAsync();
        coordinator.close();
        assertEquals(LossReason.COORDINATOR_CLOSED, get(grant.lost()));
        assertInstanceOf(ClosedException.class, causeOf(behind));
        assertThrows(ClosedException.class, () -> lock.acquire(PATIENCE));
        awaitMembers(connect(), 0);
    }
}
