package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.request.Request;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.ForwardingSession;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * A coordinator is closed while a cache asks for its first state. Requests that are submitted then may fail before the
 * session's listeners are told.
 */
class LoadingAtTheEndTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String store = UUID.randomUUID().toString();
    private final AtomicInteger refused = new AtomicInteger();

    /** Fails all requests as a session does that is being closed, before it says so. */
    private BackendSession closing(BackendSession session) {
        return new ForwardingSession(session) {
            @Override
            public <R> CompletionStage<R> submit(Request<R> request) {
                CompletionStage<R> failed = failed(new ClosedException("the session was closed"));
                dispatcher().execute(refused::incrementAndGet); // once that was told
                return failed;
            }
        };
    }

    @Test
    void whatWasNotReadIsNotSaidToBeAbsent() throws Exception {
        ManualTimeSource process = new ManualTimeSource();
        MemoryStore.named(store).faults().plant(process, this::closing);
        Coordinator coordinator =
                Coordinator.builder("memory:" + store).timeSource(process).connect();
        CompletableFuture<Void> loaded = NodeCache.at(coordinator, "/cached").loaded();
        await().atMost(PATIENCE).until(() -> refused.get() == 3); // sync, watch, read
        CompletableFuture<Void> behind = new CompletableFuture<>();
        RecipeAccess.session(coordinator).execute(() -> behind.complete(null));
        behind.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertFalse(loaded.isDone());
        coordinator.close();
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> loaded.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertInstanceOf(ClosedException.class, failure.getCause());
        MemoryStore.forget(store);
    }
}
