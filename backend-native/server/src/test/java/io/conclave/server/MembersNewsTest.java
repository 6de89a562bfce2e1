package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MembersNewsTest {
    private static ClusterConfiguration configuration(int members, Set<Integer> voters, Set<Integer> before) {
        Map<Integer, EnsembleMember> byId = new TreeMap<>();
        for (int id = 1; id <= members; id++) {
            byId.put(id, new EnsembleMember(id, 10L * id, "host-" + id, 2888, "", 2181, false));
        }
        return new ClusterConfiguration(byId, voters, before);
    }

    private static List<String> told(ClusterConfiguration... configurations) {
        MembersNews news = new MembersNews();
        List<String> told = new ArrayList<>();
        ClusterConfiguration before = ClusterConfiguration.NONE;
        for (ClusterConfiguration present : configurations) {
            news.of(before, present).ifPresent(told::add);
            before = present;
        }
        return told;
    }

    /** The joint configuration, and the one that ends it. */
    @Test
    void aChangeOfVotersIsToldOnce() {
        assertEquals(
                List.of("1 at host-1:2888, 2 at host-2:2888 (no vote yet)", "1 at host-1:2888, 2 at host-2:2888"),
                told(
                        configuration(1, Set.of(1), Set.of()),
                        configuration(2, Set.of(1), Set.of()),
                        configuration(2, Set.of(1, 2), Set.of(1)),
                        configuration(2, Set.of(1, 2), Set.of())));
    }

    @Test
    void aServerThatIsAloneTellsNothingAndOneThatIsLeftAloneDoes() {
        assertEquals(List.of(), told(configuration(1, Set.of(1), Set.of()), configuration(1, Set.of(1), Set.of())));
        assertEquals(
                List.of("1 at host-1:2888, 2 at host-2:2888", "1 at host-1:2888"),
                told(configuration(2, Set.of(1, 2), Set.of()), configuration(1, Set.of(1), Set.of())));
    }
}
