package io.conclave.barriers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.ForwardingSession;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A wait for a latch that has ended while the store could not make one. */
class EndedWaitTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final NodePath PATH = NodePath.of("/latch");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final ManualTimeSource clock = new ManualTimeSource();
    private final AtomicBoolean isFull = new AtomicBoolean(true);
    private final AtomicBoolean hasRefused = new AtomicBoolean();

    /** As a server whose disk is full. */
    private BackendSession refusing(BackendSession session) {
        return new ForwardingSession(session) {
            @Override
            public <R> CompletionStage<R> submit(Request<R> request) {
                if (!(request instanceof Multi) || !isFull.get()) {
                    return super.submit(request);
                }
                CompletionStage<R> refused =
                        failed(new RefusedException(RefusalReason.NOT_WRITABLE, "the disk is full"));
                dispatcher().execute(() -> hasRefused.set(true)); // once that was told
                return refused;
            }
        };
    }

    @Test
    void makesNoneLater() throws Exception {
        store.faults().plant(clock, this::refusing);
        try (Coordinator coordinator = store.connect(clock)) {
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
