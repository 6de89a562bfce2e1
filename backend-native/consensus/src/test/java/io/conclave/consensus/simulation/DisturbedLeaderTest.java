package io.conclave.consensus.simulation;

import static io.conclave.consensus.simulation.EnsembleSimulation.SECOND_US;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.core.PeerMessage.VoteReply;
import org.junit.jupiter.api.Test;

/** Leaders that go on leading after something has come between. */
class DisturbedLeaderTest {

    /** The only voter is elected again within the same turn; its application must hear of the new term. */
    @Test
    void theOnlyVoterThatMeetsAHigherTermTellsItsApplicationTheTermThatItLeadsThen() {
        EnsembleSimulation simulation = new EnsembleSimulation(1, true);
        simulation.add(1, 2);
        simulation.listed.put(2, EnsembleSimulation.member(2, true));
        simulation.startAll();
        simulation.await("service", 20, () -> simulation.application(2).serving);
        long term = simulation.log(1).status().term();

        simulation.network.send(2, 1, new AppendReply(term + 4, false, 0, 0, 0, 0));
        simulation.runFor(5 * SECOND_US);

        assertTrue(simulation.log(1).status().term() > term + 4);
        assertEquals(simulation.log(1).status().term(), simulation.application(1).leadingTerm);
        assertTrue(simulation.propose(2, 50));
        simulation.await("applied", 10, simulation.application(2).open::isEmpty);
    }

    /** Its old process is still running, for example, and a new one has taken its number. */
    @Test
    void theAnswersOfAnotherProcessWithAMembersNumberDoNotCount() {
        EnsembleSimulation simulation = new EnsembleSimulation(1, true);
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        int leader = simulation.leader();
        int other = leader % 3 + 1;
        long term = simulation.log(leader).status().term();

        simulation.network.send(other, 999, leader, new AppendReply(term + 4, false, 0, 0, 0, 0));
        simulation.network.send(other, 999, leader, new VoteReply(false, term + 4, false, false, 0));
        simulation.network.send(other, 999, leader, new SnapshotReply(term + 4, 1, 1, true));
        simulation.runFor(5 * SECOND_US);

        assertEquals(leader, simulation.leader());
        assertEquals(term, simulation.log(leader).status().term());
    }

    /** What it could not write as a follower waits before what it would write as a leader. */
    @Test
    void aLeaderThatCouldNotEvenWriteAsAFollowerTransfersLeadership() {
        EnsembleSimulation simulation = new EnsembleSimulation(1, true);
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        int leader = simulation.leader();
        int full = leader % 3 + 1;
        int other = full % 3 + 1;
        simulation
                .members
                .get(full)
                .disk()
                .capacity(simulation.members.get(full).disk().used());
        simulation.await("nothing more can be written", 60, () -> {
            for (int i = 0; i < 3; i++) {
                simulation.propose(leader, 7_000);
            }
            return simulation.log(full).status().disk() == DiskState.FULL;
        });
        simulation.runFor(3 * SECOND_US);
        long term = simulation.log(full).status().term();
        simulation.members.get(other).pause(150_000);
        simulation.members.get(leader).kill();
        simulation.await(
                "the full one leads, or has led",
                5,
                () -> simulation.log(full).status().leader() == full
                        || simulation.log(full).status().term() > term + 1);
        simulation.start(leader, false);
        simulation.await("a leader with room", 30, () -> {
            simulation.propose(other, 20);
            return simulation.leader() != 0 && simulation.leader() != full;
        });
    }

    @Test
    void afterARestartOfAllAFollowerThatIsALittleBehindNeedsNoSnapshot() {
        EnsembleSimulation simulation = new EnsembleSimulation(1, true);
        simulation.snapshotEveryEntries = 1_000_000;
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        simulation.network.cut(leader, follower);
        for (int i = 0; i < 10; i++) {
            assertTrue(simulation.propose(leader, 50));
            simulation.runFor(5_000);
        }
        simulation.members.values().forEach(SimulatedMember::kill);
        simulation.network.heal();
        simulation.members.keySet().forEach(id -> simulation.start(id, false));
        simulation.settle();
        for (SimulatedMember member : simulation.members.values()) {
            assertTrue(
                    member.disk().list().stream().noneMatch(name -> name.startsWith("snapshot")),
                    () -> member.id() + ": " + member.disk().list());
        }
    }
}
