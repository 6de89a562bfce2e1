package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * When the application's own code throws, rejects, cancels or calls from the wrong thread, no lock stays taken without
 * a holder.
 */
@Timeout(value = 300, unit = SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LockMisuseTest {
    private static final String PATH = "/locks/misuse";
    private static final Duration SOON = Duration.ofMinutes(2);

    private final String store = UUID.randomUUID().toString();

    private CoordinatorBuilder builder() {
        return Coordinator.builder("memory:" + store).sessionTimeout(Duration.ofSeconds(30));
    }

    private void assertSomebodyElseGetsTheLock() throws InterruptedException {
        try (Coordinator other = builder().connect()) {
            DistributedLock.at(other, PATH).acquire(SOON).close();
        }
    }

    @Test
    void metricsHookThatThrowsDoesNotPreventAGrant() throws Exception {
        MetricsHook throwing = new MetricsHook() {
            @Override
            public void count(String name, String subject) {
                throw new IllegalStateException("count " + name);
            }

            @Override
            public void duration(String name, String subject, Duration duration) {
                throw new IllegalStateException("duration " + name);
            }
        };
        try (Coordinator coordinator = builder().metrics(throwing).connect()) {
            LockGrant grant = DistributedLock.at(coordinator, PATH).acquire(SOON);
            assertTrue(grant.isHeld());
            grant.closeAsync().toCompletableFuture().get(120, SECONDS);
            grant.lost().toCompletableFuture().get(120, SECONDS);
            assertSomebodyElseGetsTheLock();
        }
    }

    /** Kotlin, and Java with tricks, throw these although no signature has them. */
    @Test
    void metricsHookThatThrowsACheckedExceptionDoesNotPreventAGrant() throws Exception {
        MetricsHook throwing = new MetricsHook() {
            @Override
            public void count(String name, String subject) {
                LockMisuseTest.<RuntimeException>sneak(new Exception("count " + name));
            }

            @Override
            public void duration(String name, String subject, Duration duration) {
                LockMisuseTest.<RuntimeException>sneak(new Exception("duration " + name));
            }
        };
        try (Coordinator coordinator = builder().metrics(throwing).connect()) {
            LockGrant grant = DistributedLock.at(coordinator, PATH).acquire(SOON);
            assertTrue(grant.isHeld());
            grant.closeAsync().get(120, SECONDS);
            grant.lost().get(120, SECONDS);
            assertSomebodyElseGetsTheLock();
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> void sneak(Exception e) throws E {
        throw (E) e;
    }

    @Test
    void longestTimeThereIsIsNoLimit() throws Exception {
        try (Coordinator coordinator = builder().connect()) {
            Lock lock = DistributedLock.at(coordinator, PATH).asLock();
            for (TimeUnit unit : TimeUnit.values()) {
                assertTrue(lock.tryLock(Long.MAX_VALUE, unit));
                lock.unlock();
            }
        }
    }

    @Test
    void lostSessionIsReplacedAlthoughTheMetricsHookThrows() throws Exception {
        MetricsHook throwing = new MetricsHook() {
            @Override
            public void count(String name, String subject) {
                throw new IllegalStateException("count " + name);
            }
        };
        try (Coordinator coordinator = builder().metrics(throwing).connect()) {
            long lost = RecipeAccess.session(coordinator).id();
            MemoryStore.named(store).faults().expire(lost);
            await().atMost(SOON)
                    .until(() -> coordinator.state().isLive()
                            && RecipeAccess.session(coordinator).id() != lost);
            DistributedLock.at(coordinator, PATH).acquire(SOON).close();
        }
    }

    @Test
    void grantThatWasGivenIsNotTakenAwayByATimeoutThatHadBegun() throws Exception {
        Queue<Runnable> begun = new ConcurrentLinkedQueue<>();
        Duration timeout = Duration.ofSeconds(1234);
        TimeSource cannotCancel = new TimeSource() {
            @Override
            public long monotonicNanos() {
                return TimeSource.system().monotonicNanos();
            }

            @Override
            public long wallMillis() {
                return TimeSource.system().wallMillis();
            }

            @Override
            public Timer schedule(Duration delay, Runnable task) {
                if (delay.equals(timeout)) {
                    begun.add(task);
                }
                return TimeSource.system().schedule(delay, task);
            }
        };
        try (Coordinator coordinator = builder().timeSource(cannotCancel).connect()) {
            LockGrant grant = DistributedLock.at(coordinator, PATH).acquire(timeout);
            assertEquals(1, begun.size());
            begun.remove().run();
            CompletableFuture<Boolean> held = new CompletableFuture<>();
            RecipeAccess.session(coordinator).execute(() -> held.complete(grant.isHeld()));
            assertTrue(held.get(120, SECONDS), "acquire gave out a grant and took it back");
            grant.close();
        }
    }

    @Test
    void cancelledTryAcquireKeepsNoLock() throws Exception {
        try (Coordinator coordinator = builder().connect()) {
            long session = RecipeAccess.session(coordinator).id();
            DistributedLock lock = DistributedLock.at(coordinator, PATH);
            lock.acquire(SOON).close();
            MemoryStore.named(store).faults().holdReplies(session);
            CompletableFuture<Optional<LockGrant>> attempt = lock.tryAcquireAsync();
            attempt.cancel(false);
            MemoryStore.named(store).faults().releaseReplies(session);
            assertSomebodyElseGetsTheLock();
        }
    }

    @Test
    void stageThatTheApplicationEndedLeavesTheLine() throws Exception {
        try (Coordinator coordinator = builder().connect()) {
            DistributedLock lock = DistributedLock.at(coordinator, PATH);
            LockGrant first = lock.acquire(SOON);
            CompletableFuture<LockGrant> waiter = lock.acquireAsync();
            await().atMost(SOON).until(() -> lock.members().size() == 2);
            waiter.completeExceptionally(new IllegalStateException("the application gave up"));
            await().atMost(SOON).until(() -> lock.members().size() == 1);
            first.close();
        }
    }

    @Test
    void lockCallOnTheDispatcherIsRefusedAndLeavesTheLine() throws Exception {
        try (Coordinator coordinator = builder().connect()) {
            Lock lock = DistributedLock.at(coordinator, PATH).asLock();
            for (Runnable call : new Runnable[] {lock::lock, lock::tryLock}) {
                CompletableFuture<Throwable> thrown = new CompletableFuture<>();
                RecipeAccess.session(coordinator).execute(() -> {
                    try {
                        call.run();
                        thrown.complete(new AssertionError("not refused"));
                    } catch (RuntimeException e) {
                        thrown.complete(e);
                    }
                });
                assertInstanceOf(IllegalStateException.class, thrown.get(120, SECONDS));
                assertSomebodyElseGetsTheLock();
            }
        }
    }

    @Test
    void executorThatRejectsDoesNotSwallowTheGrant() throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        AtomicBoolean rejects = new AtomicBoolean();
        Executor executor = task -> {
            if (rejects.get()) {
                throw new RejectedExecutionException("shut down");
            }
            pool.execute(task);
        };
        try (Coordinator coordinator = builder().listenerExecutor(executor).connect()) {
            DistributedLock lock = DistributedLock.at(coordinator, PATH);
            rejects.set(true);
            LockGrant grant = lock.acquireAsync().get(120, SECONDS);
            grant.close();
            assertSomebodyElseGetsTheLock();
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void acquireEndsThoughTheQueueHasNoRoomForItsRequests() throws Exception {
        try (Coordinator coordinator = builder().maxQueuedRequests(1).connect()) {
            try (Coordinator other = builder().connect()) {
                DistributedLock.at(other, PATH).acquire(SOON).close();
            }
            try {
                DistributedLock.at(coordinator, PATH)
                        .acquireAsync()
                        .get(120, SECONDS)
                        .close();
            } catch (java.util.concurrent.ExecutionException e) {
                RefusedException refused = assertInstanceOf(RefusedException.class, e.getCause());
                assertEquals(RefusalReason.LIMIT_EXCEEDED, refused.reason());
            }
            assertSomebodyElseGetsTheLock();
        }
    }

    @Test
    void namespaceThatWasDeletedIsMadeAgain() throws Exception {
        try (Coordinator coordinator = builder().namespace("/tenants/one").connect()) {
            MemoryStore.named(store).faults().deleteAsOperator(NodePath.of("/tenants"));
            try (LockGrant grant = DistributedLock.at(coordinator, PATH).acquire(SOON)) {
                assertTrue(grant.isHeld());
            }
        }
    }

    /** As a server does with containers that are empty: here each time when a contender is about to enter. */
    @Test
    void lineThatIsDeletedWhileAContenderEntersIsMadeAgain() throws Exception {
        try (Coordinator coordinator = builder().connect()) {
            Faults faults = MemoryStore.named(store).faults();
            DistributedLock.at(coordinator, PATH).acquire(SOON).close();
            AtomicInteger deletions = new AtomicInteger();
            faults.intercept((session, request, index) -> {
                if (request instanceof Create create && create.mode().isSequential() && deletions.get() < 3) {
                    faults.deleteAsOperator(NodePath.of(PATH));
                    deletions.incrementAndGet();
                }
                return RequestFate.PROCEED;
            });
            try (LockGrant grant = DistributedLock.at(coordinator, PATH).acquire(SOON)) {
                assertTrue(grant.isHeld());
            }
            assertEquals(3, deletions.get());
            faults.clear();
        }
    }

    @Test
    void waiterThatGivesUpLeavesNoWatch() throws Exception {
        try (Coordinator holder = builder().connect();
                Coordinator coordinator = builder().connect()) {
            LockGrant first = DistributedLock.at(holder, PATH).acquire(SOON);
            long session = RecipeAccess.session(coordinator).id();
            for (int attempt = 0; attempt < 10; attempt++) {
                assertThrows(AcquireTimeoutException.class, () -> DistributedLock.at(coordinator, PATH)
                        .acquire(Duration.ofMillis(20)));
            }
            await().atMost(SOON)
                    .untilAsserted(() ->
                            assertEquals(0, MemoryStore.named(store).faults().watchCount(session)));
            first.close();
        }
    }

    @Test
    void tryLockWithoutTimeTakesALockThatIsFree() throws Exception {
        try (Coordinator coordinator = builder().connect()) {
            Lock lock = DistributedLock.at(coordinator, PATH).asLock();
            assertTrue(lock.tryLock(0, SECONDS));
            lock.unlock();
        }
    }
}
