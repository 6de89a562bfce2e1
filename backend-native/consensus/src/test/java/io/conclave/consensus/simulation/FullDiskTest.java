package io.conclave.consensus.simulation;

import static io.conclave.consensus.simulation.EnsembleSimulation.SECOND_US;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.disk.MistakenWrites;
import io.conclave.consensus.member.CoreFactory;
import org.junit.jupiter.api.Test;

/** Members whose disk has no room for what they are to take in: they wait, and go on when there is some. */
class FullDiskTest {
    private static final int REFUSED = 200;

    private static EnsembleSimulation three() {
        EnsembleSimulation simulation = new EnsembleSimulation(1, true);
        simulation.snapshotPadding = () -> 3_000_000;
        simulation.windowBytes = 64_000;
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        return simulation;
    }

    private static void write(EnsembleSimulation simulation, int count) {
        for (int i = 0; i < count; i++) {
            simulation.propose(simulation.leader(), 7_000);
            simulation.runFor(5_000);
        }
    }

    private static void awaitVoteOf(EnsembleSimulation simulation, int id) {
        simulation.await(
                "the vote of " + id,
                30,
                () -> simulation.leader() != 0
                        && simulation.configuration().voters().contains(id)
                        && simulation.configuration().members().get(id).directory()
                                == simulation.members.get(id).directory());
    }

    @Test
    void aMemberWithoutRoomForASnapshotIsSentItAgainWhenThereIsSome() {
        EnsembleSimulation simulation = three();
        int late = simulation.leader() % 3 + 1;
        SimulatedMember member = simulation.members.get(late);
        member.wipe();
        write(simulation, 200);
        member.disk().capacity(1_500_000);
        simulation.start(late, false);
        simulation.runFor(20 * SECOND_US);
        assertTrue(member.isAlive());
        assertEquals(LogRole.FOLLOWING, simulation.log(late).status().role());
        assertEquals(0, simulation.application(late).installs);
        member.disk().capacity(Long.MAX_VALUE);
        awaitVoteOf(simulation, late);
        simulation.settle();
    }

    /** The simulation's own proof: it tolerates no member that ends for want of space while it works. */
    @Test
    void aMemberThatEndsForWantOfRoomIsAViolation() {
        EnsembleSimulation simulation = three();
        int late = simulation.leader() % 3 + 1;
        SimulatedMember member = simulation.members.get(late);
        member.wipe();
        member.mistaken(
                CoreFactory.RAFT,
                disk -> new MistakenWrites(disk, (file, source, position) -> {
                    throw new DiskFullException("no room");
                }));
        simulation.start(late, false);
        AssertionError violation = assertThrows(AssertionError.class, () -> simulation.runFor(20 * SECOND_US));
        assertTrue(violation.getMessage().contains("the log of member " + late), violation::getMessage);
    }

    /** An installed snapshot leaves no segment of the log before it, and the next one may not be made yet. */
    @Test
    void aVoterWhoseFullDiskHasNoSegmentStartsAndVotesAndWritesWhenThereIsRoom() {
        EnsembleSimulation simulation = three();
        int leader = simulation.leader();
        int late = leader % 3 + 1;
        int other = late % 3 + 1;
        SimulatedMember member = simulation.members.get(late);
        member.kill();
        write(simulation, 200);
        simulation.start(late, false);
        simulation.await("a snapshot", 30, () -> simulation.application(late).installs == 1);
        member.kill();
        member.disk().capacity(member.disk().used());
        simulation.members.get(leader).kill();
        simulation.start(late, false);
        assertTrue(member.isAlive());
        simulation.await(
                "a leader by its vote",
                20,
                () -> simulation.log(late).status().leader() == other
                        && simulation.log(other).status().leader() == other);
        member.disk().capacity(Long.MAX_VALUE);
        simulation.settle();
    }

    /** Each of them had room when it was taken. */
    @Test
    void theOnlyVoterClosesThoughWhatItHasTakenDoesNotFitOnItsDisk() {
        EnsembleSimulation simulation = new EnsembleSimulation(1, true);
        simulation.add(1, 2);
        simulation.listed.put(2, EnsembleSimulation.member(2, true));
        simulation.startAll();
        simulation.await("service", 20, () -> simulation.application(2).serving);
        SimulatedMember member = simulation.members.get(1);
        member.disk().capacity(member.disk().used());
        simulation.await("a full disk", 60, () -> {
            for (int i = 0; i < 5; i++) {
                simulation.propose(1, 1_000);
                simulation.read(1);
            }
            return simulation.log(1).status().disk() == DiskState.FULL;
        });
        simulation.runFor(SECOND_US);
        assertTrue(simulation.application(1).open.size() > 0, "all were written or rejected");
        member.close();
        simulation.await("its end", 20, () -> !member.isAlive());
    }

    /** The one with most of the log is full as well, and would be chosen each time. */
    @Test
    void leadershipGoesPastAMemberWhoseDiskIsFullTooToOneThatHasRoom() {
        EnsembleSimulation simulation = new EnsembleSimulation(1, true);
        simulation.add(1, 2, 3, 4, 5);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3, 4, 5);
        for (int id : new int[] {1, 2}) {
            SimulatedMember member = simulation.members.get(id);
            member.disk().capacity(member.disk().used());
        }
        simulation.await("full disks", 120, () -> {
            simulation.propose(3, 900);
            return isFull(simulation, 1) && isFull(simulation, 2);
        });
        assertTrue(simulation.propose(3, 900));
        simulation.await("its outcome", 30, simulation.application(3).open::isEmpty);
        assertTrue(simulation.leader() > 2, simulation::describe);
        simulation.settle();
    }

    private static boolean isFull(EnsembleSimulation simulation, int id) {
        return simulation.log(id).status().disk() == DiskState.FULL;
    }

    private static void takeRoom(EnsembleSimulation simulation) {
        simulation.members.values().forEach(member -> member.disk()
                .capacity(member.disk().used()));
    }

    private static void makeRoom(EnsembleSimulation simulation) {
        simulation.members.values().forEach(member -> member.disk().capacity(Long.MAX_VALUE));
    }

    /** By small writes: a leader sends several at a time, so that also followers get more than they have room for. */
    private static void fillDisks(EnsembleSimulation simulation) {
        takeRoom(simulation);
        simulation.await("full disks", 60, () -> {
            for (int i = 0; i < 8; i++) {
                simulation.members.keySet().forEach(id -> simulation.propose(id, 900));
            }
            return simulation.leader() != 0
                    && simulation.members.keySet().stream().allMatch(id -> isFull(simulation, id));
        });
    }

    /** So many entries wait on the leader that one more small one, which would fit alone, finds no room with them. */
    private static void haveRefused(EnsembleSimulation simulation, int member) {
        for (int i = 0; i < REFUSED; i++) {
            simulation.propose(member, 900);
        }
        simulation.await(
                "the refusals", 20, () -> simulation.application(member).open.isEmpty());
    }

    /** No member has room, so that the leader cannot propose what it was sent, and no member can take over. */
    @Test
    void proposalsForwardedAgainOnANewLinkDoNotCountTwiceAsWaiting() {
        EnsembleSimulation simulation = three();
        fillDisks(simulation);
        simulation.runFor(SECOND_US);
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        long last = simulation.log(leader).status().lastIndex();
        for (int i = 0; i < 20; i++) {
            simulation.propose(follower, 7_000);
        }
        for (int i = 0; i < 20; i++) {
            simulation.network.reset(follower, leader);
            simulation.runFor(SECOND_US / 10);
        }
        assertEquals(leader, simulation.leader());
        makeRoom(simulation);
        simulation.settle();
        long added = simulation.log(simulation.leader()).status().lastIndex() - last;
        assertTrue(added < 80, "the log has " + added + " entries more");
    }

    /** Three whose disks are full. */
    private static EnsembleSimulation threeThatAreFull() {
        EnsembleSimulation simulation = three();
        simulation.raiseLevel();
        fillDisks(simulation);
        simulation.await("all refused", 20, () -> simulation.applications.values().stream()
                .allMatch(application -> application.open.isEmpty()));
        return simulation;
    }

    @Test
    void aWriteThroughAFollowerIsRefusedWhileNobodyHasRoomAndReadsBehindItGoOn() {
        EnsembleSimulation simulation = threeThatAreFull();
        int follower = simulation.leader() % 3 + 1;
        for (int i = 0; i < 5; i++) {
            int refused = simulation.history.rejectedElsewhere;
            int reads = simulation.reads;
            assertTrue(simulation.propose(follower, 7_000));
            simulation.read(follower);
            simulation.await(
                    "its refusal",
                    2,
                    () -> simulation.application(follower).open.isEmpty());
            simulation.await("the read", 2, () -> simulation.reads > reads);
            assertEquals(refused + 1, simulation.history.rejectedElsewhere);
            simulation.runFor(SECOND_US);
        }
        makeRoom(simulation);
        simulation.await("a write", 10, () -> {
            int before = simulation.history.acknowledgedCount();
            simulation.propose(follower, 900);
            simulation.runFor(SECOND_US / 10);
            return simulation.history.acknowledgedCount() > before;
        });
        simulation.settle();
    }

    /** The small one finds no room, and leaves an entry that finds none either in front of the large one. */
    @Test
    void aLargeWriteBehindASmallOneIsRefusedToo() {
        EnsembleSimulation simulation = threeThatAreFull();
        int follower = simulation.leader() % 3 + 1;
        for (int i = 0; i < 5; i++) {
            int reads = simulation.reads;
            assertTrue(simulation.propose(follower, 100));
            assertTrue(simulation.propose(follower, 7_000));
            assertTrue(simulation.propose(follower, 100));
            simulation.read(follower);
            simulation.await(
                    "the refusals",
                    2,
                    () -> simulation.application(follower).open.isEmpty());
            simulation.await("the read", 2, () -> simulation.reads > reads);
        }
        makeRoom(simulation);
        simulation.settle();
    }

    /** What was refused in the last term still waits for room, and the new leader has to say so again. */
    @Test
    void aLargeWriteIsRefusedByALeaderThatFoundOthersWaiting() {
        EnsembleSimulation simulation = threeThatAreFull();
        int leader = simulation.leader();
        haveRefused(simulation, leader % 3 + 1);
        haveRefused(simulation, (leader + 1) % 3 + 1);
        simulation.network.isolate(leader);
        simulation.await("another leader", 30, () -> simulation.leader() != 0 && simulation.leader() != leader);
        simulation.network.heal();
        int other = 6 - leader - simulation.leader();
        assertTrue(simulation.propose(other, 7_000));
        int reads = simulation.reads;
        simulation.read(other);
        simulation.await(
                "the refusal", 20, () -> simulation.application(other).open.isEmpty());
        simulation.await("the read", 2, () -> simulation.reads > reads);
        makeRoom(simulation);
        simulation.settle();
    }

    @Test
    void aRefusalThatALinkHasLostIsSaidAgainOnTheNext() {
        EnsembleSimulation simulation = threeThatAreFull();
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        haveRefused(simulation, 6 - leader - follower);
        simulation.network.cut(leader, follower);
        assertTrue(simulation.propose(follower, 100));
        simulation.runFor(SECOND_US / 5);
        assertEquals(1, simulation.application(follower).open.size());
        simulation.network.heal();
        simulation.await(
                "the refusal", 5, () -> simulation.application(follower).open.isEmpty());
        assertEquals(leader, simulation.leader());
        makeRoom(simulation);
        simulation.settle();
    }

    /** Another copy of it may be in a log, for all that this member knows. */
    @Test
    void aWriteThatWasSentTwiceStaysOpenUntilAnEntryOfItsNumberIsApplied() {
        EnsembleSimulation simulation = three();
        simulation.raiseLevel();
        takeRoom(simulation);
        simulation.await("full disks", 60, () -> {
            simulation.propose(simulation.leader(), 900);
            return isFull(simulation, simulation.leader());
        });
        simulation.runFor(SECOND_US);
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        int refused = simulation.history.rejectedElsewhere;
        simulation.network.delayUs(follower, leader, 200_000);
        assertTrue(simulation.propose(follower, 7_000));
        simulation.runFor(50_000);
        simulation.network.reset(follower, leader);
        simulation.network.delayUs(follower, leader, 0);
        simulation.runFor(20 * SECOND_US);
        assertEquals(1, simulation.application(follower).open.size());
        makeRoom(simulation);
        simulation.await(
                "its outcome", 20, () -> simulation.application(follower).open.isEmpty());
        assertEquals(refused + 1, simulation.history.rejectedElsewhere);
        simulation.settle();
    }

    @Test
    void anEmptyDirectoryWithoutRoomJoinsWhenThereIsSome() {
        EnsembleSimulation simulation = three();
        int wiped = simulation.leader() % 3 + 1;
        SimulatedMember member = simulation.members.get(wiped);
        for (int room : new int[] {0, 5_000, 20_000}) {
            member.wipe();
            member.disk().capacity(room);
            simulation.start(wiped, false);
            simulation.runFor(10 * SECOND_US);
            assertTrue(member.isAlive());
            assertEquals(LogRole.JOINING, simulation.log(wiped).status().role());
            member.disk().capacity(Long.MAX_VALUE);
            awaitVoteOf(simulation, wiped);
        }
        simulation.settle();
    }
}
