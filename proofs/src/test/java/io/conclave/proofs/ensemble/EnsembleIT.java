package io.conclave.proofs.ensemble;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Member.Mode;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The harness itself: each of its faults has the effect that its users count on. */
class EnsembleIT {
    private static final NodePath PATH = NodePath.of("/a");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    private Path home;

    @Test
    void anEnsembleSurvivesEveryFaultOfOneMember() throws Exception {
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.chosen(), home)
                        .ticks(500, 10, 4)
                        .withSmallJvms()
                        .withBreakableLinks()
                        .start();
                Coordinator coordinator = Coordinator.builder(ensemble.connectString())
                        .sessionTimeout(Duration.ofSeconds(10))
                        .connect()) {
            coordinator.execute(Create.of(PATH));
            Member leader = ensemble.awaitAllServing();

            leader.kill();
            assertNotEquals(leader, ensemble.awaitLeader());
            assertWritable(coordinator, 1);
            leader = ensemble.heal();

            leader.pause();
            assertNotEquals(leader, ensemble.awaitLeader());
            assertWritable(coordinator, 2);
            leader = ensemble.heal();

            ensemble.isolate(leader);
            assertNotEquals(leader, awaitAnotherLeader(ensemble, leader));
            assertWritable(coordinator, 3);
            leader = ensemble.heal();

            for (Member follower : ensemble.others(leader)) {
                ensemble.cut(leader, follower); // it hears them, they do not hear it
            }
            assertNotEquals(leader, awaitAnotherLeader(ensemble, leader));
            assertWritable(coordinator, 4);
            leader = ensemble.heal();

            Member follower = ensemble.others(leader).get(0);
            assertTrue(ensemble.delay(leader, follower, Duration.ofMillis(20)));
            assertWritable(coordinator, 5);
            follower.terminate();
            assertEquals(Mode.NOT_SERVING, follower.mode());
            assertWritable(coordinator, 6);
            ensemble.heal();

            for (Member member : ensemble.members()) {
                try (Coordinator one = Coordinator.connect(ensemble.connectString(member))) {
                    one.execute(Sync.of(PATH));
                    assertArrayEquals(
                            new byte[] {6}, one.execute(GetData.of(PATH)).data(), member.toString());
                }
            }
        }
    }

    private static Member awaitAnotherLeader(Ensemble ensemble, Member old) {
        return Awaitility.await()
                .atMost(PATIENCE)
                .until(ensemble::leader, found -> found.isPresent() && found.get() != old)
                .orElseThrow();
    }

    private static void assertWritable(Coordinator coordinator, int value) {
        Awaitility.await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            coordinator.execute(SetData.of(PATH, new byte[] {(byte) value}));
            return true;
        });
    }
}
