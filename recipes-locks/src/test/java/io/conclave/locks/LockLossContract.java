package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** What a lock promises when a znode, a session or a coordinator goes away under its holder or its waiters. */
abstract class LockLossContract extends LockWaitingContract {
    @Test
    void waiterFailsAtOnceWhenItsZnodeIsDeleted() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(coordinator).acquireAsync();
        awaitMembers(coordinator, 2);
        NodePath znode = lockOf(coordinator).members().get(1).path();
        coordinator.execute(Delete.of(znode));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertTrue(failure.getCause() instanceof GrantLostException, failure::toString);
        assertTrue(grant.isHeld());
    }

    @Test
    void holderLosesTheLockWhenItsZnodeIsDeletedAndTheNextWaiterGetsIt() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(connect()).acquireAsync();
        awaitMembers(coordinator, 2);
        coordinator.execute(Delete.of(grant.path()));
        assertEquals(LossReason.NODE_DELETED, grant.lost().toCompletableFuture().get(120, SECONDS));
        assertFalse(grant.isHeld());
        LockGrant next = waiter.get(120, SECONDS);
        assertTrue(next.token().compareTo(grant.token()) > 0);
        grant.close();
        assertTrue(next.isHeld(), "a stale release leaves a newer lock alone");
        awaitMembers(coordinator, 1);
        next.close();
    }

    @Test
    void nextWaiterGetsTheLockWhenTheHoldersSessionExpires() throws Exception {
        Coordinator awake = connect();
        ManualTimeSource clock = jumpingClock();
        Coordinator sleeper = opened(builder().timeSource(clock));
        LockGrant grant = lockOf(sleeper).acquire();
        stop(clock);
        CompletableFuture<LockGrant> waiter = lockOf(awake).acquireAsync();
        LockGrant next =
                waiter.get(sessionTimeout().toMillis() * 3 + 20_000, java.util.concurrent.TimeUnit.MILLISECONDS);
        assertTrue(next.token().compareTo(grant.token()) > 0);
        clock.advance(sessionTimeout().plusSeconds(60)); // it wakes up
        assertFalse(grant.isHeld());
        assertThrows(GrantLostException.class, grant::ensureHeld);
        grant.close();
        assertTrue(next.isHeld());
        next.close();
    }

    @Test
    void grantIsLostByTheHoldersOwnClockBeforeTheServerExpiresIt() throws Exception {
        connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        LockGrant grant = lockOf(coordinator).acquire();
        stop(clock);
        clock.advanceWallOnly(sessionTimeout()); // the machine was suspended: no timer has run
        assertFalse(grant.isHeld());
        awaitNextSession(coordinator, clock);
        assertEquals(LossReason.SESSION_LOST, grant.lost().toCompletableFuture().get(120, SECONDS));
        assertFalse(grant.isHeld(), "what was lost stays lost in the next session");
    }

    @Test
    void lostHolderGetsTheLockAgainInItsNextSession() throws Exception {
        connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        LockGrant old = lockOf(coordinator).acquire();
        loseSession(coordinator, clock);
        LockGrant again = lockOf(coordinator).acquire(PATIENCE);
        assertTrue(again.token().compareTo(old.token()) > 0);
    }

    @Test
    void closingTheCoordinatorReleasesAndFailsWaiters() throws Exception {
        Coordinator closing = connect();
        LockGrant grant = lockOf(closing).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(closing).acquireAsync();
        Coordinator other = connect();
        awaitMembers(other, 2);
        closing.close();
        awaitMembers(other, 0);
        assertFalse(grant.isHeld());
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertTrue(failure.getCause() instanceof ClosedException, failure::toString);
        assertThrows(ClosedException.class, () -> lockOf(closing).acquire(PATIENCE));
        grant.close();
    }

    @Test
    void viewSaysSoWhenTheLockWasLost() throws Exception {
        Coordinator coordinator = connect();
        DistributedLock lock = lockOf(coordinator);
        Lock view = lock.asLock();
        view.lock();
        coordinator.execute(Delete.of(lock.members().get(0).path()));
        await().pollInSameThread()
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThrows(GrantLostException.class, () -> {
                    view.lock(); // re-entry; undone until the loss is known
                    view.unlock();
                }));
        assertThrows(GrantLostException.class, view::unlock);
        view.lock();
        view.unlock();
        awaitMembers(coordinator, 0);
    }
}
