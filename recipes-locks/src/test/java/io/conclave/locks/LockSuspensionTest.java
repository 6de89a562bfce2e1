package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.request.GetChildren;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a lock does while the connection is away, and when it comes back. */
class LockSuspensionTest {
    private static final NodePath LINE = NodePath.of("/locks/suspended");
    private static final Duration STEP = Duration.ofSeconds(1);

    /** For a session that is to outlive a suspension, on a busy machine as well; one that is lost has its own clock. */
    private static final Duration LONG = Duration.ofMinutes(2);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private Coordinator victim;
    private Coordinator other;

    @BeforeEach
    void connect() {
        victim = victim().connect();
        other = store.opened(store.builder().sessionTimeout(LONG));
    }

    @AfterEach
    void close() {
        victim.close();
    }

    private CoordinatorBuilder victim() {
        return store.builder().sessionTimeout(LONG);
    }

    private void reconnect(CoordinatorBuilder builder) {
        victim.close();
        victim = builder.connect();
    }

    private static DistributedLock lockOf(Coordinator coordinator) {
        return DistributedLock.at(coordinator, LINE);
    }

    private void awaitInLine(int count) {
        await().until(() -> other.execute(GetChildren.of(LINE)).names().size() == count);
    }

    private long suspendVictim() {
        long session = RecipeAccess.session(victim).id();
        faults.suspend(session);
        await().until(() -> victim.state() == SessionState.SUSPENDED);
        return session;
    }

    @Test
    void grantOutlivesASuspension() throws Exception {
        LockGrant grant = lockOf(victim).acquire();
        long session = suspendVictim();
        assertTrue(grant.isHeld(), "the session lives, so the lock is held");
        faults.restore(session);
        await().until(() -> victim.state() == SessionState.CONNECTED);
        assertTrue(grant.isHeld());
        grant.close();
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
        awaitInLine(0);
    }

    @Test
    void grantIsLostWhenTheSuspensionOutlivesTheSession() throws Exception {
        reconnect(victim().timeSource(clock));
        LockGrant grant = lockOf(victim).acquire();
        suspendVictim();
        CompletableFuture<LossReason> lost = grant.lost();
        clock.advanceUntil(STEP, lost::isDone);
        assertEquals(LossReason.SESSION_LOST, lost.join());
        assertFalse(grant.isHeld());
        faults.restoreAll();
        clock.advanceUntil(STEP, () -> victim.state() == SessionState.CONNECTED);
        lockOf(victim).acquire().close();
    }

    @Test
    void closeDuringASuspensionReturnsInTimeAndDeletesLater() throws Exception {
        reconnect(victim().timeSource(clock));
        LockGrant grant = lockOf(victim).acquire();
        suspendVictim();
        FutureTask<Void> closed = new FutureTask<>(grant::close, null);
        Thread closing = new Thread(closed);
        closing.start();
        await().until(() -> closing.getState() == Thread.State.WAITING);
        clock.advance(LONG); // what the session has left, at most
        closed.get(120, SECONDS);
        faults.restoreAll();
        clock.advanceUntil(
                STEP, () -> other.execute(GetChildren.of(LINE)).names().isEmpty());
    }

    @Test
    void releaseDuringASuspensionIsDoneOnReconnect() throws Exception {
        LockGrant grant = lockOf(victim).acquire();
        long session = suspendVictim();
        CompletableFuture<Void> released = grant.closeAsync().toCompletableFuture();
        assertFalse(grant.isHeld() && grant.lost().toCompletableFuture().isDone());
        faults.restore(session);
        released.get(120, SECONDS);
        awaitInLine(0);
        assertEquals(session, RecipeAccess.session(victim).id());
    }

    @Test
    void waiterThatTimesOutDuringASuspensionIsDeletedOnReconnect() throws Exception {
        reconnect(victim().timeSource(clock));
        LockGrant first = lockOf(other).acquire();
        CompletableFuture<LockGrant> waiter = lockOf(victim).acquireAsync(Duration.ofSeconds(3));
        awaitInLine(2);
        long session = suspendVictim();
        clock.advanceUntil(Duration.ofMillis(100), waiter::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, waiter::get);
        assertTrue(failure.getCause() instanceof AcquireTimeoutException, failure::toString);
        assertEquals(2, other.execute(GetChildren.of(LINE)).names().size());
        faults.restore(session);
        awaitInLine(1);
        assertTrue(first.isHeld());
    }

    @Test
    void waiterLearnsOnReconnectThatItsTurnHasCome() throws Exception {
        LockGrant first = lockOf(other).acquire();
        CompletableFuture<LockGrant> waiter = lockOf(victim).acquireAsync();
        awaitInLine(2);
        long session = suspendVictim();
        first.close();
        assertFalse(waiter.isDone());
        faults.restore(session);
        waiter.get(120, SECONDS).close();
    }

    @Test
    void waiterFailsWhenItsSessionEndsDuringASuspension() throws Exception {
        reconnect(victim().timeSource(clock));
        lockOf(other).acquire();
        CompletableFuture<LockGrant> waiter = lockOf(victim).acquireAsync();
        awaitInLine(2);
        faults.expire(suspendVictim());
        assertFalse(waiter.isDone());
        clock.advanceUntil(STEP, waiter::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertTrue(failure.getCause() instanceof SessionGoneException, failure::toString);
        awaitInLine(1);
    }

    @Test
    void oneReleaseWakesOneWaiterHoweverManyWait() throws Exception {
        List<CompletableFuture<LockGrant>> waiters = new ArrayList<>();
        LockGrant holder = lockOf(other).acquire();
        for (int i = 0; i < 60; i++) {
            waiters.add(lockOf(victim).acquireAsync());
        }
        awaitInLine(61);
        await().until(() ->
                faults.watchCount(RecipeAccess.session(victim).id()) == 120); // own znode and predecessor of each
        List<Long> costs = new ArrayList<>();
        for (CompletableFuture<LockGrant> waiter : waiters) {
            long before = faults.requestCount();
            holder.close();
            holder = waiter.get(120, SECONDS);
            costs.add(faults.requestCount() - before);
        }
        holder.close();
        long most = costs.stream().mapToLong(Long::longValue).max().orElseThrow();
        System.out.println("requests for each hand-over among 60 waiters: at most " + most);
        // The release; and the own znode and the line once more where the predecessor was not the head when it was
        // watched.
        assertTrue(most <= 3, costs::toString);
    }
}
