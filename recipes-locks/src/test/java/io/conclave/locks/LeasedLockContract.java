package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.Holder;
import io.conclave.error.LossReason;
import io.conclave.grant.FencingToken;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a lock with a lease promises, on every backend; a subclass says where the backend is. */
public abstract class LeasedLockContract extends RecipeFixture {
    private static final String PATH = "/leases/report";
    private static final Duration LONG = Duration.ofMinutes(10);

    /** Longer than a request takes on a busy machine; the clock of the store in memory waits for such a one. */
    private Duration shortLease() {
        return Duration.ofMillis(connectString().startsWith("memory:") ? 700 : 3_000);
    }

    private static LeasedLock lock(Coordinator coordinator, Duration lease) {
        return LeasedLock.at(coordinator, PATH, lease);
    }

    private static long nowNanos(Coordinator coordinator) {
        return RecipeAccess.session(coordinator).time().monotonicNanos();
    }

    private static void awaitWaiters(Coordinator coordinator, int count) {
        awaitChildren(coordinator, PATH + "/line", count);
    }

    /** No lease, and no one in the line. */
    private static void awaitNothingLeft(Coordinator coordinator) {
        awaitWaiters(coordinator, 0);
        // the line is a container: the server deletes it when it has been empty
        await().until(() -> children(coordinator, PATH).stream().allMatch("line"::equals));
    }

    @Test
    void releaseGrantsTheNextWaiterAndTokensGrow() throws Exception {
        Coordinator coordinator = connect();
        LeasedGrant grant = lock(connect(), LONG).acquire();
        assertTrue(grant.isHeld());
        assertTrue(grant.deadlineIsStrict());
        assertEquals(PATH + "/" + grant.id(), grant.path().toString());
        assertEquals(Optional.empty(), lock(coordinator, LONG).tryAcquire());
        CompletableFuture<LeasedGrant> waiting = lock(coordinator, LONG).acquireAsync();
        awaitWaiters(coordinator, 1);
        assertFalse(waiting.isDone());
        grant.close();
        assertFalse(grant.isHeld());
        assertEquals(LossReason.RELEASED, get(grant.lost()));
        LeasedGrant next = get(waiting);
        assertTrue(next.token().compareTo(grant.token()) > 0);
        next.close();
        LeasedGrant last = lock(coordinator, LONG).tryAcquire().orElseThrow();
        assertTrue(last.token().compareTo(next.token()) > 0);
        last.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void leaseOutlastsItsProcessAndIsOverForAWaiterAfterAWholeLease() throws Exception {
        Coordinator waiting = connect();
        LeasedGrant grant = leftByADeadProcess();
        long beganNanos = nowNanos(waiting);
        assertEquals(Optional.empty(), lock(waiting, LONG).tryAcquire());
        try (LeasedGrant next = lock(waiting, LONG).acquire(PATIENCE)) {
            Duration took = Duration.ofNanos(nowNanos(waiting) - beganNanos);
            assertTrue(took.compareTo(grant.lease()) >= 0, () -> "granted after " + took);
            assertTrue(next.token().compareTo(grant.token()) > 0);
            assertEquals(1, lock(waiting, LONG).holders().size());
        }
        awaitNothingLeft(waiting);
    }

    /** Of a process that held when it died: of a longer lease, where a busy machine needs longer to come to that. */
    private LeasedGrant leftByADeadProcess() throws Exception {
        for (Duration lease = shortLease(); ; lease = lease.multipliedBy(2)) {
            Coordinator dying = connect();
            LeasedGrant grant = lock(dying, lease).acquire(PATIENCE);
            dying.close();
            LossReason reason = get(grant.lost());
            if (reason != LossReason.TIME_OVER) {
                assertEquals(LossReason.COORDINATOR_CLOSED, reason);
                return grant;
            }
        }
    }

    /** Each try looks, and what the first has seen counts for the last. */
    @Test
    void repeatedTriesFindTheLockOfADeadHolderFree() throws Exception {
        Coordinator dying = connect();
        Coordinator trying = connect();
        lock(dying, shortLease()).acquire();
        dying.close();
        await().atMost(PATIENCE).until(() -> lock(trying, LONG).tryAcquire().isPresent());
    }

    @Test
    void holderKnowsThatItsTimeIsOverBeforeAnotherIsGranted() throws Exception {
        Coordinator coordinator = connect();
        LeasedGrant grant = lock(connect(), shortLease()).acquire();
        try (LeasedGrant next = lock(coordinator, LONG).acquire(PATIENCE)) {
            assertFalse(grant.isHeld());
            assertTrue(next.isHeld());
        }
        assertEquals(LossReason.TIME_OVER, get(grant.lost()));
        GrantLostException lost = assertThrows(GrantLostException.class, grant::ensureHeld);
        assertEquals(LossReason.TIME_OVER, lost.reason());
        assertThrows(GrantLostException.class, () -> grant.extend(LONG));
        grant.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void extensionBeginsTheLeaseAnewAndNeverShortensIt() throws Exception {
        LeasedGrant grant = lock(connect(), LONG).acquire();
        grant.extend(LONG.multipliedBy(2));
        assertEquals(LONG.multipliedBy(2), grant.lease());
        assertTrue(grant.remaining().compareTo(LONG) > 0);
        grant.extendAsync(LONG).get(120, SECONDS);
        assertEquals(LONG.multipliedBy(2), grant.lease(), "others rely on it");
        assertThrows(IllegalArgumentException.class, () -> grant.extend(Duration.ZERO));
        assertTrue(grant.isHeld());
        grant.close();
        awaitNothingLeft(connect());
    }

    @Test
    void anyProcessReleasesByTheId() throws Exception {
        Coordinator coordinator = connect();
        LeasedGrant grant = lock(connect(), LONG).acquire();
        CompletableFuture<LeasedGrant> waiting = lock(connect(), LONG).acquireAsync();
        awaitWaiters(coordinator, 1);
        assertTrue(lock(coordinator, LONG).release(grant.id()));
        LeasedGrant next = get(waiting);
        assertEquals(LossReason.NODE_DELETED, get(grant.lost()));
        assertFalse(grant.isHeld());
        assertFalse(lock(coordinator, LONG).releaseAsync(grant.id()).get(120, SECONDS));
        assertTrue(next.isHeld());
        next.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void anotherProcessGoesOnWithAGrant() throws Exception {
        Coordinator leaving = connect();
        Coordinator coming = connect();
        LeasedGrant grant = lock(leaving, LONG).withOwner("the first").acquire();
        leaving.close();
        LeasedGrant resumed = lock(coming, shortLease()).resume(grant.id()).orElseThrow();
        assertEquals(grant.token(), resumed.token());
        assertEquals(grant.path(), resumed.path());
        assertEquals(LONG, resumed.lease(), "others rely on it");
        assertEquals(
                List.of(new LeaseHolder(grant.id(), "the first", 1, LONG)),
                lock(coming, shortLease()).holders());
        resumed.extend(LONG.multipliedBy(2));
        resumed.close();
        assertEquals(Optional.empty(), lock(coming, shortLease()).resume(grant.id()));
        assertEquals(Optional.empty(), get(lock(coming, shortLease()).resumeAsync(LeaseLayout.newId())));
        awaitNothingLeft(coming);
    }

    @Test
    void grantOutlastsTheSession() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator holding = opened(builder().timeSource(clock));
        Coordinator other = connect();
        LeasedGrant grant = lock(holding, LONG).acquire();
        loseSession(holding, clock);
        assertTrue(grant.isHeld());
        grant.extend(LONG);
        assertEquals(Optional.empty(), lock(other, LONG).tryAcquire());
        assertTrue(lock(other, LONG).release(grant.id()));
        assertEquals(LossReason.NODE_DELETED, get(grant.lost()));
        LeasedGrant again = lock(holding, LONG).acquire(PATIENCE);
        loseSession(holding, clock);
        again.close();
        awaitNothingLeft(other);
    }

    @Test
    void waitThatEndsLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        LeasedGrant grant = lock(connect(), LONG).withOwner("the holder").acquire();
        AcquireTimeoutException timeout = timeoutAfterAnAnswer(lock(coordinator, LONG));
        assertTrue(timeout.getMessage().contains("\"the holder\" with a lease of 10 min"), timeout.getMessage());
        Holder holder = timeout.holder().orElseThrow();
        assertEquals("the holder", holder.text());
        assertEquals(0, holder.sessionId(), "a lease belongs to no session");
        assertTrue(
                holder.path().contains(lock(coordinator, LONG).holders().get(0).id()), holder::toString);
        CompletableFuture<LeasedGrant> cancelled = lock(coordinator, LONG).acquireAsync();
        awaitWaiters(coordinator, 1);
        cancelled.cancel(true);
        awaitWaiters(coordinator, 0);
        assertTrue(grant.isHeld());
        grant.close();
        awaitNothingLeft(coordinator);
    }

    /** A busy store may not have said yet who holds it when a short time is over. */
    private static AcquireTimeoutException timeoutAfterAnAnswer(LeasedLock lock) {
        Duration limit = Duration.ofMillis(300);
        while (true) {
            Duration present = limit;
            AcquireTimeoutException timeout = assertThrows(AcquireTimeoutException.class, () -> lock.acquire(present));
            if (timeout.holder().isPresent()) {
                return timeout;
            }
            assertTrue(timeout.getMessage().contains("the store has not answered yet"), timeout.getMessage());
            limit = limit.multipliedBy(2);
        }
    }

    @Test
    void workIsInterruptedWhenTheLeaseIsOver() {
        LeasedLock lock = lock(connect(), shortLease());
        GrantLostException lost = assertThrows(
                GrantLostException.class, () -> lock.whileHeld(PATIENCE, grant -> new CountDownLatch(1).await()));
        assertEquals(LossReason.TIME_OVER, lost.reason());
    }

    @Test
    void deletionByAnOperatorEndsTheGrant() throws Exception {
        Coordinator coordinator = connect();
        LeasedGrant grant = lock(coordinator, LONG).acquire();
        connect().execute(Delete.of(NodePath.of(PATH + "/" + grant.id())));
        assertEquals(LossReason.NODE_DELETED, get(grant.lost()));
        assertThrows(GrantLostException.class, () -> grant.extend(LONG));
        lock(coordinator, LONG).acquire(PATIENCE).close();
    }

    @Test
    void oneHoldsAtATime() throws Exception {
        AtomicInteger holders = new AtomicInteger();
        List<FencingToken> tokens = new ArrayList<>();
        List<Future<?>> all = new ArrayList<>();
        for (int session = 0; session < 3; session++) {
            LeasedLock lock = lock(connect(), LONG);
            all.add(threads.submit(() -> {
                for (int i = 0; i < 8; i++) {
                    try (LeasedGrant grant = lock.acquire()) {
                        assertEquals(1, holders.incrementAndGet());
                        synchronized (tokens) {
                            tokens.add(grant.token());
                        }
                        holders.decrementAndGet();
                    }
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(120, SECONDS);
        }
        assertEquals(tokens.stream().sorted().distinct().toList(), tokens);
        awaitNothingLeft(connect());
    }

    @Test
    void whatIsNoLeaseOrNoIdIsRefusedByName() {
        Coordinator coordinator = connect();
        assertThrows(IllegalArgumentException.class, () -> lock(coordinator, Duration.ZERO));
        IllegalArgumentException tooLong =
                assertThrows(IllegalArgumentException.class, () -> lock(coordinator, Duration.ofDays(366)));
        assertEquals("Invalid lease PT8784H: it must be positive, and at most 365 days", tooLong.getMessage());
        assertThrows(IllegalArgumentException.class, () -> LeasedLock.at(coordinator, "/", LONG));
        IllegalArgumentException noId = assertThrows(
                IllegalArgumentException.class, () -> lock(coordinator, LONG).release("../secret"));
        assertTrue(noId.getMessage().startsWith("Invalid id \"../secret\" of a grant of " + PATH), noId.getMessage());
        assertThrows(
                IllegalArgumentException.class, () -> lock(coordinator, LONG).resume("line"));
    }
}
