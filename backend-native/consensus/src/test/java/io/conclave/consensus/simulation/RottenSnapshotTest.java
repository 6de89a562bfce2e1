package io.conclave.consensus.simulation;

import static io.conclave.consensus.simulation.EnsembleSimulation.SECOND_US;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.DiskState;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The disk damages a snapshot while its member runs. */
class RottenSnapshotTest {
    private static final int STATE_BYTES = 300_000;

    private final EnsembleSimulation simulation = new EnsembleSimulation(1, true);

    /** A call of the stores that is left out. */
    private String ignored = "";

    private void startThree() {
        simulation.snapshotPadding = () -> STATE_BYTES;
        simulation.windowBytes = 64_000;
        simulation.add(1, 2, 3);
        simulation.members.forEach(
                (id, member) -> member.mistakenStore(store -> MistakenStore.thatIgnores(ignored, store)));
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
    }

    private void write(int seconds) {
        long untilUs = simulation.time.nowUs() + seconds * SECOND_US;
        while (simulation.time.nowUs() < untilUs) {
            simulation.propose(simulation.leader(), 7_000);
            simulation.runFor(5_000);
        }
    }

    private List<String> files(int member, String prefix, String suffix) {
        return simulation.members.get(member).disk().list().stream()
                .filter(name -> name.startsWith(prefix) && name.endsWith(suffix))
                .sorted()
                .toList();
    }

    private String damageNewestOf(int member) {
        List<String> snapshots = files(member, "snapshot-", ".snap");
        String newest = snapshots.get(snapshots.size() - 1);
        simulation.members.get(member).disk().flipBit(newest, STATE_BYTES / 3);
        return newest;
    }

    /** Wipes a member, damages the leader's newest snapshot, and starts the member again, without further writes. */
    private int wipeAndDamage() {
        startThree();
        write(3);
        int late = simulation.leader() % 3 + 1;
        simulation.members.get(late).wipe();
        write(2);
        damageNewestOf(simulation.leader());
        simulation.start(late, false);
        return late;
    }

    private void awaitService(int member) {
        simulation.await("service of " + member, 30, () -> simulation.application(member).serving);
    }

    @Test
    void aMemberIsBroughtUpThoughTheLeadersNewestSnapshotIsDamaged() {
        int late = wipeAndDamage();
        int leader = simulation.leader();
        awaitService(late);
        assertEquals(leader, simulation.leader());
        assertEquals(1, files(leader, "snapshot-", ".damaged").size());
        simulation.settle();
    }

    @Test
    void theLeadersLogDoesNotGrowWhileTheMemberIsBroughtUp() {
        int late = wipeAndDamage();
        int leader = simulation.leader();
        write(30);
        assertTrue(simulation.application(late).serving, simulation::describe);
        int left = files(leader, "segment-", ".log").size();
        assertTrue(left < 60, "left: " + left);
        simulation.settle();
    }

    @Test
    void damageIsFoundBeforeTheSnapshotIsNeeded() {
        simulation.snapshotCheckEveryMs = 10_000;
        startThree();
        write(3);
        int leader = simulation.leader();
        String damaged = damageNewestOf(leader);
        awaitThatItIsSetAside(leader, damaged);
        simulation.await(
                "another one", 5, () -> files(leader, "snapshot-", ".snap").size() == 2);
        simulation.members.get(leader).losePower();
        simulation.settle();
    }

    /** A member that has no snapshot but the one that it has received. */
    private int receiveOne() {
        simulation.snapshotCheckEveryMs = 10_000;
        startThree();
        int late = simulation.leader() % 3 + 1;
        simulation.members.get(late).losePower();
        write(8);
        simulation.snapshotEveryEntries = 1_000_000;
        simulation.start(late, false);
        awaitService(late);
        assertEquals(1, simulation.application(late).installs);
        assertEquals(1, files(late, "snapshot-", ".snap").size());
        return late;
    }

    private void awaitThatItIsSetAside(int member, String damaged) {
        simulation.await(
                "that it is set aside",
                25,
                () -> files(member, damaged, ".damaged").size() == 1);
    }

    /** Nothing is written after it was received, so nothing else gives occasion to take one. */
    @Test
    void aReceivedOneThatIsDamagedIsTakenAgainThoughNothingIsWritten() {
        int late = receiveOne();
        awaitThatItIsSetAside(late, damageNewestOf(late));
        simulation.await(
                "another one", 5, () -> files(late, "snapshot-", ".snap").size() == 1);
        simulation.members.get(late).losePower();
        simulation.settle();
    }

    @Test
    void aReceivedOneThatIsDamagedWhileTheDiskIsFullIsTakenAgainWhenThereIsRoom() {
        int late = receiveOne();
        SimulatedMember member = simulation.members.get(late);
        member.disk().capacity(member.disk().used());
        awaitThatItIsSetAside(late, damageNewestOf(late));
        simulation.runFor(5 * SECOND_US);
        assertEquals(List.of(), files(late, "snapshot-", ".snap"));
        member.disk().capacity(Long.MAX_VALUE);
        simulation.await(
                "another one", 61, () -> files(late, "snapshot-", ".snap").size() == 1);
        member.losePower();
        simulation.settle();
    }

    /** A disk without room for the log has the newest snapshot checked at once, and says when there is room again. */
    @Test
    void whereTheLogHadNoRoomEitherItIsTakenAgainAtOnce() {
        int late = receiveOne();
        SimulatedMember member = simulation.members.get(late);
        String damaged = damageNewestOf(late);
        member.disk().capacity(member.disk().used());
        write(1);
        assertEquals(DiskState.FULL, simulation.log(late).status().disk());
        assertEquals(List.of(damaged + ".damaged"), files(late, "snapshot-", ""));
        member.disk().capacity(Long.MAX_VALUE);
        simulation.await(
                "another one", 5, () -> files(late, "snapshot-", ".snap").size() == 1);
        member.losePower();
        simulation.settle();
    }

    @Test
    void anOlderOneIsCheckedToo() {
        simulation.snapshotCheckEveryMs = 10_000;
        startThree();
        write(3);
        int leader = simulation.leader();
        String oldest = files(leader, "snapshot-", ".snap").get(0);
        simulation.members.get(leader).disk().flipBit(oldest, STATE_BYTES / 3);
        simulation.await(
                "that it is set aside",
                35,
                () -> files(leader, oldest, ".damaged").size() == 1);
        simulation.settle();
    }

    /** The planted mistake: the snapshot that others cannot use is not checked. */
    @Test
    void withoutTheCheckNoMemberCatchesUp() {
        ignored = "suspectSnapshot";
        int late = wipeAndDamage();
        assertThrows(AssertionError.class, () -> awaitService(late));
    }
}
