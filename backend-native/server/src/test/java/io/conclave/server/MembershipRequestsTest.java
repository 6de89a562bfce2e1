package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MembershipRequestsTest {
    private static EnsembleMember member(int id, String host, boolean observer) {
        return new EnsembleMember(id, 10L + id, host, 2888, "", 2181, observer);
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
                MembershipRequests.inOrder(List.of(observes, takes, leaves, givesWay), 1, present));
        assertEquals(
                List.of(takes, leaves, new MembershipChange.Remove(1)),
                MembershipRequests.inOrder(
                        List.of(takes, new MembershipChange.Remove(1), leaves), 1, Map.of(1, member(1, "one", false))));
    }
}
