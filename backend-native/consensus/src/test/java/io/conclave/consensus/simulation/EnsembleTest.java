package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The ensemble's story, step by step, in virtual time. */
class EnsembleTest {

    private static EnsembleSimulation three(boolean durable) {
        EnsembleSimulation simulation = new EnsembleSimulation(1, durable);
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        return simulation;
    }

    @Test
    void aClusterBornOnOneMemberGrowsToThreeByItself() {
        EnsembleSimulation simulation = three(false);
        assertEquals(1, simulation.leader());
        simulation.settle();
    }

    @Test
    void proposalsOfFollowersAreForwardedAndComeBack() {
        EnsembleSimulation simulation = three(true);
        for (int i = 0; i < 100; i++) {
            for (int id = 1; id <= 3; id++) {
                assertTrue(simulation.propose(id, 100));
                simulation.read(id);
                simulation.confirm(id);
            }
        }
        simulation.runFor(EnsembleSimulation.SECOND_US);
        assertEquals(300, simulation.history.acknowledgedCount());
        assertEquals(600, simulation.reads);
        simulation.settle();
    }
}
