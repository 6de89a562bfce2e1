package io.conclave.consensus.entry;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Configurations of a cluster, and what becomes of one, in sentences for an operator's log. */
public final class ConfigurationText {
    private ConfigurationText() {}

    /** All members, as in {@code 1 at a:2888, 2 at b:2888 (no vote yet), 3 at c:2888 (observer)}. */
    public static String members(ClusterConfiguration configuration) {
        if (configuration.members().isEmpty()) {
            return "none";
        }
        return configuration.members().values().stream()
                .map(member -> described(member, configuration))
                .collect(Collectors.joining(", "));
    }

    private static String described(EnsembleMember member, ClusterConfiguration configuration) {
        if (configuration.isVoter(member.id())) {
            return named(member);
        }
        return named(member) + (member.observer() ? " (observer)" : " (no vote yet)");
    }

    private static String named(EnsembleMember member) {
        return member.hasAddress()
                ? member.id() + " at " + member.host() + ":" + member.peerPort()
                : Integer.toString(member.id());
    }

    /** What is different, as in {@code member 3 at c:2888 joins without a vote; member 2 gets a vote}. */
    public static String change(ClusterConfiguration from, ClusterConfiguration to) {
        List<String> parts = new ArrayList<>();
        Set<Integer> ids = new TreeSet<>(from.members().keySet());
        ids.addAll(to.members().keySet());
        for (int id : ids) {
            String part = change(id, from, to);
            if (!part.isEmpty()) {
                parts.add("member " + part);
            }
        }
        if (parts.isEmpty()) {
            return to.isJoint() == from.isJoint()
                    ? "nothing that is seen from outside"
                    : "the change of voters is complete";
        }
        return String.join("; ", parts);
    }

    private static String change(int id, ClusterConfiguration from, ClusterConfiguration to) {
        EnsembleMember before = from.members().get(id);
        EnsembleMember after = to.members().get(id);
        if (after == null) {
            return id + " leaves";
        }
        if (before == null) {
            return named(after) + " joins"
                    + (to.isVoter(id)
                            ? ""
                            : after.observer() ? " as an observer" : " without a vote until it has caught up");
        }
        List<String> parts = new ArrayList<>();
        if (to.isVoter(id) != from.isVoter(id)) {
            parts.add(to.isVoter(id) ? "gets a vote" : "loses its vote");
        }
        if (!named(before).equals(named(after))) {
            parts.add("is at " + after.host() + ":" + after.peerPort() + " from now on");
        }
        if (before.directory() != after.directory()) {
            parts.add("has another data directory than before");
        }
        if (before.observer() != after.observer()) {
            parts.add(after.observer() ? "becomes an observer" : "is not an observer any more");
        }
        if (parts.isEmpty() && !before.equals(after)) {
            parts.add("has another address for clients");
        }
        return parts.isEmpty() ? "" : id + " " + String.join(" and ", parts);
    }
}
