package io.conclave.consensus.core;

import static io.conclave.consensus.core.Invariants.check;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Several cores, their disks and their links in one thread with virtual time, everything from one seed: first a life
 * with faults, then none, in which the cluster must become whole again, and at last one in which nothing may disturb
 * it.
 */
final class SimulatedCluster {
    private record Event(long atMs, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atMs, other.atMs);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private static final boolean TRACE = Boolean.getBoolean("sim.trace");

    /** Election timeouts within which everything must be well again. */
    private static final int RECOVERY_TIMEOUTS = 30;

    /**
     * Far more than a run without mistakes has. A mistaken leader and follower may answer each other without end, and
     * where messages are doubled that grows until the memory is full.
     */
    private static final long MAX_EVENTS = 60_000;

    final Mistake mistake;
    final Invariants invariants = new Invariants();
    final Map<Long, DurableState.Base> snapshots = new HashMap<>();
    final CoreOptions options;
    final int timeoutMs;
    final SimulatedLinks links;
    final Schedule schedule;
    final Operator operator;
    private final Faults faults;
    private final VoteLedger ledger = new VoteLedger();
    private final SplittableRandom random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final TreeMap<Integer, SimulatedMember> members = new TreeMap<>();
    private final Set<Long> unansweredReadIndexes = new HashSet<>();
    long nowMs = 1_000;
    long eventCount;
    private long nextId = 1;
    private long nextDirectory = 1_000;

    SimulatedCluster(long seed, Mistake mistake) {
        this.mistake = mistake;
        random = new SplittableRandom(seed);
        schedule = new Schedule(random.split());
        timeoutMs = schedule.timeoutMs;
        int appendBytes = schedule.appendBytes;
        options = new CoreOptions(
                timeoutMs, timeoutMs / 5, appendBytes, 4 * appendBytes, 4, Math.min(1 << 14, 2 * appendBytes), 1 << 15);
        links = new SimulatedLinks(this, random.split());
        operator = new Operator(this, random.split());
        faults = new Faults(this, random.split());
        ClusterConfiguration bootstrap = bootstrap(schedule.members, schedule.voters);
        for (int id = 1; id <= schedule.members + schedule.strangers; id++) {
            boolean member = id <= schedule.members;
            long directory = member ? bootstrap.members().get(id).directory() : nextDirectory++;
            ClusterConfiguration known = member ? bootstrap : ClusterConfiguration.NONE;
            members.put(id, new SimulatedMember(id, this, random.split(), known, directory));
        }
    }

    private ClusterConfiguration bootstrap(int size, int voters) {
        Map<Integer, EnsembleMember> all = new TreeMap<>();
        Set<Integer> voting = new HashSet<>();
        for (int id = 1; id <= size; id++) {
            all.put(id, new EnsembleMember(id, nextDirectory++, "host" + id, 1, "", 0, false));
            if (id <= voters) {
                voting.add(id);
            }
        }
        return new ClusterConfiguration(all, voting, Set.of());
    }

    void run() {
        members().forEach(SimulatedMember::start);
        long lastFaultMs = nowMs + schedule.lifeMs;
        faults.schedule(lastFaultMs);
        keepBusy();
        runUntil(lastFaultMs);
        faults.end();
        if (schedule.ends) {
            becomeWhole();
            stayCalm();
        }
    }

    /** Runs, and says what went wrong. */
    Optional<Throwable> failure() {
        try {
            run();
            return Optional.empty();
        } catch (RuntimeException | AssertionError e) {
            return Optional.of(e);
        }
    }

    /** With {@code -Dsim.trace}: what happens. */
    void trace(Supplier<String> what) {
        if (TRACE) {
            System.out.println(nowMs + ": " + what.get());
        }
    }

    // ---- time

    void at(long atMs, Runnable action) {
        events.add(new Event(atMs, eventCount++, action));
    }

    long wallMs() {
        return 1_600_000_000_000L + nowMs + random.nextInt(50) - 25;
    }

    private void runUntil(long endMs) {
        while (!events.isEmpty() && events.peek().atMs() <= endMs) {
            check(eventCount < MAX_EVENTS, () -> "the members talk and talk: " + members.values());
            Event event = events.remove();
            nowMs = Math.max(nowMs, event.atMs());
            event.action().run();
        }
        nowMs = endMs;
    }

    // ---- members

    SimulatedMember member(int id) {
        return members.get(id);
    }

    List<SimulatedMember> members() {
        return new ArrayList<>(members.values());
    }

    void started(SimulatedMember member) {
        for (int other : members.keySet()) {
            if (other != member.id) {
                links.connectSoon(member.id, other);
                links.connectSoon(other, member.id);
            }
        }
    }

    void crashed(SimulatedMember member) {
        for (int other : members.keySet()) {
            if (other != member.id) {
                links.drop(member.id, other);
                links.drop(other, member.id);
            }
        }
    }

    void send(SimulatedMember from, int to, PeerMessage message) {
        ledger.sent(from, to, message);
        if (members.containsKey(to)) {
            links.send(from.id, to, message);
        }
    }

    /** Something that a fault may want to hit has come about. */
    void moment(Moment moment, SimulatedMember member) {
        faults.at(moment, member);
    }

    /** To be called whenever something is newly committed, or a disk counts again that did not. */
    void checkSurvival() {
        if (!invariants.committed.isEmpty()) {
            Survival.checkThat(invariants.committed.lastEntry().getValue(), members.values(), this);
        }
    }

    long newDirectory() {
        return nextDirectory++;
    }

    Optional<SimulatedMember> leader() {
        return members.values().stream()
                .filter(member -> member.isUp() && !member.paused && member.core.role() == CoreRole.LEADER)
                .max(Comparator.comparingLong(member -> member.core.term()));
    }

    /** What anybody, dead or alive, has for the latest configuration. */
    List<ClusterConfiguration> configurations() {
        List<ClusterConfiguration> all = new ArrayList<>();
        for (SimulatedMember member : members.values()) {
            all.add(member.disk.configuration());
            if (member.isUp()) {
                all.add(member.core.status().configuration());
            }
        }
        return all;
    }

    /** A voter that lost something and has not got it back. */
    boolean isDamaged(int voter, ClusterConfiguration configuration) {
        DurableState disk = members.get(voter).disk;
        return disk.torn || disk.directory != configuration.members().get(voter).directory();
    }

    // ---- work

    private void keepBusy() {
        at(nowMs + 1 + random.nextInt(schedule.proposalMs), () -> {
            proposeSomewhere();
            if (random.nextInt(3) == 0) {
                readIndexSomewhere();
            }
            keepBusy();
        });
    }

    private void proposeSomewhere() {
        for (SimulatedMember member : members.values()) {
            if (member.isUp() && random.nextBoolean()) {
                member.turn(() -> {
                    if (member.core.takesProposals()) {
                        member.core.propose(nowMs, wallMs(), entries());
                    }
                });
            }
        }
    }

    private List<LogEntry> entries() {
        List<LogEntry> entries = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            byte[] payload = ByteBuffer.allocate(8 + random.nextInt(100))
                    .putLong(nextId++)
                    .array();
            entries.add(new LogEntry(LogEntryKind.APPLICATION, Origin.NONE, payload));
        }
        return entries;
    }

    private void readIndexSomewhere() {
        List<SimulatedMember> up =
                members.values().stream().filter(SimulatedMember::isUp).toList();
        if (!up.isEmpty()) {
            SimulatedMember member = up.get(random.nextInt(up.size()));
            long id = nextId++;
            byte[] note = id % 2 == 0
                    ? new byte[0]
                    : ByteBuffer.allocate(8).putLong(id).array();
            member.turn(() -> {
                invariants.readIndexAsked(id);
                unansweredReadIndexes.add(id);
                member.asked.add(id);
                member.core.readIndex(nowMs, id, note);
            });
        }
    }

    void readIndexAnswered(long id) {
        unansweredReadIndexes.remove(id);
    }

    void gone(Set<Long> asked) {
        unansweredReadIndexes.removeAll(asked);
    }

    // ---- the end

    /** Without faults everything is served again within a bounded time. */
    private void becomeWhole() {
        long startMs = nowMs;
        while (!isWhole() && nowMs < startMs + (long) RECOVERY_TIMEOUTS * timeoutMs) {
            runUntil(nowMs + timeoutMs / 5);
            operator.mend();
        }
        check(
                isWhole(),
                () -> "no progress " + RECOVERY_TIMEOUTS + " timeouts after the last fault: " + members.values() + " "
                        + leader().map(member -> member.core.peers().toString()).orElse(""));
        long asked = nextId;
        long committed = invariants.committedIndex();
        for (int i = 0; i < 20 && !(invariants.committedIndex() > committed && isWhole()); i++) {
            runUntil(nowMs + timeoutMs / 2);
        }
        runUntil(nowMs + 5L * timeoutMs / 2);
        check(invariants.committedIndex() > committed, () -> "nothing is committed: " + members.values());
        ClusterConfiguration configuration =
                leader().orElseThrow().core.status().configuration();
        for (SimulatedMember member : members.values()) {
            if (configuration.members().containsKey(member.id)) {
                check(
                        member.core.status().commitIndex() >= committed,
                        () -> member + " does not follow, committed " + committed);
                check(!member.core.status().provisional(), () -> member + " stays provisional");
                check(
                        member.asked.stream().noneMatch(id -> id < asked && unansweredReadIndexes.contains(id)),
                        () -> member + " waits forever for a read index");
            }
        }
    }

    private boolean isWhole() {
        return leader().filter(member -> {
                    CoreStatus status = member.core.status();
                    ClusterConfiguration configuration = status.configuration();
                    return status.termCommitted()
                            && status.configurationCommitted()
                            && !configuration.isJoint()
                            && configuration.members().keySet().stream()
                                    .allMatch(id -> members.get(id).isUp()
                                            && configuration.members().get(id).directory()
                                                    == members.get(id).disk.directory
                                            && members.get(id).core.status().leader() == member.id
                                            && members.get(id).core.status().commitIndex() >= status.commitIndex() - 10
                                            && !members.get(id).core.status().provisional());
                })
                .isPresent();
    }

    /** A follower that is cut off for a while and members that were removed do not disturb. */
    private void stayCalm() {
        SimulatedMember leader = leader().orElseThrow();
        long term = leader.core.status().term();
        List<SimulatedMember> followers = members.values().stream()
                .filter(member -> member != leader
                        && leader.core.status().configuration().members().containsKey(member.id))
                .toList();
        int voters = leader.core.status().configuration().voters().size();
        if (!followers.isEmpty() && voters != 2) {
            SimulatedMember isolated = followers.get(random.nextInt(followers.size()));
            cutOff(isolated, true);
            runUntil(nowMs + 3L * timeoutMs);
            cutOff(isolated, false);
        }
        runUntil(nowMs + 4L * timeoutMs);
        check(
                leader.isUp()
                        && leader.core.status().role() == CoreRole.LEADER
                        && leader.core.status().term() == term,
                () -> "leader " + leader.id + " of term " + term + " was disturbed: " + members.values());
    }

    private void cutOff(SimulatedMember member, boolean cut) {
        for (int other : members.keySet()) {
            if (other != member.id) {
                links.cut(member.id, other, cut);
                links.cut(other, member.id, cut);
            }
        }
    }
}
