package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.RefusedException;
import io.conclave.grant.LossReason;
import io.conclave.node.NodePath;
import io.conclave.spi.Create;
import io.conclave.spi.Delete;
import io.conclave.spi.GetChildren;
import io.conclave.spi.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.history.LockHistory;
import io.conclave.testkit.history.LockHistoryChecker;
import io.conclave.time.TimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a distributed lock promises, on whatever backend; a subclass says where the backend is. */
public abstract class LockContract {
    private static final String PATH = "/locks/orders";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<Coordinator> coordinators = Collections.synchronizedList(new ArrayList<>());
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** Where all coordinators of one test connect to; a store that no other test has used. */
    protected abstract String connectString();

    /** A timeout that the backend grants; as short as it may be, because some tests wait for it. */
    protected Duration sessionTimeout() {
        return Duration.ofSeconds(2);
    }

    @AfterEach
    void closeAll() {
        threads.shutdownNow();
        coordinators.forEach(Coordinator::close);
    }

    private CoordinatorBuilder builder() {
        return Coordinator.builder(connectString()).sessionTimeout(sessionTimeout());
    }

    private Coordinator connect() {
        return opened(builder());
    }

    private Coordinator opened(CoordinatorBuilder builder) {
        Coordinator coordinator = builder.connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    private static DistributedLock lockOf(Coordinator coordinator) {
        return DistributedLock.at(coordinator, PATH);
    }

    private static List<String> children(Coordinator coordinator) throws InterruptedException {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(PATH))).names();
        } catch (RefusedException noNode) {
            return List.of();
        }
    }

    private static void awaitMembers(Coordinator coordinator, int count) {
        await().atMost(PATIENCE).until(() -> children(coordinator).size() == count);
    }

    /** Lets time pass until the coordinator has another session than now. */
    private static void awaitNextSession(Coordinator coordinator, ManualTimeSource clock) {
        long lost = coordinator.recipeSession().id();
        await().atMost(PATIENCE).until(() -> {
            clock.advance(Duration.ofMillis(10));
            long present = coordinator.recipeSession().id();
            return present != 0 && present != lost && coordinator.state() == SessionState.CONNECTED;
        });
    }

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
        assertEquals(List.of(), children(coordinator));
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(20, SECONDS));
        assertThrows(GrantLostException.class, grant::ensureHeld);
    }

    @Test
    void parentsThatAreMissingAreMade() throws Exception {
        try (LockGrant grant = DistributedLock.at(connect(), "/a/b/c/d").acquire(PATIENCE)) {
            assertTrue(grant.isHeld());
        }
    }

    @Test
    void nobodyElseHoldsItAndTokensGrow() throws Exception {
        LockHistory history = new LockHistory(TimeSource.system());
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int worker = i;
            DistributedLock lock = lockOf(connect());
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 10; round++) {
                    takeTurn(lock, history, "worker " + worker + " round " + round);
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(60, SECONDS);
        }
        assertEquals(40 * 4, history.events().size());
        LockHistoryChecker.assertClean(history);
    }

    private static void takeTurn(DistributedLock lock, LockHistory history, String contender) throws Exception {
        history.requested(contender);
        LockGrant grant = lock.acquire(PATIENCE);
        history.enqueued(contender, grant.token().zxid());
        history.granted(contender, grant);
        history.released(contender);
        grant.close();
    }

    @Test
    void virtualThreadsWaitAndRelease() throws Exception {
        Coordinator coordinator = connect();
        AtomicInteger turns = new AtomicInteger();
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            started.add(startVirtual(() -> {
                Lock view = lockOf(coordinator).asLock();
                view.lock();
                turns.incrementAndGet();
                view.unlock();
            }));
        }
        for (Thread thread : started) {
            thread.join(60_000);
        }
        assertEquals(20, turns.get());
        awaitMembers(coordinator, 0);
    }

    /** A virtual thread where the JVM has them (21 and newer), else a platform thread. */
    private static Thread startVirtual(Runnable task) throws ReflectiveOperationException {
        if (Runtime.version().feature() >= 21) {
            return (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        }
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    }

    @Test
    void firstComeFirstServed() throws Exception {
        Coordinator coordinator = connect();
        LockGrant first = lockOf(coordinator).acquire(PATIENCE);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<?>> waiters = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int number = i;
            waiters.add(
                    lockOf(i % 2 == 0 ? coordinator : connect()).acquireAsync().thenCompose(grant -> {
                        order.add(number);
                        return grant.closeAsync();
                    }));
            awaitMembers(coordinator, i + 2);
        }
        first.close();
        CompletableFuture.allOf(waiters.toArray(CompletableFuture<?>[]::new)).get(30, SECONDS);
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7), order);
    }

    @Test
    void manyWaitersNeedNoThreadEach() throws Exception {
        Coordinator coordinator = connect();
        LockGrant first = lockOf(coordinator).acquire(PATIENCE);
        int before = Thread.activeCount();
        List<CompletableFuture<?>> waiters = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiters.add(lockOf(coordinator).acquireAsync().thenCompose(LockGrant::closeAsync));
        }
        awaitMembers(coordinator, 101);
        assertTrue(Thread.activeCount() - before < 20, "threads: " + before + " -> " + Thread.activeCount());
        first.close();
        CompletableFuture.allOf(waiters.toArray(CompletableFuture<?>[]::new)).get(60, SECONDS);
        assertEquals(List.of(), children(coordinator));
    }

    @Test
    void timeoutLeavesNothingBehind() throws Exception {
        Coordinator holder = connect();
        Coordinator other = connect();
        LockGrant grant = lockOf(holder).acquire(PATIENCE);
        assertThrows(AcquireTimeoutException.class, () -> lockOf(other).acquire(Duration.ofMillis(100)));
        awaitMembers(holder, 1);
        ExecutionException failure = assertThrows(
                ExecutionException.class,
                () -> lockOf(other).acquireAsync(Duration.ofMillis(50)).get(20, SECONDS));
        assertTrue(failure.getCause() instanceof AcquireTimeoutException, failure::toString);
        awaitMembers(holder, 1);
        assertTrue(grant.isHeld());
    }

    @Test
    void interruptLeavesNothingBehind() throws Exception {
        Coordinator holder = connect();
        Coordinator other = connect();
        LockGrant grant = lockOf(holder).acquire(PATIENCE);
        AtomicReference<Thread> waiting = new AtomicReference<>();
        Future<?> waiter = threads.submit(() -> {
            waiting.set(Thread.currentThread());
            assertThrows(InterruptedException.class, () -> lockOf(other).acquire());
        });
        awaitMembers(holder, 2);
        waiting.get().interrupt();
        waiter.get(20, SECONDS);
        awaitMembers(holder, 1);
        assertTrue(grant.isHeld());
    }

    @Test
    void interruptedBeforeTheCallLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        Future<?> waiter = threads.submit(() -> {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> lockOf(coordinator).acquire());
        });
        waiter.get(20, SECONDS);
        awaitMembers(coordinator, 0);
    }

    @Test
    void cancellingAnAsynchronousWaitLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(coordinator).acquireAsync();
        awaitMembers(coordinator, 2);
        waiter.cancel(true);
        awaitMembers(coordinator, 1);
        grant.close();
        CompletableFuture<LockGrant> cancelledAtOnce = lockOf(coordinator).acquireAsync();
        cancelledAtOnce.cancel(true);
        awaitMembers(coordinator, 0);
    }

    @Test
    void tryAcquireTakesAFreeLockOnly() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).tryAcquire().orElseThrow();
        assertTrue(lockOf(connect()).tryAcquire().isEmpty());
        assertTrue(lockOf(coordinator).tryAcquireAsync().get(20, SECONDS).isEmpty());
        awaitMembers(coordinator, 1);
        grant.close();
        lockOf(coordinator).tryAcquireAsync().get(20, SECONDS).orElseThrow().close();
        awaitMembers(coordinator, 0);
    }

    @Test
    void anyThreadMayRelease() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        threads.submit(grant::close).get(20, SECONDS);
        grant.close();
        grant.closeAsync().toCompletableFuture().get(20, SECONDS);
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
                .get(20, SECONDS);
        awaitMembers(coordinator, 0);
    }

    @Test
    void holderAndWaitersAreSeenWithTheDataTheyLeft() throws Exception {
        Coordinator coordinator = connect();
        DistributedLock lock = lockOf(coordinator);
        assertTrue(lock.holder().isEmpty());
        LockGrant grant =
                lock.withData("first".getBytes(StandardCharsets.UTF_8)).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter =
                lock.withData("second".getBytes(StandardCharsets.UTF_8)).acquireAsync();
        awaitMembers(coordinator, 2);
        List<LockMember> members = lock.members();
        assertEquals(
                List.of("first", "second"),
                members.stream().map(LockMember::text).toList());
        assertEquals(grant.token().zxid(), members.get(0).zxid());
        assertEquals(coordinator.recipeSession().id(), members.get(0).sessionId());
        assertEquals("first", lock.holder().orElseThrow().text());
        grant.close();
        waiter.get(20, SECONDS).close();
    }

    @Test
    void waiterFailsAtOnceWhenItsZnodeIsDeleted() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(coordinator).acquireAsync();
        awaitMembers(coordinator, 2);
        NodePath znode = lockOf(coordinator).members().get(1).path();
        coordinator.execute(Delete.of(znode));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(20, SECONDS));
        assertTrue(failure.getCause() instanceof GrantLostException, failure::toString);
        assertTrue(grant.isHeld());
    }

    @Test
    void holderIsToldWhenItsZnodeIsDeletedAndTheNextOneGetsTheLock() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(connect()).acquireAsync();
        awaitMembers(coordinator, 2);
        coordinator.execute(Delete.of(grant.path()));
        assertEquals(LossReason.NODE_DELETED, grant.lost().toCompletableFuture().get(20, SECONDS));
        assertFalse(grant.isHeld());
        LockGrant next = waiter.get(20, SECONDS);
        assertTrue(next.token().compareTo(grant.token()) > 0);
        grant.close();
        assertTrue(next.isHeld(), "a stale release leaves a newer lock alone");
        awaitMembers(coordinator, 1);
        next.close();
    }

    @Test
    void nextWaiterGetsTheLockWhenTheHoldersSessionExpires() throws Exception {
        Coordinator awake = connect();
        ManualTimeSource stopped = new ManualTimeSource();
        Coordinator sleeper = opened(builder().timeSource(stopped));
        LockGrant grant = lockOf(sleeper).acquire();
        CompletableFuture<LockGrant> waiter = lockOf(awake).acquireAsync();
        LockGrant next =
                waiter.get(sessionTimeout().toMillis() * 3 + 20_000, java.util.concurrent.TimeUnit.MILLISECONDS);
        assertTrue(next.token().compareTo(grant.token()) > 0);
        stopped.advance(sessionTimeout().plusSeconds(60)); // it wakes up
        assertFalse(grant.isHeld());
        assertThrows(GrantLostException.class, grant::ensureHeld);
        grant.close();
        assertTrue(next.isHeld());
        next.close();
    }

    @Test
    void grantIsLostByTheOwnClockWhateverTheServerThinks() throws Exception {
        connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = new ManualTimeSource();
        Coordinator coordinator = opened(builder().timeSource(clock));
        LockGrant grant = lockOf(coordinator).acquire();
        clock.advanceWallOnly(sessionTimeout()); // the machine was suspended: no timer has run
        assertFalse(grant.isHeld());
        awaitNextSession(coordinator, clock);
        assertEquals(LossReason.SESSION_LOST, grant.lost().toCompletableFuture().get(20, SECONDS));
        assertFalse(grant.isHeld(), "what was lost stays lost in the next session");
    }

    @Test
    void lostHolderGetsTheLockAgainInItsNextSession() throws Exception {
        connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = new ManualTimeSource();
        Coordinator coordinator = opened(builder().timeSource(clock));
        LockGrant old = lockOf(coordinator).acquire();
        clock.advanceWallOnly(sessionTimeout());
        awaitNextSession(coordinator, clock);
        CompletableFuture<LockGrant> again = lockOf(coordinator).acquireAsync();
        await().atMost(PATIENCE).until(() -> {
            clock.advance(Duration.ofMillis(1));
            return again.isDone();
        });
        assertTrue(again.get().token().compareTo(old.token()) > 0);
    }

    @Test
    void closingTheCoordinatorReleasesAndFailsWhoWaits() throws Exception {
        Coordinator closing = connect();
        LockGrant grant = lockOf(closing).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(closing).acquireAsync();
        Coordinator other = connect();
        awaitMembers(other, 2);
        closing.close();
        awaitMembers(other, 0);
        assertFalse(grant.isHeld());
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(20, SECONDS));
        assertTrue(failure.getCause() instanceof ClosedException, failure::toString);
        assertThrows(ClosedException.class, () -> lockOf(closing).acquire(PATIENCE));
        grant.close();
    }

    @Test
    void foreignZnodesInTheLineAreIgnored() throws Exception {
        Coordinator coordinator = connect();
        lockOf(coordinator).acquire(PATIENCE).close();
        try {
            coordinator.execute(Create.of(NodePath.of(PATH)));
        } catch (RefusedException exists) {
            assertEquals(io.conclave.error.RefusalReason.NODE_EXISTS, exists.reason());
        }
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
        assertFalse(threads.submit(() -> view.tryLock()).get(20, SECONDS));
        assertFalse(threads.submit(() -> view.tryLock(50, java.util.concurrent.TimeUnit.MILLISECONDS))
                .get(20, SECONDS));
        threads.submit(() -> assertThrows(IllegalMonitorStateException.class, view::unlock))
                .get(20, SECONDS);
        view.unlock();
        view.unlock();
        awaitMembers(coordinator, 1);
        view.unlock();
        awaitMembers(coordinator, 0);
        assertThrows(IllegalMonitorStateException.class, view::unlock);
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
}
