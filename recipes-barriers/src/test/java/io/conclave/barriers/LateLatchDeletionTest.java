package io.conclave.barriers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A deletion of a latch whose requests are late, or that finds parts of it deleted. */
class LateLatchDeletionTest extends BarrierFixture {
    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @Test
    void deletionThatIsLateChangesNothingOfALaterLatchForAnotherCount() throws Exception {
        Coordinator late = connect();
        Coordinator other = connect();
        Latch three = Latch.at(other, PATH, 3);
        three.countDown("a");
        Faults faults = memoryStore().faults();
        long session = RecipeAccess.session(late).id();
        faults.reconnectAfter(Duration.ofDays(1));
        faults.onNext(session, request -> !request.isRead(), RequestFate.DROP_AND_APPLY_LATE);
        CompletableFuture<Void> deletion = Latch.at(late, PATH, 3).deleteAsync();
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(late).state() == SessionState.SUSPENDED);
        three.delete();
        Latch five = Latch.at(other, PATH, 5);
        five.countDown("b");
        faults.restore(session);
        get(deletion);
        assertEquals(
                "5", new String(other.execute(GetData.of(NodePath.of(PATH))).data(), UTF_8));
        assertEquals(4, five.remaining());
    }

    @ParameterizedTest
    @ValueSource(strings = {"3", "three", "", "a/b"})
    void countDownWithoutItsPartsIsDeleted(String data) throws Exception {
        Coordinator coordinator = connect();
        NodePath latch = NodePath.of("/latch");
        coordinator.execute(Create.of(latch).withData(data.getBytes(UTF_8)));
        coordinator.execute(Create.of(latch.child("by")));
        coordinator.execute(Create.of(latch.child("by").child("a")));
        get(Latch.at(coordinator, latch, 3).deleteAsync());
        assertEquals(Optional.empty(), coordinator.execute(Exists.of(latch)));
    }
}
