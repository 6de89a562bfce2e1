package io.conclave.locks;

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
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What can come in between a grant and the end of the moment after which its znode is watched. */
class ShortHoldEdgesTest {
    private static final Duration MOMENT = Duration.ofMillis(10);
    private static final int BOUND = 20;

    private final String name = UUID.randomUUID().toString();
    private final MemoryStore store = MemoryStore.named(name);
    private final ManualTimeSource clock = new ManualTimeSource();
    private final ManualTimeSource othersClock = new ManualTimeSource();
    private final AtomicInteger rejected = new AtomicInteger();
    private final ThreadPoolExecutor threads =
            new ThreadPoolExecutor(4, 4, 60, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), (task, full) -> {
                rejected.incrementAndGet();
                throw new RejectedExecutionException("shut down");
            });
    private final Coordinator holding = Coordinator.builder("memory:" + name)
            .sessionTimeout(Duration.ofSeconds(30))
            .timeSource(clock)
            .maxQueuedRequests(BOUND)
            .listenerExecutor(threads)
            .connect();
    private final Coordinator other = Coordinator.builder("memory:" + name)
            .sessionTimeout(Duration.ofSeconds(30))
            .timeSource(othersClock)
            .connect();
    private final DistributedLock lock = DistributedLock.at(holding, "/locks/short");

    @AfterEach
    void close() {
        store.faults().clear();
        holding.close();
        other.close();
        threads.shutdown();
        MemoryStore.forget(name);
    }

    private RecipeSession session() {
        return RecipeAccess.session(holding);
    }

    /** What was sent before is answered when this returns, and so is what follows from it. */
    private void settle() throws Exception {
        for (int i = 0; i < 4; i++) {
            holding.execute(Exists.of(NodePath.ROOT));
        }
    }

    /** What the dispatcher was given before is done when this returns, and so is what followed from it at once. */
    private void settleWithoutStore() throws Exception {
        for (int i = 0; i < 4; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            session().execute(() -> done.complete(null));
            done.get();
        }
    }

    private int watches() {
        return store.faults().watchCount(session().id());
    }

    private void letTheMomentEndWhileTheQueueIsFull() throws Exception {
        store.faults().holdReplies(session().id());
        List<CompletableFuture<?>> flood = new ArrayList<>();
        for (int i = 0; i < BOUND; i++) {
            flood.add(holding.submit(Exists.of(NodePath.ROOT)));
        }
        clock.advance(MOMENT);
        settleWithoutStore();
        store.faults().releaseReplies(session().id());
        for (CompletableFuture<?> one : flood) {
            one.get();
        }
    }

    @Test
    void fullQueueAtTheEndOfTheMomentCostsNoGrant() throws Exception {
        LockGrant grant = lock.acquire();
        settle();
        letTheMomentEndWhileTheQueueIsFull();
        settle();
        assertTrue(grant.isHeld());
        clock.advance(Duration.ofSeconds(1));
        settle();
        assertEquals(1, watches());
        other.execute(Delete.of(grant.path()));
        assertEquals(LossReason.NODE_DELETED, grant.lost().get());
    }

    @Test
    void grantThatEndsWhileItsWatchIsToBeTriedAgainIsNotWatched() throws Exception {
        LockGrant grant = lock.acquire();
        settle();
        letTheMomentEndWhileTheQueueIsFull();
        grant.close();
        clock.advance(Duration.ofSeconds(1));
        settle();
        assertEquals(0, watches());
        assertEquals(LossReason.RELEASED, grant.lost().get());
    }

    @Test
    void holdThatCannotBeWatchedKeepsNoOtherFromItsWatch() throws Exception {
        AtomicBoolean isFirst = new AtomicBoolean(true);
        LockGrant first = lock.acquire();
        LockGrant second = DistributedLock.at(holding, "/locks/second").acquire();
        settle();
        store.faults().intercept((session, request, index) -> {
            if (request instanceof GetData && isFirst.getAndSet(false)) {
                throw new IllegalStateException("as a defect would");
            }
            return RequestFate.PROCEED;
        });
        clock.advance(MOMENT);
        settleWithoutStore();
        settle();
        assertEquals(LossReason.REFUSED, first.lost().get());
        assertEquals(1, watches());
        assertTrue(second.isHeld());
    }

    @Test
    void coordinatorThatIsClosedInTheFirstMomentNeedsItsExecutorNoMore() throws Exception {
        lock.acquire().close();
        holding.close();
        await().until(() -> threads.getCompletedTaskCount() == threads.getTaskCount());
        threads.shutdown();
        clock.advance(MOMENT);
        assertEquals(0, rejected.get());
    }

    @Test
    void sessionThatExpiresInTheFirstMomentIsTheReasonOfTheLoss() throws Exception {
        LockGrant grant = lock.acquire();
        settle();
        store.faults().expire(session().id());
        clock.advance(MOMENT);
        assertEquals(LossReason.SESSION_LOST, grant.lost().get());
    }

    @Test
    void downgradeOfAWriterThatWasDeletedInTheFirstMomentSaysSo() throws Exception {
        WriteGrant writing = SharedLock.at(holding, "/locks/shared").writeLock().acquire();
        settle();
        other.execute(Delete.of(writing.path()));
        CompletableFuture<ReadGrant> reading = writing.downgradeAsync();
        ExecutionException failure = assertThrows(ExecutionException.class, reading::get);
        GrantLostException loss = (GrantLostException) failure.getCause();
        assertEquals(LossReason.NODE_DELETED, loss.reason());
        assertEquals(LossReason.NODE_DELETED, writing.lost().get());
        clock.advance(MOMENT);
        settle();
        assertEquals(0, watches());
    }

    @Test
    void momentThatEndsWhileAWriterIsBeingDowngradedIsNoLoss() throws Exception {
        WriteGrant writing = SharedLock.at(holding, "/locks/shared").writeLock().acquire();
        settle();
        store.faults().holdReplies(session().id());
        CompletableFuture<ReadGrant> downgrade = writing.downgradeAsync();
        settleWithoutStore();
        clock.advance(MOMENT);
        settleWithoutStore();
        store.faults().releaseReplies(session().id());
        ReadGrant reading = downgrade.get();
        settle();
        assertTrue(reading.isHeld());
        assertEquals(1, watches());
    }

    @Test
    void deadlineWithinTheFirstMomentEndsTheHoldBeforeItHearsOfTheWish() throws Exception {
        LockGrant grant = lock.acquire();
        settle();
        DistributedLock others = DistributedLock.at(other, "/locks/short");
        CompletableFuture<RevocationOutcome> asked =
                others.requestRelease(others.holder().orElseThrow(), Duration.ofMillis(5));
        othersClock.advanceUntil(Duration.ofMillis(5), asked::isDone);
        assertEquals(RevocationOutcome.DELETED, asked.get());
        assertTrue(grant.isHeld());
        clock.advance(MOMENT);
        assertEquals(LossReason.NODE_DELETED, grant.lost().get());
        assertFalse(grant.isHeld());
    }
}
