package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.consensus.disk.PowerFailure;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many seeds of {@link FaultSimulation}: {@code -Dsim.seeds=N} for how many, {@code -Dsim.seed=S} for the first. */
class FaultSimulationTest {

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

    /** What is read from the files is sent once; the member had it, and the link on which it said so broke. */
    @Test
    void anAnswerThatIsLostWhileTheLogIsReadFromFilesIsAskedForAgain() {
        new FaultSimulation(50_814).run();
    }
}
