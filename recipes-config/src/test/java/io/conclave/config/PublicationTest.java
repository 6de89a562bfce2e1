package io.conclave.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.testkit.memory.MemoryStore;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a publication asks of the server. */
class PublicationTest {
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
}
