package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ensemble.EnsembleLog;
import org.junit.jupiter.api.Test;

/**
 * One member is down, and another one loses power in the middle of a write: two of three live, and one vote is
 * provisional.
 */
class TornTailTest {
    private static final long SECOND = EnsembleSimulation.SECOND_US;

    private EnsembleSimulation simulation = new EnsembleSimulation(1, true);
    private int leader;
    private int down;
    private int loser;

    /** Whether the end of the loser's log is torn. */
    private boolean lose(long seed) {
        simulation = new EnsembleSimulation(seed, true);
        simulation.snapshotPadding = () -> 0;
        simulation.snapshotEveryEntries = 100_000;
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        leader = simulation.leader();
        down = leader % 3 + 1;
        loser = down % 3 + 1;
        simulation.members.get(down).kill();
        simulation.runFor(SECOND);
        simulation.members.get(loser).disk().failAfter(1 + simulation.random.nextInt(2));
        for (int i = 0; i < 1_000 && simulation.members.get(loser).isAlive(); i++) {
            for (int k = 0; k < 30 && simulation.leader() != 0; k++) {
                simulation.propose(simulation.leader(), 200);
            }
            simulation.runFor(1_000);
        }
        simulation.runFor(3 * SECOND);
        return true;
    }

    private boolean startLoser() {
        simulation.start(loser, false);
        simulation.runFor(SECOND / 20);
        return VoteBytes.isTorn(simulation.members.get(loser).disk());
    }

    @Test
    void theLeaderThatDidNotRestartLeadsAgainWithinFiveSeconds() {
        int torn = 0;
        for (int seed = 1; seed <= 10; seed++) {
            lose(seed);
            torn += startLoser() ? 1 : 0;
            simulation.await(
                    "seed " + seed + ": a leader that serves",
                    5,
                    () -> simulation.leader() != 0 && simulation.application(simulation.leader()).serving);
            simulation.start(down, false);
            simulation.settle();
        }
        assertTrue(torn >= 2, torn + " of 10 tails were torn");
    }

    @Test
    void whereTheLeaderRestartedTooTheStatusSaysWhyAndAnOperatorMayTrustTheLog() {
        long seed = 0;
        do {
            lose(++seed);
            simulation.members.get(leader).kill();
            simulation.start(leader, false);
        } while (!startLoser() && seed < 20);
        simulation.runFor(60 * SECOND);
        assertEquals(0, simulation.log(leader).status().leader());
        String reason = simulation.log(leader).status().noLeaderReason();
        assertTrue(
                reason.contains("[" + loser + "] only provisionally")
                        && reason.contains("[" + down + "] do not answer"),
                reason);
        SimulatedMember member = simulation.members.get(loser);
        member.kill();
        EnsembleLog.trust(member.disk());
        simulation.start(loser, false);
        simulation.await("a leader", 5, () -> simulation.leader() != 0);
        assertEquals("", simulation.log(leader).status().noLeaderReason());
    }

    @Test
    void anIdleLogMarksItsEnd() {
        EnsembleSimulation idle = new EnsembleSimulation(1, true);
        idle.snapshotPadding = () -> 0;
        idle.add(1, 2, 3);
        idle.startAll();
        idle.awaitVoters(1, 2, 3);
        idle.runFor(2 * SECOND);
        int follower = idle.leader() % 3 + 1;
        long before = VoteBytes.durableOffset(idle.members.get(follower).disk());
        idle.propose(idle.leader(), 100);
        idle.runFor(SECOND / 2);
        assertEquals(before, VoteBytes.durableOffset(idle.members.get(follower).disk()));
        idle.runFor(SECOND);
        long after = VoteBytes.durableOffset(idle.members.get(follower).disk());
        assertFalse(before >= after, "the mark stands at " + after);
    }
}
