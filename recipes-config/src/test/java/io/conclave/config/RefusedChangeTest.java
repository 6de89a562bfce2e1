package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.request.GetData;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A view whose read of a znode that has changed is refused at first, by the bound of its session's queue, say. */
class RefusedChangeTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration STEP = Duration.ofMillis(100);
    private static final ConfigKey<String> ONE = ConfigKey.ofText("one");
    private static final ConfigKey<String> TWO = ConfigKey.ofText("two");

    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource process = new ManualTimeSource();
    private final AtomicBoolean refuses = new AtomicBoolean();
    private final CompletableFuture<Void> refused = new CompletableFuture<>();

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    private Coordinator connect(ManualTimeSource time) {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofHours(1))
                .timeSource(time)
                .connect();
    }

    private BackendSession refusing(BackendSession session) {
        return (BackendSession) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {BackendSession.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("submit")
                            && arguments[0] instanceof GetData read
                            && read.path().name().equals("two")
                            && refuses.getAndSet(false)) {
                        CompletableFuture<Object> answer = new CompletableFuture<>();
                        session.dispatcher().execute(() -> {
                            answer.completeExceptionally(
                                    new RefusedException(RefusalReason.LIMIT_EXCEEDED, "too many requests"));
                            session.dispatcher().execute(() -> refused.complete(null));
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
    void viewShowsNoHalfOfAPublicationIfAReadIsRefusedAtFirst() throws Exception {
        MemoryStore.named(store).faults().plant(process, this::refusing);
        try (Coordinator reading = connect(process);
                Coordinator writing = connect(new ManualTimeSource())) {
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
