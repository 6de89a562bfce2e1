package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreOptions;
import io.conclave.consensus.core.CoreStart;
import io.conclave.consensus.core.PeerMessage.Refusal;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.member.CoreFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.UnaryOperator;

/** Several members with counting applications on one thread, all from one seed. */
final class EnsembleSimulation {
    static final long SECOND_US = 1_000_000;
    private static final int SEGMENT_BYTES = 64 * 1024;

    final VirtualTime time = new VirtualTime();
    final SimulatedNetwork network;
    final Random random;
    final EnsembleHistory history = new EnsembleHistory();
    final Map<Integer, SimulatedMember> members = new TreeMap<>();
    final Map<Integer, CounterMachine> applications = new HashMap<>();
    final Map<Integer, EnsembleMember> listed = new TreeMap<>();
    private final boolean durable;
    CoreFactory cores = CoreFactory.RAFT;

    /** Plants a mistake in the members' disks. */
    UnaryOperator<Disk> disks = seen -> seen;

    int snapshotEveryEntries = 100;
    IntSupplier snapshotPadding;

    /** Of the log in the members' memory. */
    int windowBytes = 64 << 20;

    /** How often a member checks one of its snapshots. */
    long snapshotCheckEveryMs = 3_600_000;

    /** Plants a mistake: no change of the members is refused for want of a live majority. */
    boolean changesAreForced;

    /** By member, for its next starts: where what it does is kept, if that is not the ensemble's history. */
    final Map<Integer, EnsembleHistory> apart = new HashMap<>();

    int reads;

    EnsembleSimulation(long seed, boolean durable) {
        this.random = new Random(seed);
        this.network = new SimulatedNetwork(time, random);
        this.durable = durable;
        this.snapshotPadding = () -> random.nextInt(3) == 0 ? 3_000_000 : 0;
    }

    // ---- members

    static EnsembleMember member(int id, boolean observer) {
        return new EnsembleMember(id, 0, "host-" + id, 1, "", 0, observer);
    }

    /** Adds machines, all of them in the lists of all; 1 is where the cluster is bootstrapped. */
    void add(int... ids) {
        for (int id : ids) {
            listed.put(id, member(id, false));
            SimulatedMember member = new SimulatedMember(id, time, network, random, durable);
            member.mistaken(this::core, seen -> disks.apply(seen));
            members.put(id, member);
        }
    }

    private Core core(CoreStart start, CoreOptions options, long seed, long nowMs) {
        CoreOptions kept = new CoreOptions(
                options.electionTimeoutMs(),
                options.heartbeatMs(),
                Math.min(windowBytes, options.appendBytes()),
                options.inFlightBytes(),
                options.inFlightAppends(),
                Math.min(windowBytes / 4, options.tailBytes()),
                windowBytes);
        return cores.create(start, kept, seed, nowMs);
    }

    /** Three voters that run. */
    static EnsembleSimulation three(boolean durable) {
        EnsembleSimulation simulation = new EnsembleSimulation(1, durable);
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        return simulation;
    }

    void startAll() {
        members.keySet().forEach(this::start);
    }

    void start(int id) {
        start(id, id == 1);
    }

    void start(int id, boolean bootstrap) {
        SimulatedMember member = members.get(id);
        LogOptions options = member.options(listed, bootstrap)
                .segmentBytes(SEGMENT_BYTES)
                .maxEntryBytes(8 * 1024)
                .maxBatchBytes(24 * 1024)
                .maxQueuedBytes(256 * 1024)
                .snapshotEveryEntries(snapshotEveryEntries)
                .snapshotCheckEveryMs(snapshotCheckEveryMs)
                .snapshotsKept(2)
                .featureLevel(Refusal.FEATURE_LEVEL)
                .build();
        CounterMachine application =
                new CounterMachine(apart.getOrDefault(id, history), id, snapshotPadding.getAsInt());
        applications.put(id, application);
        member.start(options, application);
    }

    CounterMachine application(int id) {
        return applications.get(id);
    }

    ReplicatedLog log(int id) {
        return members.get(id).log();
    }

    /** The leader that has told its application so; 0 if there is none. */
    int leader() {
        int leader = 0;
        long term = 0;
        for (int id : members.keySet()) {
            if (members.get(id).isAlive() && application(id).leadingTerm > term) {
                leader = id;
                term = application(id).leadingTerm;
            }
        }
        return leader;
    }

    ClusterConfiguration configuration() {
        return log(leader()).status().configuration();
    }

    // ---- time

    void runFor(long durationUs) {
        time.run(durationUs);
    }

    /** Lets time pass until it is so; fails if it is not within the seconds. */
    void await(String what, int seconds, BooleanSupplier condition) {
        long untilUs = time.nowUs() + seconds * SECOND_US;
        while (!condition.getAsBoolean()) {
            long stepUs = Math.min(untilUs, time.nowUs() + 10_000);
            while (time.step(stepUs)) {
                // goes on
            }
            assertTrue(time.nowUs() < untilUs, () -> "not within " + seconds + " s: " + what + "; " + describe());
        }
    }

    String describe() {
        StringBuilder text = new StringBuilder("at " + time.nowMs() + " ms:");
        members.forEach((id, member) -> text.append("\n  ")
                .append(id)
                .append(": ")
                .append(
                        member.isAlive()
                                ? member.log().status() + ", open "
                                        + application(id).open.size() + ", serving " + application(id).serving
                                : "dead"));
        return text.toString();
    }

    void awaitVoters(int... ids) {
        java.util.Set<Integer> wanted = new java.util.TreeSet<>();
        for (int id : ids) {
            wanted.add(id);
        }
        await(
                "voters " + wanted,
                60,
                () -> leader() != 0
                        && configuration().voters().equals(wanted)
                        && !configuration().isJoint());
    }

    /** Puts in force that a full leader refuses what other members forward. */
    void raiseLevel() {
        await("the level", 60, () -> {
            if (leader() != 0) {
                log(leader()).propose(new RaisedLevel(Refusal.FEATURE_LEVEL));
            }
            return applications.values().stream().anyMatch(each -> each.featureLevel >= Refusal.FEATURE_LEVEL);
        });
    }

    // ---- work

    /** Proposes through the member; false if it takes nothing now. */
    boolean propose(int id, int bytes) {
        CounterMachine application = application(id);
        CounterMachine.Proposed proposed = application.proposal(bytes);
        application.open.put(proposed.id, proposed);
        if (!log(id).propose(proposed)) {
            application.open.remove(proposed.id);
            return false;
        }
        return true;
    }

    /** Reads through the member, and checks that it sees everything acknowledged before. */
    void read(int id) {
        long told = history.acknowledgedIndex();
        CounterMachine application = application(id);
        log(id).readBarrier(() -> {
            reads++;
            application.requireState();
            assertTrue(
                    application.index >= told,
                    () -> "member " + id + " reads at " + application.index + ", behind " + told);
        });
    }

    void readIndex(int id) {
        long told = history.acknowledgedIndex();
        CounterMachine application = application(id);
        log(id).readIndex(new byte[] {(byte) id}, () -> {
            reads++;
            application.requireState();
            assertTrue(application.index >= told);
        });
    }

    /** Runs until a change is made. */
    void done(CompletableFuture<Void> change) {
        await("the change", 20, change::isDone);
        change.join();
    }

    CompletableFuture<Void> change(MembershipChange change) {
        return log(leader()).change(changesAreForced ? forced(change) : change).toCompletableFuture();
    }

    private static MembershipChange forced(MembershipChange change) {
        return change instanceof MembershipChange.Put put
                ? new MembershipChange.Put(put.member(), true)
                : new MembershipChange.Remove(((MembershipChange.Remove) change).member(), true);
    }

    // ---- the end

    /** Everything works again: all proposals get an outcome, and all members come to the same state. */
    void settle() {
        network.heal();
        members.forEach((id, member) -> {
            member.disk().capacity(Long.MAX_VALUE);
            member.disk().failAfter(-1);
            member.disk().failSyncAfter(-1, "");
        });
        await("all live", 60, this::haveAllLive);
        List<Integer> ids = new ArrayList<>(listed.keySet());
        await(
                "all vote",
                120,
                () -> haveAllLive() // one may be found out only now
                        && leader() != 0
                        && !configuration().isJoint()
                        && configuration().voters().containsAll(ids));
        await("all outcomes", 60, () -> applications.values().stream()
                .allMatch(each -> each.over || each.open.isEmpty()));
        for (int id : ids) {
            assertTrue(propose(id, 20));
        }
        await("all applied", 60, this::isSettled);
        await("all serve", 60, () -> ids.stream().allMatch(id -> application(id).serving));
        int leader = leader();
        for (int id : ids) {
            assertEquals(application(leader).digest, application(id).digest, "state of member " + id);
            assertEquals(application(leader).count, application(id).count, "count of member " + id);
        }
    }

    private boolean haveAllLive() {
        boolean all = true;
        for (int id : members.keySet()) {
            if (!members.get(id).isAlive()) {
                start(id, false);
            }
            all &= log(id).status().role().isWorking()
                    && !members.get(id).isClosing()
                    && !members.get(id).disk().hasFailed();
        }
        return all;
    }

    private boolean isSettled() {
        long last = 0;
        for (int id : listed.keySet()) {
            if (!application(id).open.isEmpty()) {
                return false;
            }
            last = Math.max(last, log(id).status().lastIndex());
        }
        for (int id : listed.keySet()) {
            if (log(id).status().appliedIndex() != last) {
                return false;
            }
        }
        return true;
    }

    /** The ids of those that run. */
    List<Integer> living() {
        return members.values().stream()
                .filter(SimulatedMember::isAlive)
                .map(SimulatedMember::id)
                .toList();
    }

    /**
     * All members follow one leader, and nothing is under way in its log: an operator's change whose outcome was
     * unknown has come to its end, too, and does not take effect behind the one that takes it back.
     */
    boolean isQuiet() {
        int leader = leader();
        if (leader == 0) {
            return false;
        }
        LogStatus status = log(leader).status();
        return status.appliedIndex() == status.lastIndex()
                && living().stream()
                        .filter(configuration().members()::containsKey)
                        .allMatch(id -> log(id).status().leader() == leader);
    }

    /** Whether these members are voters, run, and have all that is committed. */
    boolean areBack(Set<Integer> ids) {
        int leader = leader();
        if (leader == 0 || configuration().isJoint()) {
            return false;
        }
        for (int id : ids) {
            SimulatedMember member = members.get(id);
            if (!member.isAlive()
                    || member.isClosing()
                    || !configuration().voters().contains(id)
                    || configuration().members().get(id).directory() != member.directory()
                    || log(id).status().appliedIndex() < log(leader).status().commitIndex()) {
                return false;
            }
        }
        return true;
    }
}
