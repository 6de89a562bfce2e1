package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.ForwardingSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A view whose read of a znode that has changed is refused at first, by the bound of its session's queue, say. */
class RefusedChangeTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration STEP = Duration.ofMillis(100);
    private static final ConfigKey<String> ONE = ConfigKey.ofText("one");
    private static final ConfigKey<String> TWO = ConfigKey.ofText("two");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final ManualTimeSource process = new ManualTimeSource();
    private final AtomicBoolean refuses = new AtomicBoolean();
    private final CompletableFuture<Void> refused = new CompletableFuture<>();

    private BackendSession refusing(BackendSession session) {
        return new ForwardingSession(session) {
            @Override
            public <R> CompletionStage<R> submit(Request<R> request) {
                boolean isOfTwo =
                        request instanceof GetData read && read.path().name().equals("two") && refuses.getAndSet(false);
                if (!isOfTwo) {
                    return super.submit(request);
                }
                CompletableFuture<R> answer = new CompletableFuture<>();
                dispatcher().execute(() -> {
                    answer.completeExceptionally(
                            new RefusedException(RefusalReason.LIMIT_EXCEEDED, "too many requests"));
                    dispatcher().execute(() -> refused.complete(null)); // behind all that follows from it
                });
                return answer;
            }
        };
    }

    @Test
    void viewShowsNoHalfOfAPublicationIfAReadIsRefusedAtFirst() throws Exception {
        store.faults().plant(process, this::refusing);
        try (Coordinator reading = store.connect(process);
                Coordinator writing = store.connect(new ManualTimeSource())) {
            Configuration configuration = Configuration.at(writing, "/config");
            configuration.publish(ConfigBatch.setting(ONE, "a").set(TWO, "a"));
            ConfigView view = Configuration.at(reading, "/config").view();
            List<String> told = Collections.synchronizedList(new ArrayList<>());
            view.onChange(update -> told.add(update.snapshot().get(ONE).orElse("-")
                    + update.snapshot().get(TWO).orElse("-")));
            await().atMost(PATIENCE).until(() -> told.equals(List.of("aa")));
            refuses.set(true);
            configuration.publish(ConfigBatch.setting(ONE, "b").set(TWO, "b"));
            await().atMost(PATIENCE).until(refused::isDone);
            process.advanceUntil(STEP, () -> view.snapshot().get(TWO).equals(Optional.of("b")));
            await().atMost(PATIENCE).until(() -> told.contains("bb"));
            assertEquals(List.of("aa", "bb"), told);
            assertFalse(refuses.get());
        }
    }
}
