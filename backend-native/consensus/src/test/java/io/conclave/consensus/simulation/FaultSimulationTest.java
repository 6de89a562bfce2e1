package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.consensus.disk.PowerFailure;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many seeds of {@link FaultSimulation}: {@code -Dsim.seeds=N} for how many, {@code -Dsim.seed=S} for the first. */
class FaultSimulationTest {
    private static final int FIRST_MISTAKE_SEED = 110;
    private static final int MISTAKE_SEEDS = 20;

    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS) // for campaigns; the default number of seeds takes seconds
    void everyProposalIsAppliedOnceAndNoMemberStaysBehind() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", 100);
        long acknowledged = 0;
        long leaders = 0;
        long unknown = 0;
        for (long seed = first; seed < first + seeds; seed++) {
            FaultSimulation simulation = new FaultSimulation(seed);
            try {
                simulation.run();
                simulation.requireWork();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                fail("seed " + seed + " (see it again with -Dsim.seed=" + seed + " -Dsim.seeds=1)", e);
            }
            acknowledged += simulation.ensemble.history.acknowledgedCount();
            leaders += simulation.ensemble.history.leaderCount();
            unknown += simulation.ensemble.applications.values().stream()
                    .mapToInt(application -> application.unknown)
                    .sum();
        }
        System.out.println(seeds + " seeds, " + acknowledged + " proposals acknowledged, " + leaders + " leaders, "
                + unknown + " outcomes unknown");
    }

    /** The planted mistake: nobody looks at a snapshot that others cannot use. */
    @Test
    void aSenderThatDoesNotCheckItsOwnSnapshotIsFound() {
        for (int seed = FIRST_MISTAKE_SEED; seed < FIRST_MISTAKE_SEED + MISTAKE_SEEDS; seed++) {
            FaultSimulation simulation = new FaultSimulation(seed);
            simulation.ensemble.snapshotCheckEveryMs = Long.MAX_VALUE;
            simulation
                    .ensemble
                    .members
                    .values()
                    .forEach(member ->
                            member.mistakenStore(store -> MistakenStore.thatIgnores("suspectSnapshot", store)));
            try {
                simulation.run();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                System.out.println("found with seed " + seed + ": " + e + ", " + e.getCause());
                return;
            }
        }
        fail("not found in " + MISTAKE_SEEDS + " seeds");
    }

    /** What is read from the files is sent once; the member had it, and the link on which it said so broke. */
    @Test
    void anAnswerThatIsLostWhileTheLogIsReadFromFilesIsAskedForAgain() {
        new FaultSimulation(50_814).run();
    }
}
