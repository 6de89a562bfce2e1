package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A member's proposals are on a slow way to the leader while leadership goes to another member and comes back. So the
 * leader gets what was sent to it in an earlier term, and again what is sent in this one. Whatever of it is in the log
 * twice, each proposal takes effect once, in the order of its member: the ensemble's history looks at that.
 */
class StaleForwardsTest {
    private static final int LARGE_BYTES = 3_000;
    private static final int SMALL_BYTES = 20;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatWasForwardedBeforeTwoElectionsTakesEffectOnceAndInOrder(long seed) {
        EnsembleSimulation simulation = new EnsembleSimulation(seed, true);
        simulation.snapshotEveryEntries = 1_000_000;
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        int leader = simulation.leader();
        int forwarder = leader % 3 + 1;
        int other = forwarder % 3 + 1;
        simulation.await(
                "nothing open",
                20,
                () -> simulation.log(leader).status().appliedIndex()
                        == simulation.log(leader).status().lastIndex());
        long entries = simulation.log(leader).status().lastIndex();
        long terms = simulation.log(leader).status().term();
        int applied = simulation.history.appliedCount();

        simulation.network.delayUs(forwarder, leader, 1_200_000);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 12; i++) {
                assertTrue(simulation.propose(forwarder, LARGE_BYTES));
                assertTrue(simulation.propose(forwarder, SMALL_BYTES));
                assertTrue(simulation.propose(leader, i % 3 == 0 ? LARGE_BYTES : SMALL_BYTES));
            }
            simulation.runFor(20_000);
            handOver(simulation, leader, other);
            simulation.propose(forwarder, LARGE_BYTES);
            handOver(simulation, other, leader);
            simulation.runFor(600_000); // for some of what was sent in an earlier term
        }
        simulation.network.delayUs(forwarder, leader, 0);
        simulation.settle();

        int last = simulation.leader();
        entries = simulation.log(last).status().lastIndex() - entries;
        terms = simulation.log(last).status().term() - terms; // at most one entry each
        applied = simulation.history.appliedCount() - applied;
        long copies = entries - terms - applied;
        assertTrue(copies > 0, entries + " entries, of " + applied + " proposals and " + terms + " terms at most");
    }

    private static void handOver(EnsembleSimulation simulation, int from, int to) {
        simulation.await("leadership of member " + to, 60, () -> {
            if (simulation.leader() == from && simulation.log(from).status().leader() == from) {
                simulation.log(from).transferLeadership(to);
            }
            return simulation.leader() == to;
        });
    }
}
