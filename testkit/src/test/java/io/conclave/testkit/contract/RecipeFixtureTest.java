package io.conclave.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** By which clocks the store in memory and its clients go. */
class RecipeFixtureTest extends RecipeFixture {
    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @Test
    void storeTakenBeforeTheFirstClientGoesByTheClockOfTheClients() throws Exception {
        TimeSource before = memoryStore().time();
        assertTrue(before instanceof ManualTimeSource, before::toString);
        Coordinator client = connect();
        assertTrue(client.execute(Exists.of(NodePath.of("/a"))).isEmpty());
        assertEquals(1, MemoryStore.named(store).faults().liveSessions().size());
        assertSame(before, MemoryStore.named(store).time());
    }

    @Test
    void storeOnTheMachinesClocksIsRefused() {
        MemoryStore.named(store);
        IllegalStateException refused = assertThrows(IllegalStateException.class, this::connect);
        assertEquals(
                "The store memory:" + store
                        + " goes by the machine's clocks: take it from memoryStore() also where nothing has connected",
                refused.getMessage());
    }
}
