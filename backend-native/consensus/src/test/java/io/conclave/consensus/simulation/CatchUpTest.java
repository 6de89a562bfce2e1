package io.conclave.consensus.simulation;

import static io.conclave.consensus.simulation.EnsembleSimulation.SECOND_US;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Members that are far behind, while the others go on writing. */
class CatchUpTest {

    /**
     * Members with 3 MB of state that keep so little of the log in memory that it is gone before a snapshot has
     * arrived.
     */
    private static EnsembleSimulation three(boolean durable) {
        EnsembleSimulation simulation = new EnsembleSimulation(1, durable);
        simulation.snapshotPadding = () -> 3_000_000;
        simulation.windowBytes = 64_000;
        simulation.add(1, 2, 3);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        return simulation;
    }

    private static void write(EnsembleSimulation simulation, int seconds) {
        long untilUs = simulation.time.nowUs() + seconds * SECOND_US;
        while (simulation.time.nowUs() < untilUs) {
            simulation.propose(simulation.leader(), 7_000);
            simulation.runFor(5_000);
        }
    }

    @Test
    void aWipedMemberCatchesUpWhileMoreIsWrittenThanTheMemoryKeeps() {
        EnsembleSimulation simulation = three(true);
        write(simulation, 2);
        int wiped = simulation.leader() % 3 + 1;
        simulation.members.get(wiped).wipe();
        write(simulation, 2);
        simulation.start(wiped, false);
        write(simulation, 10);
        assertEquals(Set.of(1, 2, 3), simulation.configuration().voters(), simulation::describe);
        simulation.settle();
    }

    @Test
    void aBrokenLinkDoesNotStopWhatFollowsTheSnapshot() {
        EnsembleSimulation simulation = three(true);
        int late = simulation.leader() % 3 + 1;
        simulation.members.get(late).kill();
        write(simulation, 4);
        simulation.start(late, false);
        for (int i = 0; i < 40; i++) {
            simulation.network.reset(simulation.leader(), late);
            write(simulation, 1);
            if (simulation.application(late).serving) {
                simulation.settle();
                return;
            }
        }
        fail(simulation.describe());
    }

    @Test
    void theLogIsNotKeptIndefinitelyForAMemberThatIsGone() {
        EnsembleSimulation simulation = three(true);
        int leader = simulation.leader();
        SimulatedMember late = simulation.members.get(leader % 3 + 1);
        late.wipe();
        write(simulation, 4);
        simulation.start(leader % 3 + 1, false);
        simulation.await("a part of a snapshot", 5, () -> late.disk().list().stream()
                .anyMatch(name -> name.startsWith("received-")));
        assertEquals(0, simulation.application(leader % 3 + 1).installs);
        late.kill();
        write(simulation, 25);
        long kept = segmentsOf(simulation, leader);
        assertTrue(kept > 100, "kept: " + kept);
        write(simulation, 15);
        long left = segmentsOf(simulation, leader);
        assertTrue(left < 20, "left: " + left);
        assertEquals(leader, simulation.leader());
    }

    private static long segmentsOf(EnsembleSimulation simulation, int id) {
        return simulation.members.get(id).disk().list().stream()
                .filter(name -> name.startsWith("segment"))
                .count();
    }

    @Test
    void entriesAfterAnOldSnapshotAreSentFromTheFiles() {
        assertEquals(1, installsOfTheSecondThatComesLate(true));
    }

    @Test
    void withoutFilesANewSnapshotIsMadeWhereAnOldOneWouldNotDo() {
        assertEquals(1, installsOfTheSecondThatComesLate(false));
    }

    private static int installsOfTheSecondThatComesLate(boolean durable) {
        EnsembleSimulation simulation = three(durable);
        write(simulation, 2);
        int leader = simulation.leader();
        for (int late : List.of(leader % 3 + 1, (leader + 1) % 3 + 1)) {
            simulation.members.get(late).wipe();
            write(simulation, 2);
            simulation.start(late, false);
            simulation.await(
                    "the vote of " + late,
                    20,
                    () -> simulation.leader() != 0
                            && simulation.application(late).serving
                            && simulation.configuration().voters().contains(late)
                            && simulation.configuration().members().get(late).directory()
                                    == simulation.members.get(late).directory());
        }
        return simulation.application((leader + 1) % 3 + 1).installs;
    }

    /** The whole state was sent for some megabytes of lag, to each server of a rolling restart. */
    @Test
    void aMemberThatTheFilesCanBringForwardGetsNoSnapshot() {
        EnsembleSimulation simulation = three(true);
        write(simulation, 2);
        for (int i = 1; i <= 2; i++) {
            int late = simulation.leader() % 3 + 1;
            simulation.members.get(late).kill();
            for (int written = 0; written < 40; written++) {
                simulation.propose(simulation.leader(), 7_000);
                simulation.runFor(5_000);
            }
            simulation.start(late, false);
            int ownSnapshots = simulation.application(late).installs;
            simulation.await("service", 20, () -> simulation.application(late).serving);
            assertEquals(ownSnapshots, simulation.application(late).installs);
        }
        simulation.settle();
    }

    /** Also behind another leader, which has to look for the place where the logs are equal. */
    @Test
    void aLeaderThatWasAloneIsBroughtForwardFromTheFiles() {
        EnsembleSimulation simulation = three(true);
        write(simulation, 2);
        int deposed = simulation.leader();
        simulation.network.isolate(deposed);
        for (int i = 0; i < 5; i++) {
            simulation.propose(deposed, 7_000);
        }
        simulation.await("another leader", 20, () -> simulation.leader() != 0 && simulation.leader() != deposed);
        write(simulation, 1);
        simulation.network.heal();
        simulation.await("service", 20, () -> simulation.application(deposed).serving);
        simulation.settle();
    }
}
