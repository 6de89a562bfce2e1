package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.NoLiveMajorityException;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One of three voters is dead, and the operator's change hits a living one. */
class OperatorMistakesTest {
    private static final long SECOND = EnsembleSimulation.SECOND_US;

    private final EnsembleSimulation simulation = new EnsembleSimulation(3, true);
    private int leader;
    private int dead;
    private int living;

    @BeforeEach
    void oneIsDead() {
        simulation.snapshotPadding = () -> 0;
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        leader = simulation.leader();
        dead = leader % 3 + 1;
        living = dead % 3 + 1;
        simulation.members.get(dead).kill();
        simulation.runFor(2 * SECOND);
        assertEquals(leader, simulation.leader());
    }

    private void assertRefused(MembershipChange change) {
        assertRefused(change, leader);
    }

    private void assertRefused(MembershipChange change, int answering) {
        CompletableFuture<Void> done = simulation.change(change);
        simulation.runFor(SECOND);
        CompletionException e = assertThrows(CompletionException.class, done::join);
        assertInstanceOf(NoLiveMajorityException.class, e.getCause());
        assertTrue(String.valueOf(e.getMessage()).contains("only [" + answering + "] answer"), e.getMessage());
        assertEquals(leader, simulation.leader(), "nothing has changed");
        long before = simulation.history.acknowledgedCount();
        simulation.propose(living, 100);
        simulation.runFor(SECOND);
        assertEquals(before + 1, simulation.history.acknowledgedCount());
    }

    @Test
    void removingTheLiveMemberIsRefused() {
        assertRefused(new MembershipChange.Remove(living));
    }

    @Test
    void makingTheLiveMemberAnObserverIsRefused() {
        EnsembleMember member = simulation.configuration().members().get(living);
        assertRefused(new MembershipChange.Put(new EnsembleMember(
                living, 0, member.host(), member.peerPort(), member.clientHost(), member.clientPort(), true)));
    }

    private EnsembleMember elsewhere(int id) {
        EnsembleMember member = simulation.configuration().members().get(id);
        return new EnsembleMember(
                id, 0, "elsewhere", member.peerPort(), member.clientHost(), member.clientPort(), false);
    }

    @Test
    void givingTheLiveMemberAnotherAddressIsRefused() {
        assertRefused(new MembershipChange.Put(elsewhere(living)));
    }

    @Test
    void givingTheLeaderAnotherAddressIsRefused() {
        assertRefused(new MembershipChange.Put(elsewhere(leader)), living);
    }

    @Test
    void anotherAddressOfTheLiveMemberIsMadeIfItIsForced() {
        CompletableFuture<Void> done = simulation.change(new MembershipChange.Put(elsewhere(living), true));
        simulation.runFor(SECOND);
        done.join();
        assertEquals(
                "elsewhere", simulation.configuration().members().get(living).host());
    }

    @Test
    void givingTheDeadMemberAnotherAddressSucceeds() {
        CompletableFuture<Void> done = simulation.change(new MembershipChange.Put(elsewhere(dead)));
        simulation.runFor(SECOND);
        done.join();
        assertEquals("elsewhere", simulation.configuration().members().get(dead).host());
    }

    @Test
    void givingTheLiveMemberAnotherClientPortSucceeds() {
        EnsembleMember member = simulation.configuration().members().get(living);
        CompletableFuture<Void> done = simulation.change(new MembershipChange.Put(
                new EnsembleMember(living, 0, member.host(), member.peerPort(), "clients", 2181, false)));
        simulation.runFor(SECOND);
        done.join();
    }

    @Test
    void removingTheDeadMemberSucceeds() {
        CompletableFuture<Void> done = simulation.change(new MembershipChange.Remove(dead));
        simulation.runFor(SECOND);
        done.join();
        assertEquals(Set.of(leader, living), simulation.configuration().voters());
    }

    @Test
    void aForcedChangeWaitsForTheDeadMember() {
        simulation.change(new MembershipChange.Remove(living, true));
        simulation.runFor(10 * SECOND);
        assertEquals(0, simulation.leader(), "the change could not be committed");
        simulation.start(dead, false);
        simulation.awaitVoters(Math.min(leader, dead), Math.max(leader, dead));
    }
}
