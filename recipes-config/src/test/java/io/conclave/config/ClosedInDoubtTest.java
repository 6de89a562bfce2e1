package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The coordinator is closed before it was found out what became of a write: it must not count as one never sent. */
class ClosedInDoubtTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final ConfigKey<String> KEY = ConfigKey.ofText("key");

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final Coordinator coordinator = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofHours(1))
            .timeSource(new ManualTimeSource())
            .connect();

    @AfterEach
    void close() {
        coordinator.close();
        MemoryStore.forget(store);
    }

    private void isUnknown(Supplier<CompletableFuture<?>> write) {
        faults.reconnectAfter(Duration.ofMinutes(1));
        faults.onNext(request -> !request.isRead(), RequestFate.DROP_AFTER);
        CompletableFuture<?> outcome = write.get();
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(coordinator).state() == SessionState.SUSPENDED);
        coordinator.close();
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertEquals(OutcomeUnknownException.class, failure.getCause().getClass(), failure::toString);
    }

    @Test
    void additionIsUnknown() throws Exception {
        SharedCounter counter = SharedCounter.at(coordinator, "/counter");
        counter.add(1);
        isUnknown(() -> counter.addAsync(1));
    }

    @Test
    void creationIsUnknown() {
        isUnknown(() -> SharedCounter.at(coordinator, "/counter").addAsync(1));
    }

    @Test
    void valueThatIsSetIsUnknown() throws Exception {
        SharedValue<String> value = SharedValue.at(coordinator, "/value", DataCodec.TEXT);
        value.set("one");
        isUnknown(() -> value.setAsync("two"));
    }

    @Test
    void publicationIsUnknown() throws Exception {
        Configuration configuration = Configuration.at(coordinator, "/config");
        configuration.publish(ConfigBatch.setting(KEY, "one"));
        isUnknown(() -> configuration.publishAsync(ConfigBatch.setting(KEY, "two")));
    }
}
