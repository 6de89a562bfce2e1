package io.conclave.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.testkit.memory.MemoryStore;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What is kept of callers that wait for an id. */
class IdBlocksTest {
    @Test
    void callersThatGiveUpDoNotPileUpBehindOneThatWaitsOn() {
        String store = UUID.randomUUID().toString();
        NodePath path = NodePath.of("/ids");
        try (Coordinator coordinator = Coordinator.connect("memory:" + store)) {
            UniqueIds ids = UniqueIds.persisted(coordinator, path).withBlockSize(1);
            CompletableFuture<Long> first = ids.nextAsync(); // without a persister it waits
            for (int i = 0; i < 10; i++) {
                ids.nextAsync().cancel(false);
            }
            CompletableFuture<Long> last = ids.nextAsync();
            assertEquals(2, IdBlocks.of(coordinator, path, true, 1).waitingCount());
            assertFalse(first.isDone());
            assertFalse(last.isDone());
        } finally {
            MemoryStore.forget(store);
        }
    }
}
