package io.conclave.barriers;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.request.GetChildren;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A participant that leaves while others go whom its list still shows, as any follower's list may. */
class StaleLeavingTest extends BarrierFixture {
    private static final String REST = "0000000-0000-4000-8000-000000000000"; // of a UUID

    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    /** A participant whose name begins with a digit of its rank. */
    private static CompletableFuture<Participation> enter(Coordinator coordinator, String rank) {
        return new DoubleBarrier(coordinator, new DoubleBarrierLayout(NodePath.of(PATH), 2), () -> rank + REST)
                .enterAsync();
    }

    @Test
    void lastOneThatSawALowerOneLeavesNothingBehind() throws Exception {
        Coordinator lower = connect();
        Coordinator higher = connect();
        CompletableFuture<Participation> entering = enter(lower, "a");
        Participation last = get(enter(higher, "b"));
        Participation first = get(entering); // it sends nothing more by itself
        Faults faults = MemoryStore.named(store).faults();
        CountDownLatch listed = new CountDownLatch(1);
        faults.intercept((session, request, index) -> {
            if (request instanceof GetChildren && listed.getCount() == 1) {
                listed.countDown();
                return RequestFate.HOLD_REPLY;
            }
            return RequestFate.PROCEED;
        });
        CompletableFuture<Void> leaves = last.leaveAsync();
        assertTrue(listed.await(120, SECONDS));
        first.close(); // gives up, while the other one's list is on its way
        awaitChildren(lower, 2);
        assertFalse(leaves.isDone());
        faults.releaseReplies(RecipeAccess.session(higher).id());
        get(leaves);
        assertEquals(List.of(), children(lower, PATH));
    }
}
