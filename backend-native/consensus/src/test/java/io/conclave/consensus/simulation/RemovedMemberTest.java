package io.conclave.consensus.simulation;

import static io.conclave.consensus.simulation.EnsembleSimulation.SECOND_US;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.MembershipChange;
import org.junit.jupiter.api.Test;

/** A running member that is removed hears of its removal, from each leader. */
class RemovedMemberTest {
    /** Else its clients would wait, and an operator that asked it for its own removal. */
    @Test
    void aFollowerThatIsRemovedHearsOfIt() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int follower = simulation.leader() % 3 + 1;
        assertTrue(simulation.application(follower).serving);
        simulation.done(simulation.change(new MembershipChange.Remove(follower)));
        simulation.await("that it knows", 1, () -> knowsThatItWasRemoved(simulation, follower));
        simulation.await("no service there", 1, () -> !simulation.application(follower).serving);
    }

    @Test
    void anObserverThatIsRemovedHearsOfIt() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        simulation.add(4);
        simulation.done(simulation.change(new MembershipChange.Put(EnsembleSimulation.member(4, true))));
        simulation.start(4);
        simulation.await("service", 20, () -> simulation.application(4).serving);
        simulation.done(simulation.change(new MembershipChange.Remove(4)));
        simulation.await("that it knows", 1, () -> knowsThatItWasRemoved(simulation, 4));
    }

    /** The next leader has the configuration in its log, and does not know yet that it is committed. */
    @Test
    void aFollowerThatIsRemovedHearsOfItFromTheNextLeader() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        int other = 6 - leader - follower;
        simulation.network.cut(leader, follower);
        long before = simulation.log(other).status().lastIndex();
        simulation.change(new MembershipChange.Remove(follower, true));
        while (simulation.log(other).status().lastIndex() < before + 2) {
            assertTrue(simulation.time.step(10 * SECOND_US));
        }
        assertFalse(knowsOfRemoval(simulation, other, follower));
        simulation.members.get(leader).kill();
        simulation.network.heal();
        simulation.start(leader);
        simulation.await("that it knows", 20, () -> knowsThatItWasRemoved(simulation, follower));
    }

    /** Its links are made, and nobody takes in a number that was removed. */
    @Test
    void aRemovedMemberThatComesBackEmptySaysWhyItDoesNotServe() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int follower = simulation.leader() % 3 + 1;
        simulation.done(simulation.change(new MembershipChange.Remove(follower)));
        simulation.members.get(follower).kill();
        simulation.members.get(follower).wipe();
        simulation.start(follower, false);
        simulation.runFor(10 * SECOND_US);
        String reason = simulation.log(follower).status().noLeaderReason();
        assertTrue(reason.contains("have not taken it in"), reason);
    }

    /** Its log names the member, and another server may have its address by now. */
    @Test
    void aMemberThatStartsLooksForNoneThatWasRemovedLongAgo() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        int removed = leader % 3 + 1;
        simulation.done(simulation.change(new MembershipChange.Remove(removed)));
        simulation.members.get(removed).kill();
        simulation.runFor(5 * SECOND_US);
        simulation.listed.remove(removed);
        SimulatedMember restarted = simulation.members.get(leader);
        restarted.kill();
        simulation.start(leader, false);
        assertFalse(restarted.wants(removed));
        assertTrue(restarted.wants(6 - leader - removed));
    }

    private static boolean knowsThatItWasRemoved(EnsembleSimulation simulation, int member) {
        return knowsOfRemoval(simulation, member, member);
    }

    private static boolean knowsOfRemoval(EnsembleSimulation simulation, int member, int removed) {
        return !simulation.log(member).status().configuration().members().containsKey(removed);
    }
}
