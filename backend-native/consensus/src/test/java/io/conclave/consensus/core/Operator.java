package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/** The operator that changes the cluster of a simulation, or repairs it. */
final class Operator {
    private final SimulatedCluster cluster;
    private final SplittableRandom random;

    Operator(SimulatedCluster cluster, SplittableRandom random) {
        this.cluster = cluster;
        this.random = random;
    }

    /** One change that the leader's configuration allows: mending what is wiped first, otherwise a random one. */
    void change() {
        operate(true);
    }

    /** Takes in again a member that has lost its directory. */
    void mend() {
        operate(false);
    }

    private void operate(boolean atRandom) {
        cluster.leader()
                .ifPresent(leader -> leader.turn(() -> {
                    CoreStatus status = leader.core.status();
                    if (status.takesProposals()
                            && status.termCommitted()
                            && status.configurationCommitted()
                            && !status.configuration().isJoint()) {
                        ClusterConfiguration target = mended(leader, status.configuration());
                        if (target.equals(status.configuration()) && atRandom) {
                            target = changed(leader, status.configuration());
                        }
                        if (!target.equals(status.configuration())) {
                            leader.core.reconfigure(cluster.nowMs, cluster.wallMs(), target);
                        }
                    }
                }));
    }

    private ClusterConfiguration mended(SimulatedMember leader, ClusterConfiguration configuration) {
        for (PeerStatus peer : leader.core.peers()) {
            EnsembleMember member = configuration.members().get(peer.member());
            if (peer.linked() && peer.directory() != 0 && peer.directory() != member.directory()) {
                if (configuration.isVoter(peer.member())) {
                    return with(configuration, configuration.members(), peer.member(), false);
                }
                Map<Integer, EnsembleMember> members = new TreeMap<>(configuration.members());
                members.put(peer.member(), member.withDirectory(peer.directory()));
                return new ClusterConfiguration(members, configuration.voters(), Set.of());
            }
        }
        return configuration;
    }

    /** Any of those that have caught up vote, and no others. */
    private ClusterConfiguration reshuffled(SimulatedMember leader, ClusterConfiguration configuration) {
        Set<Integer> voters = new TreeSet<>();
        for (int id : configuration.members().keySet()) {
            if ((id == leader.id || hasCaughtUp(leader, id, configuration)) && random.nextInt(3) != 0) {
                voters.add(id);
            }
        }
        ClusterConfiguration target = new ClusterConfiguration(configuration.members(), voters, Set.of());
        return voters.isEmpty() || !canLive(target) ? configuration : target;
    }

    private boolean hasCaughtUp(SimulatedMember leader, int id, ClusterConfiguration configuration) {
        return !cluster.isDamaged(id, configuration)
                && leader.core.peers().stream()
                        .anyMatch(peer -> peer.member() == id
                                && peer.directory()
                                        == configuration.members().get(id).directory()
                                && peer.matchIndex() >= leader.core.status().commitIndex());
    }

    private ClusterConfiguration changed(SimulatedMember leader, ClusterConfiguration configuration) {
        if (random.nextBoolean()) {
            return reshuffled(leader, configuration);
        }
        int id = 1 + random.nextInt(cluster.members().size());
        Map<Integer, EnsembleMember> members = new TreeMap<>(configuration.members());
        if (!members.containsKey(id)) {
            members.put(id, new EnsembleMember(id, cluster.member(id).disk.directory, "host" + id, 1, "", 0, false));
            return new ClusterConfiguration(members, configuration.voters(), Set.of());
        }
        boolean votes = configuration.voters().contains(id);
        if (!votes && random.nextInt(4) != 0) {
            return hasCaughtUp(leader, id, configuration) ? with(configuration, members, id, true) : configuration;
        }
        if (votes && configuration.voters().size() < 2) {
            return configuration;
        }
        if (random.nextBoolean()) {
            members.remove(id);
        }
        ClusterConfiguration target = with(configuration, members, id, false);
        return canLive(target) ? target : configuration;
    }

    private boolean canLive(ClusterConfiguration target) {
        long damaged = target.voters().stream()
                .filter(voter -> cluster.isDamaged(voter, target))
                .count();
        return damaged <= (target.voters().size() - 1) / 2;
    }

    private static ClusterConfiguration with(
            ClusterConfiguration configuration, Map<Integer, EnsembleMember> members, int id, boolean votes) {
        Set<Integer> voters = new TreeSet<>(configuration.voters());
        if (votes) {
            voters.add(id);
        } else {
            voters.remove(id);
        }
        return new ClusterConfiguration(members, voters, Set.of());
    }
}
