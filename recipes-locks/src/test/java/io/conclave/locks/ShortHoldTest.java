package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.grant.RevocationOutcome;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A hold that is over in a moment costs no watch; one that lasts hears then what was done to its znode. */
class ShortHoldTest {
    private static final Duration MOMENT = Duration.ofMillis(10);
    private static final Duration ALMOST = MOMENT.minusNanos(1);

    private final String name = UUID.randomUUID().toString();
    private final MemoryStore store = MemoryStore.named(name);
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator holding = connect(clock);
    private final Coordinator other = connect(new ManualTimeSource());
    private final DistributedLock lock = DistributedLock.at(holding, "/locks/short");
    private final List<String> sent = Collections.synchronizedList(new ArrayList<>());

    private Coordinator connect(ManualTimeSource time) {
        return Coordinator.builder("memory:" + name)
                .sessionTimeout(Duration.ofSeconds(30))
                .timeSource(time)
                .connect();
    }

    @AfterEach
    void close() {
        store.faults().clear();
        holding.close();
        other.close();
        MemoryStore.forget(name);
    }

    private void record() {
        store.faults().intercept((session, request, index) -> {
            sent.add(request.getClass().getSimpleName());
            return RequestFate.PROCEED;
        });
    }

    /** What was sent before is answered when this returns, and so is what follows from it. */
    private void settle() throws Exception {
        for (int i = 0; i < 4; i++) {
            holding.execute(Exists.of(NodePath.ROOT));
        }
    }

    private int watches() {
        return store.faults().watchCount(RecipeAccess.session(holding).id());
    }

    @Test
    void lockThatIsHeldForAMomentTakesThreeRequests() throws Exception {
        lock.acquire().close(); // makes the line
        record();
        lock.acquire().close();
        clock.advance(MOMENT);
        assertEquals(List.of("Create", "GetChildren", "Delete"), sent);
        settle();
        assertEquals(0, watches());
    }

    @Test
    void oneTimerServesAllShortHolds() throws Exception {
        int before = clock.pendingTimers();
        for (int i = 0; i < 20; i++) {
            lock.acquire().close();
        }
        settle();
        assertTrue(clock.pendingTimers() <= before + 1, clock.pendingTimers() + " timers, " + before + " before");
        clock.advance(MOMENT);
        settle();
        assertEquals(before, clock.pendingTimers());
    }

    @Test
    void holdThatLastsIsWatchedOnceItHasLastedForAMoment() throws Exception {
        try (LockGrant first = lock.acquire();
                LockGrant second = DistributedLock.at(holding, "/locks/second").acquire()) {
            settle();
            clock.advance(ALMOST);
            settle();
            assertEquals(0, watches());
            clock.advance(Duration.ofNanos(1));
            settle();
            assertEquals(2, watches());
            clock.advance(Duration.ofSeconds(5));
            settle();
            assertEquals(2, watches());
            assertTrue(first.isHeld() && second.isHeld());
        }
    }

    @Test
    void laterHoldHasAMomentOfItsOwn() throws Exception {
        try (LockGrant first = lock.acquire()) {
            settle();
            clock.advance(MOMENT.dividedBy(2));
            try (LockGrant second = DistributedLock.at(holding, "/locks/second").acquire()) {
                settle();
                clock.advance(MOMENT.dividedBy(2));
                settle();
                assertEquals(1, watches());
                clock.advance(MOMENT.dividedBy(2));
                settle();
                assertEquals(2, watches());
                assertTrue(first.isHeld() && second.isHeld());
            }
        }
    }

    @Test
    void deletionInTheFirstMomentIsALossAtItsEnd() throws Exception {
        LockGrant grant = lock.acquire();
        settle();
        other.execute(Delete.of(grant.path()));
        clock.advance(ALMOST);
        settle();
        assertTrue(grant.isHeld());
        clock.advance(Duration.ofNanos(1));
        settle();
        assertFalse(grant.isHeld());
        assertEquals(LossReason.NODE_DELETED, grant.lost().get());
    }

    @Test
    void deletionInTheFirstMomentIsALossAlsoIfTheConnectionBreaksThen() throws Exception {
        LockGrant grant = lock.acquire();
        settle();
        other.execute(Delete.of(grant.path()));
        store.faults().onNext(GetData.class::isInstance, RequestFate.DROP_AFTER);
        clock.advance(MOMENT);
        await().until(() -> {
            clock.advance(Duration.ofMillis(10));
            return !grant.isHeld();
        });
        assertEquals(LossReason.NODE_DELETED, grant.lost().get());
    }

    @Test
    void wishInTheFirstMomentIsHeardAtItsEnd() throws Exception {
        LockGrant grant = lock.acquire();
        settle();
        DistributedLock others = DistributedLock.at(other, "/locks/short");
        CompletableFuture<RevocationOutcome> asked =
                others.requestRelease(others.holder().orElseThrow());
        await().until(() -> other.execute(Exists.of(grant.path())).orElseThrow().version() == 1);
        clock.advance(MOMENT);
        settle();
        assertTrue(grant.revocationRequested().isDone());
        assertTrue(grant.isHeld());
        grant.close();
        assertEquals(RevocationOutcome.RELEASED, asked.get());
    }

    @Test
    void whoAsksForTheLossIsToldAtOnce() throws Exception {
        LockGrant grant = lock.acquire();
        CompletableFuture<LossReason> lost = grant.lost();
        settle();
        other.execute(Delete.of(grant.path()));
        assertEquals(LossReason.NODE_DELETED, lost.get());
    }

    @Test
    void whoAsksForWishesIsToldAtOnce() throws Exception {
        LockGrant grant = lock.acquire();
        CompletableFuture<Void> wish = grant.revocationRequested();
        DistributedLock others = DistributedLock.at(other, "/locks/short");
        CompletableFuture<RevocationOutcome> asked =
                others.requestRelease(others.holder().orElseThrow());
        wish.get();
        grant.close();
        assertEquals(RevocationOutcome.RELEASED, asked.get());
    }

    @Test
    void lossWithinWhileHeldIsToldAtOnce() {
        assertThrows(
                GrantLostException.class,
                () -> lock.whileHeld(Duration.ofMinutes(2), grant -> {
                    other.execute(Delete.of(grant.path()));
                    assertFalse(new CountDownLatch(1).await(120, SECONDS)); // interrupted by the loss
                }));
    }

    @Test
    void lossWithinWhileHeldOfAKeptLockIsToldAtOnce() throws Exception {
        KeptLock kept = lock.kept(Keeping.idleFor(Duration.ofMinutes(1)));
        DistributedLock others = DistributedLock.at(other, "/locks/short");
        AtomicBoolean interrupted = new AtomicBoolean();
        assertThrows(
                GrantLostException.class,
                () -> kept.whileHeld(Duration.ofMinutes(2), grant -> {
                    CompletableFuture<LockGrant> next = others.acquireAsync();
                    await().until(() -> others.members().size() == 2);
                    settle(); // the place has seen its rival, and watches the line no longer
                    try {
                        other.execute(Delete.of(grant.path()));
                        next.get(); // on the connection of the other
                        new CountDownLatch(1).await(120, SECONDS);
                    } catch (InterruptedException e) {
                        interrupted.set(true);
                    }
                    next.get().close();
                }));
        assertTrue(interrupted.get());
    }

    @Test
    void lossWithinWhileHeldOfAMultiLockIsToldAtOnce() {
        MultiLock both = MultiLock.of(lock, DistributedLock.at(holding, "/locks/second"));
        assertThrows(
                GrantLostException.class,
                () -> both.whileHeld(Duration.ofMinutes(2), grant -> {
                    other.execute(Delete.of(lock.holder().orElseThrow().path()));
                    assertFalse(new CountDownLatch(1).await(120, SECONDS)); // interrupted by the loss
                }));
    }
}
