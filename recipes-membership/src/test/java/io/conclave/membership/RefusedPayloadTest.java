package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencingToken;
import io.conclave.node.DataCodec;
import io.conclave.testkit.memory.MemoryStore;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An update that the backend does not take is nothing but an update that failed, whenever it comes. */
class RefusedPayloadTest {
    private final String name = UUID.randomUUID().toString();
    private final MemoryStore store = MemoryStore.named(name);

    @AfterEach
    void forget() {
        MemoryStore.forget(name);
    }

    @Test
    void memberThatLostItsSessionJoinsAgainWithThePayloadAcceptedLast() throws Exception {
        try (Coordinator coordinator = Coordinator.connect("memory:" + name)) {
            Group<String> group = Group.at(coordinator, "/group", DataCodec.TEXT);
            Membership<String> me = group.join("a", "one");
            FencingToken first = me.token().orElseThrow();
            store.faults().suspendAll();
            store.faults().expire(RecipeAccess.session(coordinator).id());
            CompletableFuture<Void> update = me.updateAsync("x".repeat(2_000_000));
            store.faults().restoreAll(); // tells of the loss, and the member joins again with its latest payload
            Exception failure = assertThrows(ExecutionException.class, () -> update.get(120, SECONDS));
            assertInstanceOf(RefusedException.class, failure.getCause());
            await().until(() ->
                    me.token().filter(token -> token.compareTo(first) > 0).isPresent());
            assertEquals("one", group.members().get(0).payload());
            me.update("two");
            assertEquals("two", group.members().get(0).payload());
        }
    }
}
