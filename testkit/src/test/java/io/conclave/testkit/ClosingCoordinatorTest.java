package io.conclave.testkit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.CreateMode;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.testkit.contract.TestStore;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A coordinator that is being closed, while others wait for that. */
class ClosingCoordinatorTest {
    @RegisterExtension
    final TestStore store = new TestStore();

    @Test
    void closeWaitsForAClosingThatHasBegun() throws Exception {
        Coordinator coordinator = store.opened(store.builder().timeSource(new ManualTimeSource()));
        RecipeSession session = RecipeAccess.session(coordinator);
        store.faults().holdReplies(session.id());
        coordinator.closeAsync();
        CompletableFuture<Void> onDispatcher = new CompletableFuture<>();
        session.execute(() -> {
            coordinator.close(); // which must not wait there
            onDispatcher.complete(null);
        });
        onDispatcher.get(120, SECONDS);
        AtomicBoolean isReleased = new AtomicBoolean();
        CompletableFuture<Boolean> wasReleased = new CompletableFuture<>();
        Thread closing = new Thread(() -> {
            coordinator.close();
            wasReleased.complete(isReleased.get());
        });
        closing.start();
        await().until(() ->
                closing.getState() == Thread.State.WAITING || closing.getState() == Thread.State.TERMINATED);
        isReleased.set(true);
        store.faults().releaseReplies(session.id());
        assertTrue(wasReleased.get(120, SECONDS), "it returned before the session was ended");
    }

    @Test
    void closingGoesOnThoughNoThreadCanBeStartedForItAtFirst() throws Exception {
        ExecutorService callbacks = startedThreads(4);
        AtomicInteger refused = new AtomicInteger();
        InheritableThreadLocal<Boolean> isRefused = new InheritableThreadLocal<>() {
            @Override
            protected Boolean childValue(Boolean ofParent) {
                if (ofParent) {
                    refused.incrementAndGet();
                    throw new OutOfMemoryError("unable to create native thread, says a test");
                }
                return false;
            }
        };
        Coordinator coordinator = store.builder().listenerExecutor(callbacks).connect();
        isRefused.set(true);
        CompletableFuture<Void> closed;
        try {
            closed = coordinator.closeAsync();
        } catch (OutOfMemoryError e) {
            throw new AssertionError("nothing will end it", e);
        } finally {
            isRefused.remove();
        }
        assertTrue(refused.get() > 0);
        closed.get(120, SECONDS);
        CompletableFuture.runAsync(coordinator::close, callbacks).get(120, SECONDS);
        assertTrue(store.faults().liveSessions().isEmpty());
        callbacks.shutdown();
    }

    private static ExecutorService startedThreads(int count) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(count, count, 0, SECONDS, new LinkedBlockingQueue<>());
        threads.prestartAllCoreThreads();
        return threads;
    }

    @Test
    void futureOfAClosingTellsThatTheStoreHasConfirmedIt() throws Exception {
        Coordinator coordinator = store.connect();
        Coordinator other = store.connect();
        coordinator.execute(Create.of("/a").withMode(CreateMode.EPHEMERAL));
        BlockingQueue<Boolean> isThere = new LinkedBlockingQueue<>();
        coordinator
                .closeAsync()
                .thenRun(
                        () -> { // may block
                            try {
                                isThere.add(other.execute(Exists.of("/a")).isPresent());
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                        });
        assertEquals(Boolean.FALSE, isThere.poll(120, SECONDS));
        coordinator.close();
        coordinator.closeAsync().get(120, SECONDS);
    }
}
