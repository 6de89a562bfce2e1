package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ensemble.OfflineLog;
import org.junit.jupiter.api.Test;

/**
 * One member is down, and another one loses power in the middle of a write: two of three live, and one vote is
 * provisional.
 */
class TornTailTest {
    private static final long SECOND = EnsembleSimulation.SECOND_US;

    private EnsembleSimulation simulation = new EnsembleSimulation(1, true);

    private TornTail lose(long seed) {
        simulation = new EnsembleSimulation(seed, true);
        simulation.snapshotPadding = () -> 0;
        simulation.snapshotEveryEntries = 100_000;
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        TornTail tail = new TornTail(simulation);
        assertTrue(tail.lose(simulation.random));
        return tail;
    }

    @Test
    void theLeaderThatDidNotRestartLeadsAgainWithinFiveSeconds() {
        int torn = 0;
        for (int seed = 1; seed <= 10; seed++) {
            TornTail tail = lose(seed);
            torn += tail.startLoser() ? 1 : 0;
            simulation.await(
                    "seed " + seed + ": a leader that serves",
                    5,
                    () -> simulation.leader() != 0 && simulation.application(simulation.leader()).serving);
            tail.down.forEach(id -> simulation.start(id, false));
            simulation.settle();
        }
        assertTrue(torn >= 2, torn + " of 10 tails were torn");
    }

    @Test
    void whereTheLeaderRestartedTooTheStatusSaysWhyAndAnOperatorMayTrustTheLog() {
        long seed = 0;
        TornTail tail;
        do {
            tail = lose(++seed);
            simulation.members.get(tail.leader).kill();
            simulation.start(tail.leader, false);
        } while (!tail.startLoser() && seed < 20);
        simulation.runFor(60 * SECOND);
        assertEquals(0, simulation.log(tail.leader).status().leader());
        String reason = simulation.log(tail.leader).status().noLeaderReason();
        assertTrue(
                reason.contains("[" + tail.loser + "] only provisionally")
                        && reason.contains(tail.down + " do not answer"),
                reason);
        SimulatedMember member = simulation.members.get(tail.loser);
        member.kill();
        OfflineLog.trust(member.disk());
        simulation.start(tail.loser, false);
        simulation.await("a leader", 5, () -> simulation.leader() != 0);
        assertEquals("", simulation.log(tail.leader).status().noLeaderReason());
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
