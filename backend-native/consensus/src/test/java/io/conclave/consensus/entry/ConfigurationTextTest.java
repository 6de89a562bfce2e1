package io.conclave.consensus.entry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ConfigurationTextTest {
    private static EnsembleMember member(int id) {
        return new EnsembleMember(id, 10L * id, "host-" + id, 2888, "", 2181, false);
    }

    private static ClusterConfiguration configuration(Set<Integer> voters, EnsembleMember... members) {
        Map<Integer, EnsembleMember> byId = new TreeMap<>();
        for (EnsembleMember member : members) {
            byId.put(member.id(), member);
        }
        return new ClusterConfiguration(byId, voters, Set.of());
    }

    private final ClusterConfiguration two = configuration(Set.of(1, 2), member(1), member(2));

    @Test
    void membersAreNamedWithTheirAddresses() {
        assertEquals("1 at host-1:2888, 2 at host-2:2888", ConfigurationText.members(two));
        EnsembleMember observer = new EnsembleMember(3, 0, "host-3", 2888, "", 0, true);
        assertEquals(
                "1 at host-1:2888, 2 at host-2:2888 (no vote yet), 3 at host-3:2888 (observer)",
                ConfigurationText.members(configuration(Set.of(1), member(1), member(2), observer)));
        assertEquals("none", ConfigurationText.members(ClusterConfiguration.NONE));
    }

    @Test
    void aChangeIsASentenceForEachMemberThatItConcerns() {
        ClusterConfiguration joined = configuration(Set.of(1, 2), member(1), member(2), member(3));
        assertEquals(
                "member 3 at host-3:2888 joins without a vote until it has caught up",
                ConfigurationText.change(two, joined));
        assertEquals(
                "member 3 gets a vote",
                ConfigurationText.change(joined, configuration(Set.of(1, 2, 3), member(1), member(2), member(3))));
        assertEquals("member 3 leaves", ConfigurationText.change(joined, two));
        assertEquals(
                "member 2 loses its vote and has another data directory than before",
                ConfigurationText.change(
                        two, configuration(Set.of(1), member(1), member(2).withDirectory(9))));
        EnsembleMember moved = new EnsembleMember(2, 20, "other", 2999, "", 2181, false);
        assertEquals(
                "member 2 is at other:2999 from now on",
                ConfigurationText.change(two, configuration(Set.of(1, 2), member(1), moved)));
    }
}
