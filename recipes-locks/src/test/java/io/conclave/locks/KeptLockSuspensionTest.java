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
import io.conclave.error.NotConnectedException;
import io.conclave.node.NodePath;
import io.conclave.session.SessionState;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A kept place is not passed on while the connection is away, and is passed on when it comes back. */
class KeptLockSuspensionTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private Coordinator victim;
    private KeptLock lock;

    @BeforeEach
    void connect() {
        victim = store.opened(
                store.builder().sessionTimeout(Duration.ofMinutes(1)).tryTimeout(Duration.ofMillis(50)));
        lock = DistributedLock.at(victim, NodePath.of("/locks/suspended")).kept(Keeping.idleFor(Duration.ofHours(1)));
    }

    private long suspend() {
        long session = RecipeAccess.session(victim).id();
        faults.suspend(session);
        await().until(() -> victim.state() == SessionState.SUSPENDED);
        return session;
    }

    @Test
    void idlePlaceIsNotPassedOnWhileTheConnectionIsAway() throws Exception {
        NodePath place;
        try (LockGrant grant = lock.acquire(PATIENCE)) {
            place = grant.path();
        }
        long session = suspend();
        assertThrows(NotConnectedException.class, () -> lock.tryAcquire());
        AcquireTimeoutException timedOut =
                assertThrows(AcquireTimeoutException.class, () -> lock.acquire(Duration.ofMillis(50)));
        assertTrue(timedOut.getMessage().contains("the session is SUSPENDED"), timedOut.getMessage());
        CompletableFuture<LockGrant> waiting = lock.acquireAsync();
        assertTrue(lock.tryAcquire().isEmpty(), "another caller waits for it");
        assertFalse(waiting.isDone());
        faults.restore(session);
        try (LockGrant grant = waiting.get(120, SECONDS)) {
            assertEquals(place, grant.path());
        }
    }

    @Test
    void turnThatEndsWhileTheConnectionIsAwayIsFollowedByOneWhenItIsBack() throws Exception {
        LockGrant grant = lock.acquire(PATIENCE);
        CompletableFuture<LockGrant> behind = lock.acquireAsync();
        long session = suspend();
        assertTrue(grant.isHeld(), "the session lives, so the lock is held");
        grant.close();
        assertThrows(AcquireTimeoutException.class, () -> lock.acquire(Duration.ofMillis(50)));
        assertFalse(behind.isDone());
        faults.restore(session);
        try (LockGrant next = behind.get(120, SECONDS)) {
            assertEquals(grant.path(), next.path());
            assertTrue(next.token().compareTo(grant.token()) > 0);
        }
    }
}
