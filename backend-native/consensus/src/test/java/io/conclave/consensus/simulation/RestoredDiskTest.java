package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Disks that go back in time: their members lead nobody, and come back without their logs. */
class RestoredDiskTest {
    private static final long SECOND = EnsembleSimulation.SECOND_US;

    private static EnsembleSimulation founded(long seed) {
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
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void aFounderWithTheDiskOfItsBirthNeverLeadsAndIsTakenInAgain(long seed) {
        EnsembleSimulation simulation = founded(seed);
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

    /** The image is of an earlier start: the others have a later one in their logs, also after all of them have restarted. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
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

    /** The image is of the life that went on: the leader remembers what the member has acknowledged. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void aFollowerWhoseDiskGoesBackWithinItsLifeIsFoundOutByTheLeader(long seed) {
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

    /** A start that the others know of while its member does not, since it was killed before it heard: that is no fault. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
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

    private static Map<String, byte[]> restart(EnsembleSimulation simulation, int id) {
        simulation.members.get(id).kill();
        Map<String, byte[]> image = simulation.members.get(id).image();
        simulation.runFor(SECOND);
        simulation.start(id, false);
        simulation.await("it serves", 10, () -> simulation.application(id).serving);
        return image;
    }
}
