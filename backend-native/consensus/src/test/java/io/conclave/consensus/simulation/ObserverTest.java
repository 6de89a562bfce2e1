package io.conclave.consensus.simulation;

import static io.conclave.consensus.simulation.EnsembleSimulation.SECOND_US;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.MembershipChange;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Observers have no vote, whatever they were before. */
class ObserverTest {
    @Test
    void aLeaderThatIsMadeAnObserverGivesItsVoteAndItsLeadershipAway() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        CompletableFuture<Void> change =
                simulation.change(new MembershipChange.Put(EnsembleSimulation.member(leader, true)));
        simulation.done(change);
        simulation.await("another leader", 10, () -> simulation.leader() != 0 && simulation.leader() != leader);
        assertFalse(simulation.configuration().isVoter(leader));
        assertTrue(simulation.configuration().members().get(leader).observer());
        simulation.await("service there", 20, () -> simulation.application(leader).serving);
        EnsembleTest.work(simulation, leader, 20);
        simulation.runFor(5 * SECOND_US);
        assertEquals(2, simulation.configuration().voters().size());
        assertTrue(simulation.application(leader).open.isEmpty());
        simulation.done(simulation.change(new MembershipChange.Put(EnsembleSimulation.member(leader, false))));
        simulation.awaitVoters(1, 2, 3);
        simulation.settle();
    }

    @Test
    void anObserverFollowsWithoutAVoteUntilItIsMadeAVoter() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        simulation.add(4);
        simulation.done(simulation.change(new MembershipChange.Put(EnsembleSimulation.member(4, true))));
        simulation.start(4);
        simulation.await("service", 20, () -> simulation.application(4).serving);
        EnsembleTest.work(simulation, 4, 20);
        simulation.runFor(5 * SECOND_US);
        assertFalse(simulation.configuration().voters().contains(4));
        assertTrue(simulation.application(4).open.isEmpty());
        simulation.done(simulation.change(new MembershipChange.Put(EnsembleSimulation.member(4, false))));
        simulation.awaitVoters(1, 2, 3, 4);
        simulation.settle();
    }

    /** As after a restore, or a new cluster that is forced, at the site for disasters. */
    @Test
    void anObserverOnWhichTheClusterBeginsVotesUntilOthersCan() {
        EnsembleSimulation simulation = new EnsembleSimulation(1, true);
        simulation.add(1, 2, 3);
        simulation.listed.put(1, EnsembleSimulation.member(1, true));
        simulation.startAll();
        simulation.await("a leader", 10, () -> simulation.leader() == 1);
        simulation.awaitVoters(2, 3);
        simulation.await("another leader", 10, () -> simulation.leader() > 1);
        simulation.await("service there", 20, () -> simulation.application(1).serving);
        EnsembleTest.work(simulation, 1, 20);
        simulation.runFor(5 * SECOND_US);
        assertTrue(simulation.application(1).open.isEmpty());
        assertEquals(Set.of(2, 3), simulation.configuration().voters());
    }
}
