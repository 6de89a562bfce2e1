package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.disk.SimulatedDisk;
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
        long tookMs = proposed(simulation, leader, MANY, LARGE_BYTES);
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

    /** It answers every heartbeat, but its log does not grow: the leader must not wait for it at each large entry. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aFollowerWithAFullDiskDoesNotSlowLargeEntriesDown(long seed) {
        EnsembleSimulation simulation = ofThree(seed);
        int leader = simulation.leader();
        int full = leader % 3 + 1;
        SimulatedDisk disk = simulation.members.get(full).disk();
        disk.capacity(disk.used());
        simulation.await("full", 60, () -> {
            simulation.propose(leader, 900);
            return simulation.log(full).status().disk() == DiskState.FULL;
        });
        simulation.runFor(2_000_000);
        int theLeader = simulation.leader();
        simulation.await("nothing open", 10, simulation.application(theLeader).open::isEmpty);
        long tookMs = proposed(simulation, theLeader, 32, 1_100);
        assertTrue(tookMs < 1_500, () -> "32 entries of 1,100 bytes took " + tookMs + " ms");
        simulation.settle();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void largeEntriesThatFitTogetherInOneWriteDoNotTakeARoundEach(long seed) {
        EnsembleSimulation simulation = ofThree(seed);
        int leader = simulation.leader();
        simulation.network.delayUs(5_000);
        long tookMs = proposed(simulation, leader, 100, 1_024);
        assertTrue(tookMs < 100 * 10 / 3, () -> "100 entries took " + tookMs + " ms, and a round takes 10");
    }

    /** Many of the least size that is large, by two members. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aSmallEntryBehindAFewLargeOnesOfItsMemberDoesNotWaitForSeconds(long seed) {
        EnsembleSimulation simulation = ofThree(seed);
        int leader = simulation.leader();
        int loader = leader % 3 + 1;
        int other = loader % 3 + 1;
        long sinceMs = simulation.time.nowMs();
        for (int i = 0; i < 16; i++) {
            assertTrue(simulation.propose(loader, 1_024));
            assertTrue(simulation.propose(other, 1_024));
        }
        assertTrue(simulation.propose(loader, 20));
        assertTrue(simulation.propose(other, 20));
        while (!simulation.application(loader).open.isEmpty()
                || !simulation.application(other).open.isEmpty()) {
            simulation.propose(leader, 20);
            simulation.runFor(500);
            assertTrue(simulation.time.nowMs() - sinceMs < 10_000, "never");
        }
        long tookMs = simulation.time.nowMs() - sinceMs;
        assertTrue(tookMs < 200, () -> "the small ones waited for " + tookMs + " ms");
        simulation.settle();
    }

    /** Proposes entries of one size; returns after how many milliseconds all are applied. */
    private static long proposed(EnsembleSimulation simulation, int member, int count, int bytes) {
        long sinceMs = simulation.time.nowMs();
        for (int i = 0; i < count; i++) {
            assertTrue(simulation.propose(member, bytes));
        }
        simulation.await("large ones", 10, simulation.application(member).open::isEmpty);
        return simulation.time.nowMs() - sinceMs;
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
