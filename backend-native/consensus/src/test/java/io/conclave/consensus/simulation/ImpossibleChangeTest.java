package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ImpossibleChangeException;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Changes of the members that are refused however often they are asked for. */
class ImpossibleChangeTest {
    private final EnsembleSimulation simulation = new EnsembleSimulation(5, true);

    private void startWith(int... ids) {
        simulation.add(ids);
        simulation.startAll();
        simulation.awaitVoters(ids);
    }

    private void assertRefused(MembershipChange change, String reason) {
        ClusterConfiguration before = simulation.configuration();
        CompletableFuture<Void> done = simulation.change(change);
        simulation.await("a refusal", 20, done::isDone);
        CompletionException e = assertThrows(CompletionException.class, done::join);
        assertInstanceOf(ImpossibleChangeException.class, e.getCause());
        assertTrue(String.valueOf(e.getMessage()).contains(reason), e.getMessage());
        assertEquals(before, simulation.configuration());
    }

    @Test
    void theOnlyVoterStaysOneAlsoByForce() {
        startWith(1, 2);
        CompletableFuture<Void> alone = simulation.change(new MembershipChange.Remove(2));
        simulation.await("its going", 20, alone::isDone);
        alone.join();
        assertRefused(new MembershipChange.Remove(1, true), "member 1 is the only voter");
        assertRefused(new MembershipChange.Put(EnsembleSimulation.member(1, true), true), "member 1 is the only voter");
    }

    @Test
    void anAddressBelongsToOneMember() {
        startWith(1, 2);
        assertRefused(
                new MembershipChange.Put(new EnsembleMember(3, 0, "HOST-2", 1, "", 0, false)),
                "the address host-2:1 of member 3 is that of member 2");
        assertRefused(
                new MembershipChange.Put(new EnsembleMember(1, 0, "host-2", 1, "", 0, false)),
                "the address host-2:1 of member 1 is that of member 2");
        assertRefused(
                new MembershipChange.Put(new EnsembleMember(3, 0, "host-3", 1, "host-2", 1, false)),
                "the address host-2:1 of member 3 is that of member 2");
    }

    /** Else each one that is moved is lost to the others, until none is left but the leader. */
    @Test
    void aMemberThatRunsKeepsItsAddressUnlessItIsForced() {
        startWith(1, 2, 3, 4);
        int leader = simulation.leader();
        int follower = leader % 4 + 1;
        for (int member : new int[] {leader, follower}) {
            EnsembleMember elsewhere = new EnsembleMember(member, 0, "elsewhere-" + member, 1, "", 0, false);
            assertRefused(new MembershipChange.Put(elsewhere), "member " + member + " runs");
        }
        made(new MembershipChange.Put(new EnsembleMember(follower, 0, "host-" + follower, 1, "x", 2181, false)));
        made(new MembershipChange.Put(new EnsembleMember(follower, 0, "forced", 1, "", 0, false), true));
        int stopped = follower % 4 + 1;
        simulation.members.get(stopped).kill();
        simulation.runFor(5 * EnsembleSimulation.SECOND_US);
        made(new MembershipChange.Put(new EnsembleMember(stopped, 0, "elsewhere", 1, "", 0, false)));
    }

    private void made(MembershipChange change) {
        CompletableFuture<Void> done = simulation.change(change);
        simulation.await("the change", 20, done::isDone);
        done.join();
    }

    /** Before, the entry could not be made, and the leader ended. */
    @Test
    void aHostHasAnEnd() {
        startWith(1, 2);
        String tooLong = "x".repeat(70_000);
        assertRefused(
                new MembershipChange.Put(new EnsembleMember(3, 0, tooLong, 1, "", 0, false)),
                "a host of member 3 has more than 255 characters");
        assertRefused(
                new MembershipChange.Put(new EnsembleMember(3, 0, "host-3", 1, tooLong, 2, false)),
                "a host of member 3 has more than 255 characters");
    }

    @Test
    void addressesThatAreNotTheSameFromEverywhereAreShared() {
        EnsembleMember one = new EnsembleMember(1, 0, "a", 2888, "", 2181, false);
        EnsembleMember two = new EnsembleMember(2, 0, "a", 2889, "", 2181, false);
        assertTrue(one.addressOf(two).isEmpty(), "every address of a machine");
        for (String host : new String[] {"localhost", "127.0.0.1", "::1", "0.0.0.0"}) {
            EnsembleMember here = new EnsembleMember(3, 0, "c", 2888, host, 2181, false);
            assertTrue(
                    here.addressOf(new EnsembleMember(4, 0, "d", 2888, host, 2181, false))
                            .isEmpty(),
                    host);
        }
        EnsembleMember named = new EnsembleMember(3, 0, "c", 2888, "x", 2181, false);
        assertEquals(
                "x:2181",
                named.addressOf(new EnsembleMember(4, 0, "d", 2888, "X", 2181, false))
                        .orElseThrow());
    }
}
