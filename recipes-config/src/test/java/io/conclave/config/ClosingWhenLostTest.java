package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A coordinator that is closed before it has heard that its session is lost opens no other one: what follows its
 * sessions must not wait for one, let alone look for it without end.
 */
class ClosingWhenLostTest {
    private final String store = UUID.randomUUID().toString();
    private final HeldExecutor threads = new HeldExecutor();

    /** Runs tasks on threads, but keeps them back while it is held. */
    private static final class HeldExecutor implements Executor {
        private final ExecutorService pool = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "held-executor");
            thread.setDaemon(true);
            return thread;
        });
        private final AtomicInteger running = new AtomicInteger();
        private final List<Runnable> kept = new ArrayList<>();
        private boolean isHeld;

        @Override
        public synchronized void execute(Runnable task) {
            running.incrementAndGet();
            Runnable counted = () -> {
                try {
                    task.run();
                } finally {
                    running.decrementAndGet();
                }
            };
            if (isHeld) {
                kept.add(counted);
            } else {
                pool.execute(counted);
            }
        }

        synchronized void hold() {
            isHeld = true;
        }

        synchronized void letGo() {
            isHeld = false;
            kept.forEach(pool::execute);
        }

        boolean isIdle() {
            return running.get() == 0;
        }
    }

    @AfterEach
    void forget() {
        threads.pool.shutdownNow();
        MemoryStore.forget(store);
    }

    @Test
    void cacheEndsWithItsCoordinator() throws InterruptedException {
        Coordinator coordinator =
                Coordinator.builder("memory:" + store).listenerExecutor(threads).connect();
        NodeCache cache = NodeCache.at(coordinator, "/value");
        cache.awaitLoaded(Duration.ofSeconds(20));
        await().until(threads::isIdle);
        threads.hold();
        MemoryStore.named(store)
                .faults()
                .expire(RecipeAccess.session(coordinator).id());
        coordinator.close();
        threads.letGo();
        await().until(threads::isIdle);
        assertFalse(cache.isCurrent());
    }
}
