package io.conclave.membership;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The coordinator is closed before it was found out what became of a write: it must not count as one never sent. */
class ClosedInDoubtTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final NodePath PATH = NodePath.of("/group");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final Coordinator coordinator = store.connect(new ManualTimeSource());

    private static boolean isWrite(Request<?> request) {
        return !request.isRead();
    }

    private void fails(
            Class<? extends Throwable> with, Predicate<Request<?>> loses, Supplier<CompletableFuture<?>> call)
            throws Exception {
        faults.reconnectAfter(Duration.ofMinutes(1));
        faults.onNext(loses, RequestFate.DROP_AFTER);
        CompletableFuture<?> outcome = call.get();
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(coordinator).state() == SessionState.SUSPENDED);
        coordinator.close();
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertEquals(with, failure.getCause().getClass(), failure::toString);
    }

    private Group<String> group() throws InterruptedException {
        Group<String> group = Group.at(coordinator, PATH, DataCodec.TEXT);
        group.join("a", "payload");
        return group;
    }

    private KeptNode kept() throws Exception {
        KeptNode node = KeptNode.persistent(coordinator, PATH, new byte[] {1});
        node.created().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        return node;
    }

    @Test
    void deletionOfAGroupIsUnknown() throws Exception {
        Group<String> group = group();
        fails(
                OutcomeUnknownException.class,
                request -> isWrite(request) && !(request instanceof SetData),
                group::deleteAsync);
    }

    @Test
    void deletionOfAGroupThatHasNotBegunIsNot() throws Exception {
        Group<String> group = group();
        fails(ClosedException.class, GetData.class::isInstance, group::deleteAsync);
    }

    @Test
    void updateOfAPersistentZnodeIsUnknown() throws Exception {
        KeptNode node = kept();
        fails(OutcomeUnknownException.class, ClosedInDoubtTest::isWrite, () -> node.updateAsync(new byte[] {2}));
    }

    @Test
    void deletionOfAPersistentZnodeIsUnknown() throws Exception {
        KeptNode node = kept();
        fails(OutcomeUnknownException.class, ClosedInDoubtTest::isWrite, node::closeAsync);
    }

    @Test
    void creationOfAPersistentZnodeIsUnknown() throws Exception {
        fails(OutcomeUnknownException.class, ClosedInDoubtTest::isWrite, () -> KeptNode.persistent(
                        coordinator, PATH, new byte[] {1})
                .created());
    }

    @Test
    void updateThatIsAnsweredBehindTheEndIsNot() throws Exception {
        KeptNode node = kept();
        long session = RecipeAccess.session(coordinator).id();
        faults.onNext(SetData.class::isInstance, RequestFate.HOLD_REPLY);
        CompletableFuture<Void> outcome = node.updateAsync(new byte[] {2});
        try (Coordinator other = store.connect()) {
            await().atMost(PATIENCE).until(() -> other.execute(GetData.of(PATH)).data()[0] == 2);
        }
        CompletableFuture<Void> closed = node.closeAsync(); // waits for the answer
        Thread closing = new Thread(coordinator::close);
        closing.start();
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(coordinator).state() == SessionState.CLOSED);
        faults.releaseReplies(session);
        outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> closed.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertEquals(ClosedException.class, failure.getCause().getClass(), failure::toString);
        closing.join(PATIENCE.toMillis());
    }
}
