package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.Member;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What goes wrong in a simulation, and the operator who changes the cluster meanwhile. A seed has some kinds of faults only. */
final class Faults {
    enum Kind {
        CRASH,
        TORN,
        WIPE,
        PAUSE,
        SLOW_DISK,
        PARTITION,
        ONE_WAY,
        DROPPED_LINK,
        MESSAGES,
        TRANSFER,
        RIVALS,
        MEMBERSHIP
    }

    private final SimulatedCluster cluster;
    private final Random random;
    private final Set<Kind> kinds = new TreeSet<>();
    private final int timeoutMs;
    private final int meanMs;
    private boolean ended;

    Faults(SimulatedCluster cluster, Random random) {
        this.cluster = cluster;
        this.random = random;
        Set<Kind> provoking = cluster.mistake.provokedBy();
        kinds.addAll(provoking);
        for (Kind kind : Kind.values()) {
            if (provoking.isEmpty() && random.nextInt(5) < 2) {
                kinds.add(kind);
            }
        }
        timeoutMs = cluster.timeoutMs;
        meanMs = timeoutMs / 20 + random.nextInt(random.nextBoolean() ? timeoutMs / 5 : 3 * timeoutMs / 2);
    }

    void schedule(long untilMs) {
        if (kinds.contains(Kind.MESSAGES)) {
            cluster.links.lossPermille = random.nextInt(3) * random.nextInt(60);
            cluster.links.doublePermille = random.nextInt(3) * random.nextInt(60);
            cluster.links.reorderPermille = random.nextInt(2) * random.nextInt(60);
        }
        cluster.links.delayMs =
                1 + random.nextInt(Math.max(3, timeoutMs / List.of(100, 10, 3).get(random.nextInt(3))));
        next(untilMs);
    }

    private void next(long untilMs) {
        cluster.at(cluster.nowMs + 1 + random.nextInt(2 * meanMs), () -> {
            if (!ended && cluster.nowMs < untilMs) {
                if (!kinds.isEmpty()) {
                    happen(List.copyOf(kinds).get(random.nextInt(kinds.size())));
                }
                next(untilMs);
            }
        });
    }

    private SimulatedMember someMember() {
        List<SimulatedMember> members = cluster.members();
        return random.nextInt(3) == 0
                ? cluster.leader().orElse(members.get(0))
                : members.get(random.nextInt(members.size()));
    }

    private void happen(Kind kind) {
        SimulatedMember member = someMember();
        SimulatedMember other = someMember();
        switch (kind) {
            case CRASH -> crash(member, 0);
            case TORN -> crash(member, 1);
            case WIPE -> crash(member, 2);
            case PAUSE -> {
                if (member.isUp() && !member.paused) {
                    member.paused = true;
                    later(random.nextBoolean() ? timeoutMs / 3 : 4 * timeoutMs, member::resume);
                }
            }
            case SLOW_DISK -> {
                member.writeMs = random.nextBoolean() ? 1 + timeoutMs / 50 : 3 * timeoutMs / 2;
                later(3 * timeoutMs, () -> member.writeMs = 0);
            }
            case PARTITION -> partition();
            case ONE_WAY -> cut(member.id, other.id);
            case DROPPED_LINK -> cluster.links.drop(member.id, other.id);
            case MESSAGES -> {}
            case TRANSFER -> transfer(other.id);
            case RIVALS -> rivals();
            case MEMBERSHIP -> operate(true);
        }
    }

    private void later(int mostMs, Runnable action) {
        cluster.at(cluster.nowMs + 1 + random.nextInt(mostMs), action);
    }

    private void transfer(int to) {
        cluster.leader()
                .ifPresent(leader -> leader.turn(() -> {
                    if (leader.core.status().role() == CoreRole.LEADER) {
                        leader.core.transfer(cluster.nowMs, random.nextBoolean() ? 0 : to);
                    }
                }));
    }

    /** Several followers believe that their leader wants them to stand for election. */
    private void rivals() {
        cluster.leader().ifPresent(leader -> {
            PeerMessage wish = new PeerMessage.TimeoutNow(leader.core.status().term());
            for (SimulatedMember rival : cluster.members()) {
                if (rival != leader && random.nextBoolean()) {
                    later(
                            1 + timeoutMs / 50,
                            () -> rival.turn(() -> rival.core.receive(cluster.nowMs, leader.id, wish)));
                }
            }
        });
    }

    private void crash(SimulatedMember member, int damage) {
        if (!member.isUp() || member.stepsToCrash >= 0) {
            return;
        }
        member.stepsToCrash = random.nextInt(6);
        member.crashesWhenVoting = random.nextBoolean();
        int downMs = random.nextBoolean() ? 1 + timeoutMs / 30 : 4 * timeoutMs;
        later(member.crashesWhenVoting ? 2 * timeoutMs : 1 + timeoutMs / 30, () -> {
            if (member.isUp() && member.stepsToCrash >= 0) {
                member.crash();
            }
            if (!member.isUp() && !ended) {
                damage(member, damage);
            }
            later(downMs, () -> {
                if (!member.isUp()) {
                    member.start();
                }
            });
        });
    }

    /** Never more than a minority of any voters that somebody believes in is damaged. */
    private void damage(SimulatedMember member, int damage) {
        if (damage == 0 || !mayBeDamaged(member.id)) {
            return;
        }
        if (damage == 1) {
            member.tear(1 + random.nextInt(3));
        } else {
            member.wipe(cluster.newDirectory());
        }
    }

    private boolean mayBeDamaged(int id) {
        for (ClusterConfiguration configuration : cluster.configurations()) {
            for (Set<Integer> voters : List.of(configuration.voters(), configuration.outgoing())) {
                long damaged = voters.stream()
                        .filter(voter -> voter == id || cluster.isDamaged(voter, configuration))
                        .count();
                if (voters.contains(id) && damaged > (voters.size() - 1) / 2) {
                    return false;
                }
            }
        }
        return true;
    }

    private void partition() {
        Set<Integer> side = new HashSet<>();
        cluster.members().forEach(member -> {
            if (random.nextBoolean()) {
                side.add(member.id);
            }
        });
        for (SimulatedMember from : cluster.members()) {
            for (SimulatedMember to : cluster.members()) {
                if (side.contains(from.id) != side.contains(to.id)) {
                    cut(from.id, to.id);
                }
            }
        }
    }

    private void cut(int from, int to) {
        if (from != to) {
            cluster.links.cut(from, to, true);
            later(random.nextBoolean() ? timeoutMs / 2 : 5 * timeoutMs, () -> cluster.links.cut(from, to, false));
        }
    }

    /** Everything is mended, and everybody is there. */
    void end() {
        ended = true;
        cluster.links.lossPermille = 0;
        cluster.links.doublePermille = 0;
        cluster.links.reorderPermille = 0;
        cluster.links.delayMs = 3;
        for (SimulatedMember from : cluster.members()) {
            from.writeMs = 0;
            from.stepsToCrash = -1;
            if (!from.isUp()) {
                from.start();
            }
            if (from.paused) {
                from.resume();
            }
            for (SimulatedMember to : cluster.members()) {
                if (from != to) {
                    cluster.links.cut(from.id, to.id, false);
                }
            }
        }
    }

    // ---- the operator

    /** One change that the leader's configuration allows: mending what is wiped first, otherwise (if asked) a random one. */
    void operate(boolean atRandom) {
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
            Member member = configuration.members().get(peer.member());
            if (peer.linked() && peer.directory() != 0 && peer.directory() != member.directory()) {
                if (configuration.isVoter(peer.member())) {
                    return with(configuration, configuration.members(), peer.member(), false);
                }
                Map<Integer, Member> members = new TreeMap<>(configuration.members());
                members.put(peer.member(), member.withDirectory(peer.directory()));
                return new ClusterConfiguration(members, configuration.voters(), Set.of());
            }
        }
        return configuration;
    }

    /** Any of those who have caught up vote, and nobody else. */
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
        Map<Integer, Member> members = new TreeMap<>(configuration.members());
        if (!members.containsKey(id)) {
            members.put(id, new Member(id, cluster.member(id).disk.directory, "host" + id, 1, "", 0, false));
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
            ClusterConfiguration configuration, Map<Integer, Member> members, int id, boolean votes) {
        Set<Integer> voters = new TreeSet<>(configuration.voters());
        if (votes) {
            voters.add(id);
        } else {
            voters.remove(id);
        }
        return new ClusterConfiguration(members, voters, Set.of());
    }
}
