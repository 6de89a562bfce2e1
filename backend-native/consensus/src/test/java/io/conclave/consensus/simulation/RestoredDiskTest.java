package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Disks that go back in time: their members lead nobody, and come back without their logs. */
class RestoredDiskTest {
    private static final long SECOND = EnsembleSimulation.SECOND_US;

    private static EnsembleSimulation founded(long seed) {
        EnsembleSimulation simulation = new EnsembleSimulation(seed, true);
        simulation.snapshotPadding = () -> 0;
        simulation.add(1, 2, 3);
        return simulation;
    }

    static void write(EnsembleSimulation simulation, int seconds) {
        long until = simulation.time.nowUs() + seconds * SECOND;
        while (simulation.time.nowUs() < until) {
            int leader = simulation.leader();
            if (leader != 0) {
                simulation.propose(leader, 100);
            }
            simulation.runFor(10_000);
        }
    }

    /** The image is from the time when member 1 was the only voter; the links come in any order. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void aFounderWithTheDiskOfItsBirthNeverLeadsAndIsTakenInAgain(long seed) {
        EnsembleSimulation simulation = founded(seed);
        simulation.start(1);
        simulation.runFor(3 * SECOND);
        for (int i = 0; i < 20; i++) {
            simulation.propose(1, 50);
            simulation.runFor(SECOND / 10);
        }
        Map<String, byte[]> image = simulation.members.get(1).image();
        simulation.start(2);
        simulation.start(3);
        simulation.awaitVoters(1, 2, 3);
        write(simulation, 1);
        simulation.members.get(1).wipe();
        simulation.await("another leader", 10, () -> simulation.leader() > 1);
        write(simulation, 1);

        simulation.members.get(1).restore(image);
        simulation.start(1, false);
        SimulatedMember restored = simulation.members.get(1);
        simulation.await("it is found out", 5, () -> {
            assertFalse(simulation.leader() == 1, "it leads");
            return !restored.isAlive();
        });
        assertEquals(1, restored.foundOut());
        simulation.await("the others serve", 5, () -> simulation.leader() > 1);

        simulation.start(1, false);
        simulation.settle();
        assertTrue(restored.disk().list().stream().anyMatch(name -> name.startsWith("set-aside-1-segment")));
    }
}
