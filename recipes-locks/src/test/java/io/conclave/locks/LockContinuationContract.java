package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.LossReason;
import io.conclave.grant.Grant;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/**
 * What follows a stage that was given to the application may block: the session goes on meanwhile, with its requests,
 * its events and its other grants.
 */
abstract class LockContinuationContract extends WhileHeldContract {
    private static final NodePath SCRATCH = NodePath.of("/continuations");

    /** What follows the stage blocks until everything else was seen to go on. */
    private static final class Blocked {
        private final Coordinator coordinator;
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayReturn = new CountDownLatch(1);
        private final CompletableFuture<Boolean> dispatcher = new CompletableFuture<>();

        Blocked(Coordinator coordinator, CompletionStage<?> stage) {
            this.coordinator = coordinator;
            Thread attaching = new Thread(() -> stage.whenComplete((result, failure) -> block()));
            attaching.setDaemon(true);
            attaching.start(); // a stage that is complete already is followed on this thread
            await().atMost(PATIENCE).until(() -> !attaching.isAlive() || entered.getCount() == 0);
        }

        private void block() {
            dispatcher.complete(RecipeAccess.session(coordinator).isDispatcherThread());
            entered.countDown();
            try {
                mayReturn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void awaitAndSeeTheSessionGoOn(String what) throws Exception {
            try {
                assertTrue(entered.await(120, SECONDS), what);
                assertFalse(dispatcher.get(), what);
                coordinator.submit(GetData.of(NodePath.ROOT)); // may have to wait behind a stage of a request
                NodePath path = RecipeAccess.session(coordinator)
                        .submit(Create.of(SCRATCH).withMode(CreateMode.PERSISTENT_SEQUENTIAL))
                        .toCompletableFuture()
                        .get(120, SECONDS)
                        .path();
                CompletableFuture<Object> seen = new CompletableFuture<>();
                RecipeAccess.session(coordinator)
                        .submit(GetData.of(path).withWatcher(seen::complete))
                        .toCompletableFuture()
                        .get(120, SECONDS);
                coordinator.execute(Delete.of(path));
                seen.get(120, SECONDS);
                DistributedLock.at(coordinator, "/locks/other")
                        .acquireAsync()
                        .get(120, SECONDS)
                        .close();
            } finally {
                mayReturn.countDown();
            }
        }
    }

    @Test
    void continuationsOfAcquiringMayBlock() throws Exception {
        Coordinator coordinator = connect();
        LockGrant first = lockOf(connect()).acquire(PATIENCE);
        Blocked timedOut = new Blocked(coordinator, lockOf(coordinator).acquireAsync(Duration.ofMillis(50)));
        timedOut.awaitAndSeeTheSessionGoOn("acquireAsync, in vain");
        CompletableFuture<LockGrant> waiter = lockOf(coordinator).acquireAsync();
        Blocked granted = new Blocked(coordinator, waiter);
        first.close();
        granted.awaitAndSeeTheSessionGoOn("acquireAsync");
        LockGrant grant = waiter.get(120, SECONDS);
        new Blocked(coordinator, lockOf(coordinator).tryAcquireAsync()).awaitAndSeeTheSessionGoOn("tryAcquireAsync");
        Blocked lost = new Blocked(coordinator, grant.lost());
        Blocked closed = new Blocked(coordinator, grant.closeAsync());
        lost.awaitAndSeeTheSessionGoOn("lost()");
        closed.awaitAndSeeTheSessionGoOn("closeAsync");
    }

    @Test
    void continuationsOfTheLossOfALockAndARevocationMayBlock() throws Exception {
        Coordinator coordinator = connect();
        Coordinator other = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        Blocked asked = new Blocked(coordinator, grant.revocationRequested());
        Blocked lost = new Blocked(coordinator, grant.lost());
        Blocked over = new Blocked(
                other, lockOf(other).requestRelease(lockOf(other).holder().orElseThrow(), Duration.ofMillis(50)));
        asked.awaitAndSeeTheSessionGoOn("revocationRequested()");
        lost.awaitAndSeeTheSessionGoOn("lost()");
        over.awaitAndSeeTheSessionGoOn("requestRelease");
    }

    @Test
    void continuationsOfADowngradeMayBlock() throws Exception {
        Coordinator coordinator = connect();
        WriteGrant writing = SharedLock.at(coordinator, PATH).writeLock().acquire(PATIENCE);
        Blocked lost = new Blocked(coordinator, writing.lost());
        CompletableFuture<ReadGrant> downgrade = writing.downgradeAsync();
        new Blocked(coordinator, downgrade).awaitAndSeeTheSessionGoOn("downgradeAsync");
        lost.awaitAndSeeTheSessionGoOn("lost() of a downgraded writer");
        downgrade.get(120, SECONDS).close();
    }

    @Test
    void continuationsOfPermitsAndSeveralLocksMayBlock() throws Exception {
        Coordinator coordinator = connect();
        DistributedSemaphore semaphore = DistributedSemaphore.adjustable(coordinator, "/semaphores/continued", 1);
        CompletableFuture<PermitGrant> permit = semaphore.acquireAsync(1);
        new Blocked(coordinator, permit).awaitAndSeeTheSessionGoOn("acquireAsync of a semaphore");
        new Blocked(coordinator, semaphore.setPermitsAsync(2)).awaitAndSeeTheSessionGoOn("setPermitsAsync");
        ends(coordinator, permit.get(120, SECONDS), "a semaphore");
        CompletableFuture<MultiLockGrant> both = MultiLock.of(
                        List.of(lockOf(coordinator), DistributedLock.at(coordinator, "/locks/second")))
                .acquireAsync();
        new Blocked(coordinator, both).awaitAndSeeTheSessionGoOn("acquireAsync of several locks");
        ends(coordinator, both.get(120, SECONDS), "several locks");
    }

    private static void ends(Coordinator coordinator, Grant grant, String of) throws Exception {
        Blocked lost = new Blocked(coordinator, grant.lost());
        Blocked closed = new Blocked(coordinator, grant.closeAsync());
        lost.awaitAndSeeTheSessionGoOn("lost() of " + of);
        closed.awaitAndSeeTheSessionGoOn("closeAsync of " + of);
    }

    @Test
    void continuationsOfARequestMayBlock() throws Exception {
        Coordinator coordinator = connect();
        new Blocked(coordinator, coordinator.submit(GetData.of(NodePath.ROOT))).awaitAndSeeTheSessionGoOn("submit");
    }

    @Test
    void completingOrCancellingAFutureDoesNotAffectOthers() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LossReason> mine = grant.lost();
        assertTrue(grant.lost().complete(LossReason.REVOKED));
        assertTrue(grant.lost().cancel(true));
        assertTrue(grant.revocationRequested().complete(null));
        assertTrue(grant.isHeld());
        assertFalse(mine.isDone());
        assertFalse(grant.lost().isDone());
        assertFalse(grant.revocationRequested().isDone());
        coordinator.submit(GetData.of(NodePath.ROOT)).cancel(true);
        coordinator.submit(GetData.of(NodePath.ROOT)).get(120, SECONDS);
        grant.closeAsync().cancel(true);
        grant.closeAsync().get(120, SECONDS);
        assertEquals(LossReason.RELEASED, mine.get(120, SECONDS));
        lockOf(connect()).acquire(PATIENCE).close();
    }
}
