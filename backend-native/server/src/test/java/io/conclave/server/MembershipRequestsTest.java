package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MembershipRequestsTest {
    private static EnsembleMember member(int id, String host, boolean observer) {
        return new EnsembleMember(id, 10L + id, host, 2888, "", 2181, observer);
    }

    /** The configuration between the two has the new role already, and both sets of voters. */
    @Test
    void aVoterIsAnObserverOnceItsVoteIsGone() {
        MembershipChange change =
                new MembershipChange.Put(member(1, "one", true).withDirectory(0));
        Map<Integer, EnsembleMember> members = Map.of(1, member(1, "one", true), 2, member(2, "two", false));
        assertFalse(MembershipRequests.isMade(change, new ClusterConfiguration(members, Set.of(2), Set.of(1, 2))));
        assertFalse(MembershipRequests.isMade(change, new ClusterConfiguration(members, Set.of(1, 2), Set.of())));
        assertTrue(MembershipRequests.isMade(change, new ClusterConfiguration(members, Set.of(2), Set.of())));
    }

    @Test
    void whoseAddressIsTakenLeavesFirstAndTheLeadersVoteGoesLast() {
        Map<Integer, EnsembleMember> present =
                Map.of(1, member(1, "one", false), 2, member(2, "two", false), 3, member(3, "three", false));
        MembershipChange observes = new MembershipChange.Put(member(1, "one", true));
        MembershipChange takes = new MembershipChange.Put(member(4, "three", false));
        MembershipChange leaves = new MembershipChange.Remove(2);
        MembershipChange givesWay = new MembershipChange.Remove(3);
        assertEquals(
                List.of(givesWay, takes, leaves, observes),
                MembershipRequests.inOrder(List.of(observes, takes, leaves, givesWay), 1, 1, present));
        assertEquals(
                List.of(takes, leaves, new MembershipChange.Remove(1)),
                MembershipRequests.inOrder(
                        List.of(takes, new MembershipChange.Remove(1), leaves),
                        1,
                        1,
                        Map.of(1, member(1, "one", false))));
    }

    @Test
    void theServerThatWasAskedLeavesLastButForTheLeader() {
        Map<Integer, EnsembleMember> present =
                Map.of(1, member(1, "one", false), 2, member(2, "two", false), 3, member(3, "three", false));
        MembershipChange asked = new MembershipChange.Remove(3);
        MembershipChange other = new MembershipChange.Remove(2);
        MembershipChange leader = new MembershipChange.Remove(1);
        assertEquals(
                List.of(other, asked, leader),
                MembershipRequests.inOrder(List.of(asked, leader, other), 1, 3, present));
        MembershipChange takes = new MembershipChange.Put(member(4, "three", false));
        assertEquals(List.of(asked, takes), MembershipRequests.inOrder(List.of(takes, asked), 1, 3, present));
    }
}
