package io.conclave.ensemble;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.testkit.Sample;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class ConclaveEnsembleTest {
    private static final NodePath PATH = NodePath.of("/a");

    /** Of servers that keep their clients however long a busy machine takes to elect a leader. */
    private static ConclaveEnsemble.Builder patient() {
        return ConclaveEnsemble.builder().syncLimitTicks(600);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aWriteThroughOneServerIsReadThroughAllOthersAfterASync() throws InterruptedException {
        try (ConclaveEnsemble ensemble = patient().start()) {
            try (Coordinator writer = Coordinator.connect(ensemble.connectString(1))) {
                writer.execute(Create.of(PATH).withData(bytes("one")));
            }
            for (int id : ensemble.ids()) {
                try (Coordinator reader = Coordinator.connect(ensemble.connectString(id))) {
                    reader.execute(Sync.of(PATH));
                    assertArrayEquals(
                            bytes("one"), reader.execute(GetData.of(PATH)).data());
                }
            }
        }
    }

    @Test
    void killedLeaderIsSucceededAndComesBackWithWhatItMissed() throws InterruptedException {
        try (ConclaveEnsemble ensemble = patient().start()) {
            int killed = ensemble.awaitLeader();
            int other = killed % 3 + 1; // whichever leads by now
            try (Coordinator client = Coordinator.connect(ensemble.connectString(other))) {
                client.execute(Create.of(PATH).withData(bytes("0")));
                ensemble.kill(killed);
                client.execute(SetData.of(PATH, bytes("1")));
            }
            assertNotEquals(killed, ensemble.awaitLeader());
            ensemble.restart(killed);
            ensemble.awaitServing(killed);
            try (Coordinator again = Coordinator.connect(ensemble.connectString(killed))) {
                again.execute(Sync.of(PATH));
                assertArrayEquals(bytes("1"), again.execute(GetData.of(PATH)).data());
            }
        }
    }

    @Test
    void sessionOutlivesEveryServerOfItsConnectString() throws InterruptedException {
        try (ConclaveEnsemble ensemble = patient().voters(5).start()) {
            int one = ensemble.follower();
            int other = ensemble.ids().stream()
                    .filter(id -> id != one && id != ensemble.awaitLeader())
                    .findFirst()
                    .orElseThrow();
            String two = ensemble.connectString(one) + ","
                    + ensemble.connectString(other).substring("conclave://".length());
            List<SessionState> states = new CopyOnWriteArrayList<>();
            try (Coordinator client = Coordinator.connect(two)) {
                client.onStateChange(states::add);
                client.execute(Create.of(PATH).withMode(CreateMode.EPHEMERAL));
                ensemble.kill(one);
                ensemble.kill(other);
                // Read first: a write that is sent before the client has noticed would be of unknown outcome.
                assertTrue(client.execute(Exists.of(PATH)).isPresent());
                client.execute(SetData.of(PATH, bytes("still there")));
                assertFalse(states.contains(SessionState.LOST), states::toString);
            }
        }
    }

    @Test
    void leaderThatIsCutOffIsDeposedAndFollowsAgainWhenHealed() throws InterruptedException {
        try (ConclaveEnsemble ensemble = patient().start()) {
            int first = ensemble.awaitLeader();
            ensemble.isolate(first);
            org.awaitility.Awaitility.await().until(() -> {
                int leader = ensemble.awaitLeader();
                return leader != first;
            });
            try (Coordinator client = Coordinator.connect(ensemble.connectString(ensemble.awaitLeader()))) {
                client.execute(Create.of(PATH));
            }
            ensemble.healAll();
            org.awaitility.Awaitility.await()
                    .until(() -> ensemble.server(first).isServing()
                            && ensemble.server(first).state().znode("/a").isPresent());
        }
    }

    @Test
    void repairUndoesKillsPausesAndCuts() {
        try (ConclaveEnsemble ensemble = patient().start()) {
            ensemble.isolate(1);
            ensemble.pause(2);
            ensemble.kill(3);
            ensemble.repair();
            ensemble.ids().forEach(id -> assertTrue(ensemble.server(id).isServing(), () -> ensemble.toString()));
            ensemble.repair(); // nothing to do
        }
    }

    @Test
    void observersServeAndDoNotVote() throws InterruptedException {
        try (ConclaveEnsemble ensemble = patient().voters(2).observers(1).start()) {
            assertEquals(new TreeSet<>(Set.of(1, 2, 3)), new TreeSet<>(ensemble.ids()));
            assertEquals(
                    Set.of(1, 2),
                    Set.copyOf(ensemble.server(3).logStatus().configuration().voters()));
            try (Coordinator client = Coordinator.connect(ensemble.connectString(3))) {
                client.execute(Create.of(PATH));
            }
            assertTrue(ensemble.server(3).state().znode("/a").isPresent());
        }
    }

    @Test
    @Tag("sampled")
    void linearizableReadsThroughAFollowerMissNoAcknowledgedWrite() throws InterruptedException {
        try (ConclaveEnsemble ensemble = patient().start();
                Coordinator writer = Coordinator.connect(ensemble.connectString(ensemble.awaitLeader()));
                Coordinator reader = Coordinator.builder(ensemble.connectString(ensemble.follower()))
                        .linearizableReads(true)
                        .connect()) {
            writer.execute(Create.of(PATH));
            for (int i = 0; i < Sample.of(200); i++) {
                writer.execute(SetData.of(PATH, bytes("" + i)));
                assertArrayEquals(
                        bytes("" + i), reader.execute(GetData.of(PATH)).data());
            }
        }
    }
}
