package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a publication asks of the server. */
class PublicationTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String store = UUID.randomUUID().toString();

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    @Test
    void thousandsOfNewKeysCostOneReadEachAndOneTransaction() throws InterruptedException {
        try (Coordinator coordinator = Coordinator.connect("memory:" + store)) {
            Configuration configuration = Configuration.at(coordinator, "/config");
            assertTrue(configuration.publish(ConfigBatch.EMPTY));
            int keys = 4000;
            ConfigBatch batch = ConfigBatch.EMPTY;
            for (int i = 0; i < keys; i += 2) {
                batch = batch.set(ConfigKey.ofLong("key" + i), 1L).set(ConfigKey.ofLong("folder/key" + i), 1L);
            }
            long before = MemoryStore.named(store).faults().requestCount();
            assertTrue(configuration.publish(batch));
            long requests = MemoryStore.named(store).faults().requestCount() - before;
            assertEquals(keys + 1 + 1 + 1, requests, "the root, the folder, and the transaction");
        }
    }

    @Test
    void publicationThatCreatesNothingLeavesNothingBehind() throws InterruptedException {
        try (Coordinator coordinator = Coordinator.connect("memory:" + store)) {
            Configuration configuration = Configuration.at(coordinator, "/config");
            assertTrue(configuration.publish(ConfigBatch.EMPTY.remove(ConfigKey.ofText("none/there"))));
            Versioned<String> gone = new Versioned<>("value", 7, 7);
            assertFalse(configuration.publish(ConfigBatch.setting(ConfigKey.ofText("new/key"), "value")
                    .expecting(ConfigKey.ofText("neither/there"), gone)));
            for (String path : new String[] {"/config/none", "/config/new", "/config/neither"}) {
                assertTrue(coordinator.execute(Exists.of(NodePath.of(path))).isEmpty(), path);
            }
        }
    }

    @Test
    void publicationInAConfigurationThatWasMadeAgainIsNotRepeated() throws Exception {
        ManualTimeSource clock = new ManualTimeSource();
        Duration away = Duration.ofSeconds(1);
        ConfigKey<String> key = ConfigKey.ofText("key");
        try (Coordinator coordinator = Coordinator.builder("memory:" + store)
                        .sessionTimeout(Duration.ofHours(1))
                        .timeSource(clock)
                        .connect();
                Coordinator others = Coordinator.connect("memory:" + store)) {
            Configuration configuration = Configuration.at(coordinator, "/config");
            configuration.publish(ConfigBatch.setting(key, "first"));
            Faults faults = MemoryStore.named(store).faults();
            faults.reconnectAfter(away);
            faults.onNext(Multi.class::isInstance, RequestFate.DROP_AFTER);
            CompletableFuture<Boolean> published = configuration.publishAsync(ConfigBatch.setting(key, "second"));
            await().atMost(PATIENCE).until(() -> coordinator.state() == SessionState.SUSPENDED);
            faults.deleteAsOperator(NodePath.of("/config"));
            Configuration made = Configuration.at(others, "/config");
            made.publish(ConfigBatch.setting(key, "other"));
            made.publish(ConfigBatch.setting(key, "other again")); // the version is as if it had been published once
            clock.advance(away);
            ExecutionException failure =
                    assertThrows(ExecutionException.class, () -> published.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            assertInstanceOf(OutcomeUnknownException.class, failure.getCause());
            assertEquals("other again", made.get(key).orElseThrow());
        }
    }
}
