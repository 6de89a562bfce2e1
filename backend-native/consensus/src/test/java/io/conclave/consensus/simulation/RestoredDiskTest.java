package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.core.PeerMessage.Greeting;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.consensus.store.LogDirectory;
import io.conclave.testkit.Sample;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Disks set back to an older state: their members never lead, and come back without their logs. */
@Tag("sampled")
class RestoredDiskTest {
    private static final long SECOND = EnsembleSimulation.SECOND_US;

    static LongStream seeds() {
        return LongStream.rangeClosed(1, Sample.of(12));
    }

    static EnsembleSimulation founded(long seed) {
        EnsembleSimulation simulation = new EnsembleSimulation(seed, true);
        simulation.snapshotPadding = () -> 0;
        simulation.add(1, 2, 3);
        return simulation;
    }

    static void write(EnsembleSimulation simulation, int seconds) {
        long until = simulation.time.nowUs() + seconds * SECOND;
        while (simulation.time.nowUs() < until) {
            int leader = simulation.leader();
            if (leader != 0) {
                simulation.propose(leader, 100);
            }
            simulation.runFor(10_000);
        }
    }

    /** The image is from the time when member 1 was the only voter; the links come in any order. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aFounderWithTheDiskOfItsBootstrapNeverLeadsAndIsTakenInAgain(long seed) {
        aFounderGoesBack(founded(seed));
    }

    static void aFounderGoesBack(EnsembleSimulation simulation) {
        Map<String, byte[]> image = imageOfTheFounder(simulation);
        simulation.members.get(1).restore(image);
        simulation.start(1, false);
        SimulatedMember restored = simulation.members.get(1);
        simulation.await("it is found out", 5, () -> {
            assertFalse(simulation.leader() == 1, "it leads");
            return !restored.isAlive();
        });
        assertEquals(1, restored.foundOut());
        simulation.await("the others serve", 5, () -> simulation.leader() > 1);

        simulation.start(1, false);
        simulation.settle();
        assertTrue(restored.disk().list().stream().anyMatch(name -> name.startsWith("set-aside-1-segment")));
    }

    /** A cluster of three without its founder, and the founder's disk from the time when it was the only voter. */
    private static Map<String, byte[]> imageOfTheFounder(EnsembleSimulation simulation) {
        simulation.start(1);
        simulation.runFor(3 * SECOND);
        for (int i = 0; i < 20; i++) {
            simulation.propose(1, 50);
            simulation.runFor(SECOND / 10);
        }
        Map<String, byte[]> image = simulation.members.get(1).image();
        simulation.start(2);
        simulation.start(3);
        simulation.awaitVoters(1, 2, 3);
        write(simulation, 1);
        simulation.members.get(1).wipe();
        simulation.await("another leader", 10, () -> simulation.leader() > 1);
        write(simulation, 1);
        return image;
    }

    /** Greetings are lost, so the comparison of what is committed is the only defence. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aBootstrappedMemberCutOffFromOthersLeadsAloneUntilAFollowerContradictsIt(long seed) {
        aFounderGoesBackUngreeted(founded(seed));
    }

    /** It serves alone for a while, cut off from the leader of the others; what it does then is its own history. */
    static void aFounderGoesBackUngreeted(EnsembleSimulation simulation) {
        Map<String, byte[]> image = imageOfTheFounder(simulation);
        for (int i = 0; i < 3; i++) { // so that it does not lead in the same term
            simulation.log(simulation.leader()).transferLeadership(0);
            simulation.runFor(SECOND);
        }
        SimulatedMember restored = simulation.members.get(1);
        simulation.members.values().forEach(member -> member.ignoring(Greeting.class::isInstance));
        restored.restore(image);
        simulation.apart.put(1, new EnsembleHistory(1_000_000));
        simulation.network.isolate(1);
        simulation.start(1, false);
        simulation.log(1).readBarrier(() -> {});
        simulation.await("it leads alone", 5, () -> simulation.application(1).leadingTerm != 0);
        int leader = simulation.leader();
        simulation.network.heal();
        if (leader > 1) {
            simulation.network.cut(leader, 1);
            simulation.network.cut(1, leader);
        }
        simulation.runFor(SECOND / 2);
        simulation.network.heal();
        simulation.runFor(5 * SECOND);
        simulation.apart.clear();
        if (!restored.isAlive()) {
            OfflineLog.setAside(restored.disk()); // as it tells its operator to
        }
        simulation.settle();
    }

    /** One of the two that have the last writes goes back to an earlier start, and the other one is dead. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aVoterThatHasLostTheLastWritesElectsNoCandidateThatLacksThem(long seed) {
        aVoterGoesBackThatIsNeeded(founded(seed));
    }

    static void aVoterGoesBackThatIsNeeded(EnsembleSimulation simulation) {
        SimulatedMember member = goneBackWhileItIsNeeded(simulation);
        simulation.runFor(10 * SECOND);
        simulation.settle();
        assertEquals(1, member.foundOut(), "how often it was found out");
    }

    /** One member alone cannot take it in again, so its log stays until there is a majority without it. */
    @ParameterizedTest
    @MethodSource("seeds")
    void oneThatIsNeededKeepsItsLogAndTakesNoPartAlsoAfterARestart(long seed) {
        EnsembleSimulation simulation = founded(seed);
        SimulatedMember member = goneBackWhileItIsNeeded(simulation);
        for (int start = 0; start < 3; start++) {
            simulation.runFor(5 * SECOND);
            assertEquals(0, simulation.leader());
            assertEquals(0, member.foundOut());
            assertTrue(member.isSuspended(), simulation::describe);
            restarted(simulation, member.id());
        }
        simulation.settle();
        assertEquals(1, member.foundOut(), "how often it was found out");
        assertFalse(member.isSuspended());
    }

    private static void restarted(EnsembleSimulation simulation, int id) {
        simulation.members.get(id).kill();
        simulation.start(id, false);
    }

    /**
     * A restart makes its start number higher than the one that was taken twice: the claim holds for the earlier one.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void anOperatorMayTrustTheDisk(long seed) {
        EnsembleSimulation simulation = founded(seed);
        SimulatedMember member = goneBackWhileItIsNeeded(simulation);
        simulation.runFor(5 * SECOND);
        assertTrue(member.isSuspended(), simulation::describe);
        member.kill();
        OfflineLog.trust(member.disk());
        simulation.start(member.id(), false);
        assertFalse(member.isSuspended());
    }

    /** The next start sets it aside, whatever the command says. */
    @Test
    void aLogThatWasFoundWrongCannotBeTrusted() throws IOException {
        EnsembleSimulation simulation = founded(1);
        SimulatedMember member = goneBackWhileItIsNeeded(simulation);
        simulation.runFor(5 * SECOND);
        member.kill();
        LogDirectory.condemn(member.disk(), "it lacks what it had confirmed");
        LogException refused = assertThrows(LogException.class, () -> OfflineLog.trust(member.disk()));
        assertTrue(String.valueOf(refused.getMessage()).contains("is set aside at the next start"), refused::toString);
        simulation.start(member.id(), false);
        assertFalse(member.isSuspended());
    }

    private static SimulatedMember goneBackWhileItIsNeeded(EnsembleSimulation simulation) {
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        write(simulation, 1);
        int leader = simulation.leader();
        int voter = leader % 3 + 1;
        int late = voter % 3 + 1;
        Map<String, byte[]> image = restart(simulation, voter);
        write(simulation, 1);
        restart(simulation, voter);
        write(simulation, 1);
        simulation.network.isolate(late);
        write(simulation, 1);
        simulation.members.get(leader).kill();
        SimulatedMember member = simulation.members.get(voter);
        member.restore(image);
        simulation.network.heal();
        simulation.start(voter, false);
        return member;
    }

    /**
     * The image is of an earlier start: the others have a later one in their logs, also after all of them have
     * restarted.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void aVoterWithTheDiskOfAnEarlierStartIsTakenInAgainAsOneThatWasWiped(long seed) {
        EnsembleSimulation simulation = founded(seed);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        write(simulation, 1);
        int voter = 1 + (int) (seed % 3);
        SimulatedMember member = simulation.members.get(voter);
        Map<String, byte[]> image = restart(simulation, voter);
        write(simulation, 1);
        restart(simulation, voter);
        write(simulation, 1);
        for (int other : List.of(1, 2, 3)) {
            restart(simulation, other);
        }
        simulation.await("a leader", 5, () -> simulation.leader() != 0);

        member.restore(image);
        simulation.start(voter, false);
        simulation.await("it is found out", 5, () -> !member.isAlive());
        assertEquals(1, member.foundOut());
        simulation.await("the others serve", 5, () -> simulation.leader() != 0 && simulation.leader() != voter);
        simulation.start(voter, false);
        simulation.settle();
    }

    /** The image is of the process that still runs: the leader remembers what the member has acknowledged. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aRestoredDiskUnderARunningFollowerIsNoticedByTheLeader(long seed) {
        EnsembleSimulation simulation = founded(seed);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        write(simulation, 1);
        int follower = simulation.leader() % 3 + 1;
        SimulatedMember member = simulation.members.get(follower);
        Map<String, byte[]> image = member.image();
        write(simulation, 1);
        member.restore(image);
        simulation.start(follower, false);
        simulation.await("it is found out", 5, () -> !member.isAlive());
        simulation.start(follower, false);
        simulation.settle();
    }

    /**
     * A start that the others know of while its member does not, since it was killed before it heard: that is no fault.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void aMemberThatIsKilledAgainAndAgainWhileItStartsIsNotSuspected(long seed) {
        EnsembleSimulation simulation = founded(seed);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        int follower = simulation.leader() % 3 + 1;
        for (int i = 0; i < 40; i++) {
            simulation.members.get(follower).kill();
            simulation.runFor(simulation.random.nextInt(100_000));
            simulation.start(follower, false);
            simulation.runFor(simulation.random.nextInt(60_000));
            simulation.propose(follower, 100);
        }
        simulation.settle(); // a member that ends by itself fails the simulation
    }

    /**
     * A directory that was replaced comes back, from before its last start, and its member is taken in again as one
     * that has lost its log. A member that was away since before that still knows the start that the image lacks: what
     * it says is old news, and others cannot confirm it.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void whatAMemberKnewBeforeADirectoryWasTakenInAgainDoesNotCount(long seed) {
        EnsembleSimulation simulation = new EnsembleSimulation(seed, true);
        simulation.snapshotPadding = () -> 0;
        simulation.add(1, 2, 3, 4, 5);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3, 4, 5);
        write(simulation, 1);
        int victim = simulation.leader() % 5 + 1;
        int late = victim % 5 + 1;
        SimulatedMember member = simulation.members.get(victim);
        Map<String, byte[]> image = restart(simulation, victim);
        write(simulation, 1);
        simulation.members.get(late).kill();
        member.kill();
        member.wipe();
        simulation.start(victim, false);
        write(simulation, 2);
        simulation.awaitVoters(1, 2, 3, 4, 5);
        member.kill();
        member.restore(image);
        simulation.start(victim, false);
        write(simulation, 2);
        simulation.await("it serves", 20, () -> simulation.application(victim).serving);
        simulation.network.isolate(simulation.leader()); // the late one is not told more before it greets
        simulation.start(late, false);
        simulation.runFor(3 * SECOND);
        assertFalse(member.isSuspended(), simulation::describe);
        simulation.network.heal();
        simulation.settle();
        assertEquals(0, member.foundOut());
    }

    private static Map<String, byte[]> restart(EnsembleSimulation simulation, int id) {
        simulation.members.get(id).kill();
        Map<String, byte[]> image = simulation.members.get(id).image();
        simulation.runFor(SECOND);
        simulation.start(id, false);
        simulation.await("it serves", 10, () -> simulation.application(id).serving);
        return image;
    }
}
