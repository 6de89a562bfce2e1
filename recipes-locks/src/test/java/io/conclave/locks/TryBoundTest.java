package io.conclave.locks;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.NotConnectedException;
import io.conclave.grant.Acquirable;
import io.conclave.grant.Grant;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A try never takes longer than it says, whatever the connection is like, and what it left at the store is deleted
 * later.
 */
class TryBoundTest {
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration BOUND = Duration.ofSeconds(1);
    private static final Duration A_LITTLE = Duration.ofMillis(1);
    private static final List<String> PATHS = List.of("/a", "/b", "/s/locks", "/s/leases");

    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Coordinator observer = connect(TimeSource.system());
    private final Coordinator coordinator = connect(clock);
    private final Faults faults = MemoryStore.named(store).faults();

    private Coordinator connect(TimeSource time) {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(SESSION_TIMEOUT)
                .timeSource(time)
                .connect();
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        faults.clear();
        coordinator.close();
        observer.close();
        MemoryStore.forget(store);
    }

    /** How the store is not to be reached. */
    enum Trouble {
        CONNECTION_AWAY {
            @Override
            void cause(TryBoundTest test) {
                test.faults.suspend(RecipeAccess.session(test.coordinator).id());
                await().until(() -> test.coordinator.state() == SessionState.SUSPENDED);
            }
        },
        SESSION_LOST {
            @Override
            void cause(TryBoundTest test) {
                test.observer.close();
                test.faults.suspendAll();
                await().until(() -> test.coordinator.state() == SessionState.SUSPENDED);
                test.clock.advance(SESSION_TIMEOUT.multipliedBy(2));
                await().until(() -> test.coordinator.state() == SessionState.LOST
                        && RecipeAccess.session(test.coordinator).id() == 0);
            }
        },
        NO_ANSWER {
            @Override
            void cause(TryBoundTest test) {
                test.faults.holdReplies(RecipeAccess.session(test.coordinator).id());
            }
        };

        abstract void cause(TryBoundTest test);
    }

    private DistributedLock lock() {
        return DistributedLock.at(coordinator, "/a");
    }

    /** Every try of a lock that can tell its caller that there is no connection. */
    private List<Callable<?>> tries() {
        SharedLock shared = SharedLock.at(coordinator, "/b");
        Lock view = lock().asLock();
        return List.of(
                () -> lock().tryAcquire(),
                () -> lock().tryAcquireAsync().get(),
                () -> lock().acquire(Duration.ZERO),
                () -> lock().acquireAsync(Duration.ZERO).get(),
                () -> shared.readLock().tryAcquire(),
                () -> shared.writeLock().tryAcquire(),
                () -> MultiLock.of(lock(), shared.writeLock()).tryAcquire(),
                () -> MultiLock.of(lock(), shared.writeLock()).tryAcquireAsync().get(),
                () -> DistributedSemaphore.at(coordinator, "/s", 3).tryAcquire(2),
                () -> DistributedSemaphore.at(coordinator, "/s", 3)
                        .tryAcquireAsync(2)
                        .get(),
                view::tryLock,
                () -> view.tryLock(0, SECONDS));
    }

    private static <T> FutureTask<T> begin(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread thread = new Thread(task, "caller");
        thread.start();
        await().until(() -> thread.getState() == Thread.State.WAITING || task.isDone());
        return task;
    }

    private static Throwable failureOf(FutureTask<?> call) {
        Throwable failure = assertThrows(ExecutionException.class, () -> call.get(120, SECONDS))
                .getCause();
        return failure instanceof ExecutionException ? failure.getCause() : failure;
    }

    @ParameterizedTest
    @EnumSource
    void plainTryEndsWithinItsBoundAndSaysThatThereIsNoAnswer(Trouble trouble) {
        trouble.cause(this);
        for (Callable<?> one : tries()) {
            FutureTask<?> call = begin(one);
            clock.advance(BOUND.minus(A_LITTLE));
            assertFalse(call.isDone());
            clock.advance(A_LITTLE);
            Throwable failure = failureOf(call);
            assertInstanceOf(NotConnectedException.class, failure);
            assertTrue(failure.getMessage().contains("within 1 s"), failure.getMessage());
        }
        assertNothingIsLeftOnceTheStoreIsThereAgain();
    }

    private void assertNothingIsLeftOnceTheStoreIsThereAgain() {
        faults.restoreAll();
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        Coordinator later = connect(TimeSource.system());
        try {
            await().until(() -> coordinator.state() == SessionState.CONNECTED);
            await().untilAsserted(() -> {
                coordinator.execute(Exists.of(NodePath.ROOT)); // what it had in its queue is answered
                for (String path : PATHS) {
                    assertEquals(List.of(), RecipeFixture.children(later, path), path);
                }
            });
        } finally {
            later.close();
        }
    }

    @Test
    void limitOfZeroTakesWhatIsFreeWheneverTheStoreAnswers() throws Exception {
        SharedLock shared = SharedLock.at(coordinator, "/b");
        long session = RecipeAccess.session(coordinator).id();
        List<Acquirable<? extends Grant>> free = List.of(
                lock(),
                shared.writeLock(),
                MultiLock.of(lock(), shared.writeLock()),
                DistributedSemaphore.at(coordinator, "/s", 3),
                LeasedLock.at(coordinator, "/l", SESSION_TIMEOUT));
        for (Acquirable<? extends Grant> one : free) {
            faults.holdReplies(session);
            CompletableFuture<? extends Grant> acquiring = one.acquireAsync(Duration.ZERO);
            clock.advance(A_LITTLE);
            faults.releaseReplies(session);
            acquiring.get(120, SECONDS).close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void tryWithATimeEndsWithIt(Trouble trouble) {
        trouble.cause(this);
        Lock view = lock().asLock();
        FutureTask<Boolean> tried = begin(() -> view.tryLock(50, MILLISECONDS));
        FutureTask<LockGrant> acquired = begin(() -> lock().acquire(Duration.ofMillis(50)));
        FutureTask<PermitGrant> permits =
                begin(() -> DistributedSemaphore.at(coordinator, "/s", 3).acquire(2, Duration.ofMillis(50)));
        CompletableFuture<LockGrant> stage = lock().acquireAsync(Duration.ofMillis(50));
        clock.advance(Duration.ofMillis(49));
        assertFalse(tried.isDone() || acquired.isDone() || permits.isDone() || stage.isDone());
        clock.advance(A_LITTLE);
        assertFalse(get(tried));
        assertInstanceOf(AcquireTimeoutException.class, failureOf(acquired));
        assertInstanceOf(AcquireTimeoutException.class, failureOf(permits));
        assertInstanceOf(
                AcquireTimeoutException.class,
                assertThrows(ExecutionException.class, () -> stage.get(120, SECONDS))
                        .getCause());
        assertNothingIsLeftOnceTheStoreIsThereAgain();
    }

    private static <T> T get(FutureTask<T> call) {
        try {
            return call.get(120, SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void interruptEndsATryAtOnce(Trouble trouble) throws Exception {
        trouble.cause(this);
        FutureTask<Object> call = new FutureTask<>(() -> lock().tryAcquire());
        Thread thread = new Thread(call);
        thread.start();
        await().until(() -> thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        assertInstanceOf(InterruptedException.class, failureOf(call));
        assertNothingIsLeftOnceTheStoreIsThereAgain();
    }

    @ParameterizedTest
    @EnumSource
    void interruptedTryLockOfAViewKeepsTheFlagAndEndsWithinItsBound(Trouble trouble) throws Exception {
        trouble.cause(this);
        Lock view = lock().asLock();
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            assertThrows(NotConnectedException.class, view::tryLock);
            flag.complete(Thread.currentThread().isInterrupted());
        });
        thread.start();
        await().until(() -> thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        await().until(() -> !thread.isInterrupted() && thread.getState() == Thread.State.WAITING); // and waits on
        clock.advance(BOUND);
        assertTrue(flag.get(120, SECONDS));
        assertNothingIsLeftOnceTheStoreIsThereAgain();
    }
}
