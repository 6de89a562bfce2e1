package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/**
 * What a distributed lock promises, on every backend; a subclass says where the backend is.
 *
 * <p>The parts of the contract stand one above the other, so that a class that extends this one runs them all: here is
 * what holds without waiting and without trouble.
 */
public abstract class LockContract extends LockContinuationContract {
    @Test
    void freeLockIsGrantedAndGivenBack() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        assertTrue(grant.isHeld());
        grant.ensureHeld();
        assertTrue(grant.remaining().compareTo(sessionTimeout()) <= 0);
        assertEquals(List.of(grant.path().name()), children(coordinator));
        grant.close();
        assertFalse(grant.isHeld());
        assertEquals(Duration.ZERO, grant.remaining());
        get(grant.closeAsync()); // close() waits no longer than the session has left
        assertEquals(List.of(), children(coordinator));
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
        assertThrows(GrantLostException.class, grant::ensureHeld);
    }

    @Test
    void parentsThatAreMissingAreMade() throws Exception {
        try (LockGrant grant = DistributedLock.at(connect(), "/a/b/c/d").acquire(PATIENCE)) {
            assertTrue(grant.isHeld());
        }
    }

    @Test
    void tryAcquireTakesAFreeLockOnly() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).tryAcquire().orElseThrow();
        assertTrue(lockOf(connect()).tryAcquire().isEmpty());
        assertTrue(lockOf(coordinator).tryAcquireAsync().get(120, SECONDS).isEmpty());
        awaitMembers(coordinator, 1);
        grant.close();
        lockOf(coordinator).tryAcquireAsync().get(120, SECONDS).orElseThrow().close();
        awaitMembers(coordinator, 0);
    }

    @Test
    void anyThreadMayRelease() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        threads.submit(grant::close).get(120, SECONDS);
        grant.close();
        grant.closeAsync().toCompletableFuture().get(120, SECONDS);
        awaitMembers(coordinator, 0);
    }

    @Test
    void closeIgnoresInterruptsAndKeepsTheFlag() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        threads.submit(() -> {
                    Thread.currentThread().interrupt();
                    grant.close();
                    assertTrue(Thread.interrupted());
                })
                .get(120, SECONDS);
        awaitMembers(coordinator, 0);
    }

    @Test
    void holderAndWaitersAreSeenWithTheDataTheyLeft() throws Exception {
        Coordinator coordinator = connect();
        DistributedLock lock = lockOf(coordinator);
        assertTrue(lock.holder().isEmpty());
        assertTrue(lock.holderAsync().get(120, SECONDS).isEmpty());
        LockGrant grant =
                lock.withData("first".getBytes(StandardCharsets.UTF_8)).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter =
                lock.withData("second".getBytes(StandardCharsets.UTF_8)).acquireAsync();
        awaitMembers(coordinator, 2);
        List<LockMember> members = lock.members();
        assertEquals(
                List.of("first", "second"),
                members.stream().map(LockMember::text).toList());
        assertEquals(grant.token().sequence(), members.get(0).sequence());
        assertEquals(RecipeAccess.session(coordinator).id(), members.get(0).sessionId());
        assertEquals("first", lock.holder().orElseThrow().text());
        assertEquals(lock.holder(), lock.holder(), "the same holder, read twice");
        assertEquals(lock.holder(), lock.holderAsync().get(120, SECONDS));
        assertEquals(lock.members(), lock.membersAsync().get(120, SECONDS));
        assertEquals(members, lock.members(), "the same line, read twice");
        grant.close();
        waiter.get(120, SECONDS).close();
    }

    @Test
    void foreignZnodesInTheLineAreIgnored() throws Exception {
        Coordinator coordinator = connect();
        // no containers: the server may delete an empty one between two requests of a test
        coordinator.execute(Create.of(NodePath.of(PATH).parent().orElseThrow()));
        coordinator.execute(Create.of(NodePath.of(PATH)));
        lockOf(coordinator).acquire(PATIENCE).close();
        coordinator.execute(Create.of(NodePath.of(PATH + "/0-notes")));
        try (LockGrant grant = lockOf(coordinator).acquire(PATIENCE)) {
            assertTrue(grant.isHeld());
        }
    }

    @Test
    void namespaceIsInFrontOfEveryPath() throws Exception {
        Coordinator plain = connect();
        Coordinator inside = opened(builder().namespace("/app/one"));
        try (LockGrant grant = lockOf(inside).acquire(PATIENCE)) {
            assertEquals(NodePath.of(PATH), grant.path().parent().orElseThrow());
            List<String> names = plain.execute(GetChildren.of(NodePath.of("/app/one" + PATH)))
                    .names();
            assertEquals(List.of(grant.path().name()), names);
        }
    }

    @Test
    void viewIsReentrantPerThread() throws Exception {
        Coordinator coordinator = connect();
        Lock view = lockOf(coordinator).asLock();
        view.lock();
        assertTrue(view.tryLock());
        view.lockInterruptibly();
        awaitMembers(coordinator, 1);
        assertFalse(threads.submit(() -> view.tryLock()).get(120, SECONDS));
        assertFalse(threads.submit(() -> view.tryLock(50, java.util.concurrent.TimeUnit.MILLISECONDS))
                .get(120, SECONDS));
        threads.submit(() -> assertThrows(IllegalMonitorStateException.class, view::unlock))
                .get(120, SECONDS);
        view.unlock();
        view.unlock();
        awaitMembers(coordinator, 1);
        view.unlock();
        awaitMembers(coordinator, 0);
        assertThrows(IllegalMonitorStateException.class, view::unlock);
    }

    @Test
    void twoViewsOfOneLockHaveOneOwner() throws Exception {
        DistributedLock lock = lockOf(connect());
        Lock first = lock.asLock();
        Lock second = lock.asLock();
        first.lock();
        assertTrue(second.tryLock()); // the same thread holds it already
        second.lock();
        assertFalse(threads.submit(() -> lock.asLock().tryLock()).get(120, SECONDS));
        first.unlock();
        second.unlock();
        second.unlock();
        assertThrows(IllegalMonitorStateException.class, first::unlock);
        assertTrue(threads.submit(() -> {
                    boolean locked = lock.asLock().tryLock();
                    lock.asLock().unlock();
                    return locked;
                })
                .get(120, SECONDS));
    }

    @Test
    void badPathsAndTimeoutsAreNamed() {
        Coordinator coordinator = connect();
        assertTrue(assertThrows(IllegalArgumentException.class, () -> DistributedLock.at(coordinator, "locks"))
                .getMessage()
                .contains("locks"));
        assertThrows(IllegalArgumentException.class, () -> DistributedLock.at(coordinator, "/"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> lockOf(coordinator)
                        .acquire(Duration.ofSeconds(-1)))
                .getMessage()
                .contains("PT-1S"));
    }

    @Test
    void parentThatCannotHaveChildrenIsARefusal() throws Exception {
        Coordinator coordinator = connect();
        coordinator.execute(Create.of(NodePath.of("/flat")).withMode(io.conclave.node.CreateMode.EPHEMERAL));
        assertThrows(ConclaveException.class, () -> DistributedLock.at(coordinator, "/flat")
                .acquire(PATIENCE));
        assertThrows(ConclaveException.class, () -> DistributedLock.at(coordinator, "/flat/lock")
                .acquire(PATIENCE));
    }

    @Test
    void continuationsOfAReleaseMayBlock() throws Exception {
        Coordinator coordinator = connect();
        CountDownLatch next = new CountDownLatch(1);
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        // on another thread, since what follows a stage that is complete already runs on the one that asks
        CompletableFuture<Boolean> followed = CompletableFuture.supplyAsync(
                        () -> grant.closeAsync().thenApply(released -> awaitLatch(next)))
                .thenCompose(after -> after);
        lockOf(coordinator).acquire(PATIENCE).close();
        next.countDown();
        assertTrue(followed.get(120, SECONDS));
    }

    private static boolean awaitLatch(CountDownLatch latch) {
        try {
            return latch.await(120, SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
