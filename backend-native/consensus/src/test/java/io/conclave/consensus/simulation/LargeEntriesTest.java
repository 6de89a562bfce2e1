package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What small entries wait for while others propose large ones. */
class LargeEntriesTest {
    private static final int LARGE_BYTES = 7_000;
    private static final int MANY = 32;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void aSmallEntryDoesNotWaitForAllLargeOnesThatOtherMembersHaveProposed(long seed) {
        EnsembleSimulation simulation = ofThree(seed);
        int leader = simulation.leader();
        int loader = leader % 3 + 1;
        int other = loader % 3 + 1;
        for (int small : new int[] {other, leader}) {
            for (int i = 0; i < MANY; i++) {
                assertTrue(simulation.propose(loader, LARGE_BYTES));
            }
            simulation.runFor(1_000);
            assertTrue(simulation.propose(small, 20));
            simulation.await("small", 10, simulation.application(small).open::isEmpty);

            int left = simulation.application(loader).open.size();
            assertTrue(left > MANY / 4, () -> "of " + MANY + " large ones, before it, only " + left + " are left");
            simulation.await("large ones", 60, simulation.application(loader).open::isEmpty);
        }
        simulation.settle();
    }

    /** It is fairness, and must not become a standstill. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void largeEntriesGoOnWhileAMemberStandsStill(long seed) {
        EnsembleSimulation simulation = ofThree(seed);
        int leader = simulation.leader();
        simulation.members.get(leader % 3 + 1).pause(8_000_000);
        long sinceMs = simulation.time.nowMs();
        for (int i = 0; i < MANY; i++) {
            assertTrue(simulation.propose(leader, LARGE_BYTES));
        }
        simulation.await("large ones", 10, simulation.application(leader).open::isEmpty);

        long tookMs = simulation.time.nowMs() - sinceMs;
        assertTrue(tookMs < 3_000, () -> "took " + tookMs + " ms");
        simulation.settle();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aLargeEntryGoesAmongSmallOnesThatComeWithoutAPause(long seed) {
        EnsembleSimulation simulation = ofThree(seed);
        int leader = simulation.leader();
        int loader = leader % 3 + 1;
        assertTrue(simulation.propose(loader, LARGE_BYTES));
        for (int i = 0; i < 200 && !simulation.application(loader).open.isEmpty(); i++) {
            assertTrue(simulation.propose(leader, 20));
            simulation.runFor(500);
        }
        assertTrue(simulation.application(loader).open.isEmpty());
        simulation.settle();
    }

    private static EnsembleSimulation ofThree(long seed) {
        EnsembleSimulation simulation = new EnsembleSimulation(seed, true);
        simulation.snapshotEveryEntries = 1_000_000;
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        return simulation;
    }
}
