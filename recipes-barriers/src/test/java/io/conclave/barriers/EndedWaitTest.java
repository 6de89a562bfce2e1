package io.conclave.barriers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A wait for a latch that has ended while the store could not make one. */
class EndedWaitTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final NodePath PATH = NodePath.of("/latch");

    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final AtomicBoolean isFull = new AtomicBoolean(true);
    private final AtomicBoolean hasRefused = new AtomicBoolean();

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    /** As a server whose disk is full. */
    private BackendSession refusing(BackendSession session) {
        return (BackendSession) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {BackendSession.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("submit") && arguments[0] instanceof Multi && isFull.get()) {
                        CompletableFuture<Object> answer = new CompletableFuture<>();
                        session.dispatcher().execute(() -> {
                            answer.completeExceptionally(
                                    new RefusedException(RefusalReason.NOT_WRITABLE, "the disk is full"));
                            hasRefused.set(true);
                        });
                        return answer;
                    }
                    try {
                        return method.invoke(session, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void makesNoneLater() throws Exception {
        MemoryStore.named(store).faults().plant(clock, this::refusing);
        try (Coordinator coordinator = Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofHours(1))
                .timeSource(clock)
                .connect()) {
            CompletableFuture<Void> wait = Latch.at(coordinator, PATH, 2).awaitAsync();
            await().atMost(PATIENCE).until(hasRefused::get);
            wait.cancel(true);
            isFull.set(false);
            for (int i = 0; i < 10; i++) {
                assertTrue(coordinator.execute(Exists.of(PATH)).isEmpty());
                clock.advance(Duration.ofSeconds(1));
            }
        }
    }
}
