package io.conclave.config;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Sync;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A call that loses every race goes on as long as its caller waits for it, and no longer. */
class AttemptsTest {
    private static final Duration LONGER_THAN_A_PAUSE = Duration.ofMillis(100);
    private static final int MANY = 50;

    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final AtomicInteger attempts = new AtomicInteger();
    private Coordinator coordinator;
    private SharedValue<String> value;
    private Function<Optional<String>, String> outrun;

    @BeforeEach
    void connect() {
        coordinator = Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofHours(1))
                .timeSource(clock)
                .connect();
        value = SharedValue.at(coordinator, "/value", DataCodec.TEXT);
        SharedValue<String> rival = SharedValue.at(coordinator, "/value", DataCodec.TEXT);
        outrun = present -> {
            try {
                rival.set("rival " + attempts.incrementAndGet());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return "ours";
        };
    }

    @AfterEach
    void close() {
        coordinator.close();
        MemoryStore.forget(store);
    }

    @Test
    void noAttemptFollowsACancellation() throws Exception {
        CompletableFuture<Versioned<String>> call = value.updateAsync(outrun);
        clock.advanceUntil(LONGER_THAN_A_PAUSE, () -> attempts.get() >= 5);
        call.cancel(true);
        assertNoMoreAttempts();
        assertThrows(CancellationException.class, call::join);
    }

    @Test
    void noAttemptFollowsAnInterrupt() throws Exception {
        CompletableFuture<Void> interrupted = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                value.update(outrun);
            } catch (InterruptedException e) {
                interrupted.complete(null);
            }
        });
        caller.start();
        clock.advanceUntil(LONGER_THAN_A_PAUSE, () -> attempts.get() >= 5);
        caller.interrupt();
        interrupted.get(1, TimeUnit.MINUTES);
        assertNoMoreAttempts();
    }

    /** But for the one that was under way. */
    private void assertNoMoreAttempts() throws InterruptedException {
        int most = attempts.get() + 1;
        for (int i = 0; i < MANY; i++) {
            clock.advance(LONGER_THAN_A_PAUSE);
            coordinator.execute(Sync.of(NodePath.ROOT));
            assertTrue(attempts.get() <= most, () -> attempts.get() + " attempts, " + most + " at most");
        }
    }
}
