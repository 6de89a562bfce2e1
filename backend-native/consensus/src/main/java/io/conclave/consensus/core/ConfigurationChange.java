package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** From one configuration to another. */
final class ConfigurationChange {
    private ConfigurationChange() {}

    /**
     * Refuses what must not be. A voter's directory stays: its old log and the new empty one would count as one
     * in the majorities that must overlap.
     */
    static void check(ClusterConfiguration current, ClusterConfiguration target) {
        if (target.isJoint() || target.voters().isEmpty()) {
            throw new IllegalArgumentException("a target has voters, and one set of them: " + target);
        }
        for (EnsembleMember member : target.members().values()) {
            if (target.isVoter(member.id()) && member.directory() == 0) {
                throw new IllegalArgumentException("member " + member.id() + " cannot vote without a directory");
            }
            checkDirectory(current, member);
        }
    }

    private static void checkDirectory(ClusterConfiguration current, EnsembleMember member) {
        EnsembleMember before = current.members().get(member.id());
        if (before != null && current.isVoter(member.id()) && before.directory() != member.directory()) {
            throw new IllegalArgumentException(
                    "the directory of voter " + member.id() + " cannot change; it has to become a learner first");
        }
    }

    /** What stands between the two: both sets of voters, and every member of either for the time of it. */
    static ClusterConfiguration joint(ClusterConfiguration current, ClusterConfiguration target) {
        Map<Integer, EnsembleMember> members = new TreeMap<>(target.members());
        Set<Integer> leaving = new TreeSet<>();
        current.members().forEach((id, member) -> {
            if (current.isVoter(id) && members.putIfAbsent(id, member) == null) {
                leaving.add(id);
            }
        });
        return new ClusterConfiguration(members, target.voters(), current.voters(), leaving, target.removed());
    }
}
