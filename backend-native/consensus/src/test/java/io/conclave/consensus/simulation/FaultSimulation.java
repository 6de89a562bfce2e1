package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * An ensemble under random faults, all from one seed: processes are killed, machines lose power (also in the middle of
 * a write), directories are wiped, snapshots rot, links break and are cut, processes stand still, disks fill up,
 * leadership is handed over, members are closed; while all members propose and read.
 */
final class FaultSimulation {
    final EnsembleSimulation ensemble;
    private final Random random;
    private final boolean durable;
    private final int size;
    private int wiped;

    /** Beyond what Raft assumes: disks that are set back to an older state, an operator's mistakes, terms that jump. */
    private final Random edges;

    private final boolean hasEdges;

    private final ReaderFaults readers;

    /** The operator has changed the members: fewer may vote from then on, so no more disks are lost. */
    private boolean meddled;

    /** And has asked for what was before. */
    private boolean takenBack;

    /** By member: what its disk held some time ago. */
    private final Map<Integer, Map<String, byte[]>> images = new HashMap<>();

    /** They lose power soon. */
    private final Set<Integer> losingPower = new HashSet<>();

    /** For disks that fill up at the same time. */
    private final Random rooms;

    /** All disks are full at times, and the leader refuses what is forwarded to it then. */
    boolean disksFillTogether;

    private final SnapshotRot rot;
    private final Map<String, Integer> counts = new TreeMap<>();

    FaultSimulation(long seed) {
        this(seed, false);
    }

    /** @param withEdges also what Raft does not assume */
    FaultSimulation(long seed, boolean withEdges) {
        random = new Random(seed * 7919);
        edges = new Random(seed * 104_729);
        rooms = new Random(seed * 15_485_863);
        hasEdges = withEdges;
        rot = new SnapshotRot(new Random(seed * 104_729));
        durable = random.nextInt(5) != 0;
        size = random.nextInt(4) == 0 ? 5 : 3;
        ensemble = new EnsembleSimulation(seed, durable);
        readers = new ReaderFaults(ensemble, new Random(seed * 1_299_709), durable, size);
        ensemble.snapshotEveryEntries = 20 + random.nextInt(400);
        if (random.nextBoolean()) {
            ensemble.windowBytes = 4_000 + random.nextInt(20_000);
        }
        if (rot.isCheckedOften()) {
            ensemble.snapshotCheckEveryMs = 2_000;
        }
        for (int id = 1; id <= size; id++) {
            ensemble.add(id);
        }
    }

    void run() {
        ensemble.startAll();
        if (random.nextInt(3) != 0) {
            ensemble.await(
                    "growth",
                    60,
                    () -> ensemble.leader() != 0
                            && ensemble.configuration().voters().size() == size);
        } else {
            ensemble.runFor(random.nextInt(500_000));
        }
        if (disksFillTogether) {
            ensemble.raiseLevel();
        }
        if (random.nextInt(3) == 0) {
            ensemble.network.delayUs(20_000 + random.nextInt(50_000));
        }
        int rounds = 20 + random.nextInt(100);
        for (int round = 0; round < rounds; round++) {
            work();
            if (random.nextInt(3) == 0) {
                fault();
            }
            if (hasEdges && edges.nextInt(8) == 0) {
                edge();
            }
            if (disksFillTogether) {
                fillOrEmptyDisks();
            }
            readers.strike();
            if (durable) {
                boolean rotten =
                        rot.strike(ensemble.members.get(1 + round % size).disk());
                counts.merge("snapshot rots", rotten ? 1 : 0, Integer::sum);
            }
            ensemble.runFor(random.nextInt(random.nextInt(4) == 0 ? 1_500_000 : 100_000));
        }
        ensemble.network.delayUs(300);
        if (hasEdges) {
            putBack();
            if (isMajoritySetBack()) {
                count("a majority was set back");
                return;
            }
        }
        ensemble.settle();
    }

    /**
     * Whether the members can go on only by an operator's word: a majority of the disks was set back, and so many
     * members take no part that the others are none. Anything less has to heal by itself; see docs/decisions/0033.
     */
    private boolean isMajoritySetBack() {
        for (int second = 0; second < 60 && isMajoritySuspended(); second++) {
            ensemble.members.values().forEach(this::repair);
            ensemble.runFor(EnsembleSimulation.SECOND_US);
        }
        return isMajoritySuspended()
                && ensemble.members.values().stream()
                                .filter(SimulatedMember::isSetBack)
                                .count()
                        > size / 2;
    }

    private boolean isMajoritySuspended() {
        long sound = ensemble.members.values().stream()
                .filter(member -> !member.isSuspended())
                .count();
        return sound <= size / 2;
    }

    private void work() {
        for (int id : ensemble.living()) {
            int count = random.nextInt(6);
            for (int i = 0; i < count; i++) {
                ensemble.propose(id, random.nextInt(10) == 0 ? random.nextInt(8_000) : random.nextInt(300));
            }
            if (random.nextInt(3) == 0) {
                ensemble.read(id);
            }
            if (random.nextInt(3) == 0) {
                ensemble.readIndex(id);
            }
        }
    }

    private void fault() {
        int id = 1 + random.nextInt(size);
        SimulatedMember member = ensemble.members.get(id);
        switch (random.nextInt(15)) {
            case 0, 1 -> die(member);
            case 2, 3, 4 -> revive();
            case 5 -> ensemble.network.reset(id, 1 + random.nextInt(size));
            case 6 -> ensemble.network.cut(id, 1 + random.nextInt(size));
            case 7 -> ensemble.network.isolate(id);
            case 8, 9 -> ensemble.network.heal();
            case 10 -> member.pause(random.nextInt(random.nextBoolean() ? 300_000 : 5_000_000));
            case 11 -> transferLeadership();
            case 12 -> limit(member);
            case 13 -> dieInTheMiddle(member);
            default -> close(member);
        }
    }

    private void edge() {
        int id = 1 + edges.nextInt(size);
        SimulatedMember member = ensemble.members.get(id);
        switch (edges.nextInt(7)) {
            case 0 -> images.put(id, member.image());
            case 1 -> goBack();
            case 2 -> {
                if (ensemble.leader() != 0 && meddled) {
                    takeBack();
                    takenBack = true;
                } else if (ensemble.leader() != 0 && mayLose()) {
                    count("change of the members by an operator");
                    meddled();
                    ensemble.change(mistake(id));
                }
            }
            case 3 -> loseMajority(member);
            case 4 -> {
                if (member.isAlive() && durable && mayLose()) {
                    failSync(member);
                }
            }
            case 5 -> tearWhileOthersAreDown();
            default -> jump(id % size + 1, member);
        }
    }

    /** Pages that count as clean are lost with the next loss of power, which comes soon. */
    private void failSync(SimulatedMember member) {
        member.disk().failSyncAfter(1 + edges.nextInt(20), edges.nextBoolean() ? "vote" : "");
        losingPower.add(member.id());
        ensemble.time.after(edges.nextInt(2_000_000), () -> {
            if (losingPower.remove(member.id()) && member.isAlive() && mayLose()) {
                member.losePower();
            }
        });
    }

    private void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    /** What has happened of what Raft does not assume. */
    Map<String, Integer> counts() {
        Map<String, Integer> all = new TreeMap<>(counts);
        ensemble.members.values().forEach(member -> {
            all.merge("disk found to have gone back", member.foundOut(), Integer::sum);
            all.merge("sync failed, pages are clean", member.failedSyncs(), Integer::sum);
        });
        return all;
    }

    /** A member whose disk has an older image gets that back. */
    private void goBack() {
        if (durable && !images.isEmpty() && comesWhole()) {
            count("disk restored from an older image");
            List<Integer> ids = new ArrayList<>(images.keySet());
            SimulatedMember member = ensemble.members.get(ids.get(edges.nextInt(ids.size())));
            wiped(member);
            member.restore(images.get(member.id()));
            rot.spare(member.disk());
        }
    }

    private MembershipChange mistake(int id) {
        return edges.nextBoolean()
                ? new MembershipChange.Remove(id)
                : new MembershipChange.Put(EnsembleSimulation.member(id, true));
    }

    /** One voter is dead, and an operator takes the vote of a living one: the remaining voters serve. */
    private void loseMajority(SimulatedMember dead) {
        if (!durable || !comesWhole()) {
            return;
        }
        dead.kill();
        ensemble.runFor(3 * EnsembleSimulation.SECOND_US);
        if (ensemble.leader() == 0) {
            return;
        }
        count("change of a living voter while another one is dead");
        meddled();
        ensemble.change(mistake(dead.id() % size + 1));
        ensemble.runFor(5 * EnsembleSimulation.SECOND_US);
        ensemble.await(
                "a leader while " + dead.id() + " is dead",
                30,
                () -> ensemble.leader() != 0 && ensemble.application(ensemble.leader()).serving);
    }

    /** The leader, which lives on, has all that was lost: it needs none of the dead to lead again. */
    private void tearWhileOthersAreDown() {
        if (!durable || !comesWhole()) {
            return;
        }
        TornTail tail = new TornTail(ensemble);
        if (!tail.lose(edges)) {
            disarm(ensemble.members.get(tail.loser));
            return;
        }
        counts.merge("torn tail while others are down", tail.startLoser() ? 1 : 0, Integer::sum);
        ensemble.await(
                "a leader while " + tail.down + " are down",
                30,
                () -> ensemble.leader() != 0 && ensemble.application(ensemble.leader()).serving);
    }

    private void meddled() {
        meddled = true;
        takenBack = false;
    }

    /** Repairs everything; whether the ensemble is whole a moment later. */
    private boolean comesWhole() {
        ensemble.network.heal();
        ensemble.members.values().forEach(this::repair);
        for (int second = 0; second < 10 && !mayWipe(); second++) {
            ensemble.runFor(EnsembleSimulation.SECOND_US);
        }
        return mayWipe();
    }

    private void repair(SimulatedMember member) {
        member.disk().capacity(Long.MAX_VALUE);
        disarm(member);
        if (!member.isAlive()) {
            ensemble.start(member.id(), false);
        }
    }

    private void disarm(SimulatedMember member) {
        losingPower.remove(member.id());
        member.disk().failAfter(-1);
        member.disk().failSyncAfter(-1, "");
    }

    private void jump(int from, SimulatedMember to) {
        if (to.isAlive() && ensemble.members.get(from).isAlive()) {
            count("term that jumps");
            long directory = ensemble.members.get(from).directory();
            ensemble.network.send(from, directory, to.id(), JumpingTerms.message(edges, to.directory()));
        }
    }

    /** The operator takes its mistakes back. */
    private void putBack() {
        ensemble.network.heal();
        for (int second = 0; second < 120; second++) {
            ensemble.members.values().forEach(this::repair);
            ensemble.runFor(EnsembleSimulation.SECOND_US);
            if (ensemble.isQuiet() && takeBack()) {
                return;
            }
        }
    }

    /** Whether all are members that may vote. */
    private boolean takeBack() {
        boolean all = true;
        for (int id : ensemble.members.keySet()) {
            EnsembleMember member = ensemble.configuration().members().get(id);
            if (member == null || member.observer()) {
                all = false;
                ensemble.change(new MembershipChange.Put(EnsembleSimulation.member(id, false)));
            }
        }
        return all;
    }

    /** A wiped member may come back only while the others, a majority, keep what was acknowledged. */
    private void die(SimulatedMember member) {
        if (!member.isAlive()) {
            return;
        }
        if (!durable || random.nextInt(8) == 0) {
            if (mayWipe()) {
                wiped(member);
                member.wipe();
            }
        } else if (random.nextBoolean() || !mayLose()) {
            member.kill();
        } else {
            member.losePower();
        }
    }

    /**
     * One at a time, and only out of a whole ensemble: a member that has lost its log has lost what it acknowledged.
     */
    private boolean mayWipe() {
        boolean allAreBack = ensemble.areBack(ensemble.members.keySet());
        if (takenBack && allAreBack && ensemble.isQuiet()) {
            meddled = false;
            takenBack = false;
        }
        return !meddled && allAreBack;
    }

    /** No other member may lose the end of its log until the one that lost all is a voter again. */
    private boolean mayLose() {
        if (wiped != 0 && ensemble.areBack(Set.of(wiped))) {
            wiped = 0;
        }
        return wiped == 0;
    }

    private void wiped(SimulatedMember member) {
        wiped = member.id();
        ensemble.members.values().forEach(this::disarm);
    }

    private void dieInTheMiddle(SimulatedMember member) {
        if (member.isAlive() && durable && mayLose()) {
            member.disk().failAfter(1 + random.nextInt(60));
        }
    }

    private void revive() {
        for (SimulatedMember member : ensemble.members.values()) {
            if (!member.isAlive() && random.nextBoolean()) {
                ensemble.start(member.id(), false);
                return;
            }
        }
    }

    private void transferLeadership() {
        int leader = ensemble.leader();
        if (leader != 0) {
            ensemble.log(leader).transferLeadership(random.nextBoolean() ? 0 : 1 + random.nextInt(size));
        }
    }

    private void limit(SimulatedMember member) {
        SimulatedDisk disk = member.disk();
        rot.spare(disk);
        disk.capacity(random.nextBoolean() ? Long.MAX_VALUE : disk.used() + random.nextInt(128 * 1024));
    }

    /** Links break and leaders change more often meanwhile, so that some things are sent more than once. */
    private void fillOrEmptyDisks() {
        switch (rooms.nextInt(12)) {
            case 0, 1 ->
                ensemble.members.values().forEach(member -> {
                    rot.spare(member.disk());
                    member.disk().capacity(member.disk().used() + rooms.nextInt(8 * 1024));
                });
            case 2 -> ensemble.members.values().forEach(member -> member.disk().capacity(Long.MAX_VALUE));
            case 3, 4 -> ensemble.network.reset(1 + rooms.nextInt(size), 1 + rooms.nextInt(size));
            case 5 -> transferLeadership();
            default -> {}
        }
    }

    private void close(SimulatedMember member) {
        if (member.isAlive() && (durable || mayWipe())) {
            if (!durable) {
                wiped(member);
            }
            member.close();
        }
    }

    /** For tests that want to see that something happened. */
    void requireWork() {
        assertTrue(ensemble.history.acknowledgedCount() > 0, "nothing was acknowledged");
    }
}
