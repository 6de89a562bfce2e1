package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of the znode of a session that its client gave up, and which lives on at the store. */
class KeptNodeEdgesTest {
    private static final NodePath NODE = NodePath.of("/kept/edges");

    @RegisterExtension
    final TestStore store = new TestStore(new ManualTimeSource()); // nothing expires by itself

    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator other = store.connect();
    private final Coordinator own = store.opened(store.builder().timeSource(clock));

    /** The session that the coordinator had until now. */
    private long givenUp() throws InterruptedException {
        long former = RecipeAccess.session(own).id();
        store.faults().isolate(clock);
        clock.advanceUntil(Duration.ofMillis(100), () -> own.state() == SessionState.LOST);
        return former;
    }

    private boolean isThere() throws InterruptedException {
        return other.execute(Exists.of(NODE)).isPresent();
    }

    private void comesBack() {
        store.faults().rejoin(clock);
        clock.advanceUntil(Duration.ofMillis(100), () -> own.state() == SessionState.CONNECTED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closedOneIsGoneForCertainAlsoWithAFormerSession(boolean isClosedBefore) throws Exception {
        KeptNode node = KeptNode.ephemeral(own, NODE, new byte[0]);
        node.created().get(60, SECONDS);
        CompletableFuture<Void> closed = null;
        if (isClosedBefore) {
            store.faults().suspend(RecipeAccess.session(own).id());
            closed = node.closeAsync();
        }
        givenUp();
        if (!isClosedBefore) {
            closed = node.closeAsync();
        }
        CompletableFuture<Void> seen = new CompletableFuture<>();
        RecipeAccess.session(own).execute(() -> seen.complete(null)); // behind what follows the loss
        seen.get(60, SECONDS);
        assertTrue(isThere());
        assertFalse(closed.isDone());
        comesBack();
        closed.get(60, SECONDS);
        assertFalse(isThere());
    }

    @Test
    void closedOneDoesNotWaitForTheZnodeOfAnotherClient() throws Exception {
        KeptNode node = KeptNode.ephemeral(own, NODE, new byte[0]);
        node.created().get(60, SECONDS);
        long former = givenUp();
        store.faults().expire(former);
        KeptNode others = KeptNode.ephemeral(other, NODE, new byte[0]);
        others.created().get(60, SECONDS);
        comesBack();
        node.closeAsync().get(60, SECONDS);
        assertTrue(isThere());
        others.close();
        await().until(() -> !isThere());
    }
}
