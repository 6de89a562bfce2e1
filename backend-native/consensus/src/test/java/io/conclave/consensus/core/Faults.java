package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * What goes wrong in a simulation: at random times, and at moments that matter. A seed has some kinds of faults only.
 */
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
    private final SplittableRandom random;
    private final Schedule schedule;
    private final List<Kind> kinds;
    private final int timeoutMs;
    private boolean ended;

    Faults(SimulatedCluster cluster, SplittableRandom random) {
        this.cluster = cluster;
        this.random = random;
        schedule = cluster.schedule;
        kinds = List.copyOf(schedule.kinds);
        timeoutMs = schedule.timeoutMs;
    }

    void schedule(long untilMs) {
        SimulatedLinks links = cluster.links;
        links.lossPermille = schedule.lossPermille;
        links.doublePermille = schedule.doublePermille;
        links.reorderPermille = schedule.reorderPermille;
        links.delayMs = schedule.delayMs;
        links.remakingMs = schedule.remakingMs;
        links.lingeringMs = schedule.lingeringMs;
        cluster.members().forEach(member -> member.writeMs = schedule.writeMs);
        next(untilMs);
    }

    private void next(long untilMs) {
        cluster.at(cluster.nowMs + 1 + random.nextInt(2 * schedule.meanFaultMs), () -> {
            if (!ended && cluster.nowMs < untilMs) {
                if (!kinds.isEmpty()) {
                    happen(kinds.get(random.nextInt(kinds.size())));
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
                later(3 * timeoutMs, () -> member.writeMs = ended ? 0 : schedule.writeMs);
            }
            case PARTITION -> partition();
            case ONE_WAY -> cut(member.id, other.id);
            case DROPPED_LINK -> cluster.links.drop(member.id, other.id);
            case MESSAGES -> {}
            case TRANSFER -> transfer(other.id);
            case RIVALS -> rivals();
            case MEMBERSHIP -> cluster.operator.change();
        }
    }

    private void later(int mostMs, Runnable action) {
        cluster.at(cluster.nowMs + 1 + random.nextInt(mostMs), action);
    }

    private void transfer(int to) {
        cluster.leader()
                .ifPresent(leader -> leader.turn(() -> {
                    if (leader.core.role() == CoreRole.LEADER) {
                        leader.core.transfer(cluster.nowMs, random.nextBoolean() ? 0 : to);
                    }
                }));
    }

    /** Several followers believe that their leader wants them to stand for election, at once or one after another. */
    private void rivals() {
        int mostMs = random.nextBoolean() ? 1 + timeoutMs / 50 : timeoutMs;
        cluster.leader().ifPresent(leader -> {
            PeerMessage wish = new PeerMessage.TimeoutNow(leader.core.term());
            for (SimulatedMember rival : cluster.members()) {
                if (rival != leader && random.nextBoolean()) {
                    later(mostMs, () -> rival.turn(() -> rival.core.receive(cluster.nowMs, leader.id, wish)));
                }
            }
        });
    }

    // ---- at moments that matter

    /** Something has just come about on a member, within its turn. */
    void at(Moment moment, SimulatedMember member) {
        if (ended || random.nextInt(1000) >= schedule.permilleAt(moment)) {
            return;
        }
        SimulatedMember leader = cluster.leader().orElse(member);
        boolean dies = random.nextInt(3) == 0;
        switch (moment) {
            case VOTES -> crash(member, 0, random.nextInt(4), false);
            case LEADS -> {
                if (dies) {
                    crash(member, 0, random.nextInt(8), false);
                } else {
                    silence(member);
                }
            }
            case WRITES -> {
                if (dies) {
                    isolate(leader);
                } else if (member != leader && random.nextBoolean()) {
                    dieAfterTheAnswer(member, random.nextBoolean() ? 1 : timeoutMs / 2);
                } else if (member != leader) {
                    forgetWhatIsCommitted(leader, member);
                }
            }
            case ANSWERS_ANEW -> {
                if (member != leader) {
                    cluster.links.stall(member.id, leader.id, timeoutMs / 10 + random.nextInt(timeoutMs / 2));
                    dieAfterTheAnswer(member, 1);
                }
            }
            case CONFIGURED -> {
                if (dies) {
                    crash(leader, 0, random.nextInt(8), false);
                } else {
                    divide(member.core.status().configuration());
                }
            }
            case CAUGHT_UP -> {
                if (dies) {
                    crash(leader, 0, random.nextInt(8), false);
                } else {
                    isolate(leader);
                }
            }
        }
    }

    private void dieAfterTheAnswer(SimulatedMember member, int downMs) {
        crash(member, schedule.kinds.contains(Kind.TORN) ? 1 : 0, 2 + random.nextInt(3), false, downMs);
    }

    /**
     * For a while only the two have the leader's batches; then one loses some, and the other what it knows of commits.
     */
    private void forgetWhatIsCommitted(SimulatedMember leader, SimulatedMember survivor) {
        int forMs = timeoutMs / 2 + random.nextInt(timeoutMs);
        for (SimulatedMember other : cluster.members()) {
            if (other != survivor) {
                cut(leader.id, other.id, forMs);
            }
        }
        later(timeoutMs / 2, () -> {
            dieAfterTheAnswer(survivor, timeoutMs / 2);
            later(timeoutMs / 5, () -> crash(leader, 0, 0, false, 1));
        });
    }

    /** What it says is not heard by some or all, or what they say, or both. */
    private void isolate(SimulatedMember member) {
        cutOff(member, random.nextInt(3) != 0, random.nextInt(3) != 0, random.nextInt(3));
    }

    /** No member hears that it leads, or only some do. */
    private void silence(SimulatedMember member) {
        cutOff(member, true, random.nextBoolean(), random.nextInt(4) == 0 ? 2 : 0);
    }

    /** @param spared how many of four others are spared */
    private void cutOff(SimulatedMember member, boolean isUnheard, boolean isDeaf, int spared) {
        int forMs = timeoutMs / 2 + random.nextInt(3 * timeoutMs);
        for (SimulatedMember other : cluster.members()) {
            if (other != member && random.nextInt(4) >= spared) {
                if (isUnheard) {
                    cut(member.id, other.id, forMs);
                }
                if (isDeaf) {
                    cut(other.id, member.id, forMs);
                }
            }
        }
    }

    /** The voters to be and the rest do not hear each other. */
    private void divide(ClusterConfiguration configuration) {
        split(member -> configuration.voters().contains(member.id));
    }

    // ---- crashes

    private void crash(SimulatedMember member, int damage) {
        crash(member, damage, random.nextInt(6), random.nextBoolean());
    }

    private void crash(SimulatedMember member, int damage, int steps, boolean whenVoting) {
        crash(member, damage, steps, whenVoting, random.nextBoolean() ? 1 + timeoutMs / 30 : 4 * timeoutMs);
    }

    private void crash(SimulatedMember member, int damage, int steps, boolean whenVoting, int downMs) {
        if (!member.isUp() || member.stepsToCrash >= 0) {
            return;
        }
        member.stepsToCrash = steps;
        member.crashesWhenVoting = whenVoting;
        later(whenVoting ? 2 * timeoutMs : Math.min(downMs, 1 + timeoutMs / 30), () -> {
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

    /** Never more than a minority of the voters of any configuration that a member uses is damaged. */
    private void damage(SimulatedMember member, int damage) {
        if (damage == 0 || !mayBeDamaged(member.id)) {
            return;
        }
        if (damage == 1) {
            member.tear(1 + random.nextInt(3));
        } else {
            member.wipe(cluster.newDirectory());
        }
        cluster.checkSurvival();
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

    // ---- links

    private void partition() {
        Set<Integer> side = new HashSet<>();
        cluster.members().forEach(member -> {
            if (random.nextBoolean()) {
                side.add(member.id);
            }
        });
        split(member -> side.contains(member.id));
    }

    private void split(Predicate<SimulatedMember> isOnOneSide) {
        for (SimulatedMember from : cluster.members()) {
            for (SimulatedMember to : cluster.members()) {
                if (isOnOneSide.test(from) != isOnOneSide.test(to)) {
                    cut(from.id, to.id);
                }
            }
        }
    }

    private void cut(int from, int to) {
        cut(from, to, random.nextBoolean() ? 1 + random.nextInt(timeoutMs / 2) : 1 + random.nextInt(5 * timeoutMs));
    }

    private void cut(int from, int to, int forMs) {
        if (from != to) {
            cluster.links.cut(from, to, true);
            cluster.at(cluster.nowMs + forMs, () -> cluster.links.cut(from, to, false));
        }
    }

    /** Everything is mended, and everybody is there. */
    void end() {
        ended = true;
        cluster.links.lossPermille = 0;
        cluster.links.doublePermille = 0;
        cluster.links.reorderPermille = 0;
        cluster.links.delayMs = 3;
        cluster.links.remakingMs = 30;
        cluster.links.lingeringMs = 10;
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
}
