package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.consensus.core.MistakenCores;
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

    /** The planted mistake: a member believes any term. */
    @Test
    void aTermThatJumpsIsFoundWhereItIsBelieved() {
        for (int seed = 1; seed <= 40; seed++) {
            FaultSimulation simulation = new FaultSimulation(seed, true);
            simulation.ensemble.cores = MistakenCores.with("ANY_TERM_BELIEVED");
            try {
                simulation.run();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                System.out.println("found with seed " + seed + ": " + e);
                return;
            }
        }
        fail("not found in 40 seeds");
    }

    /** Disks that go back in time, an operator's mistakes, and terms that jump, among all the other faults. */
    @Test
    void theSameHoldsBeyondWhatRaftAssumes() {
        for (int seed = 1; seed <= 15; seed++) {
            try {
                new FaultSimulation(seed, true).run();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                fail("seed " + seed, e);
            }
        }
    }

    /** What is read from the files is sent once; the member had it, and the link on which it said so broke. */
    @Test
    void anAnswerThatIsLostWhileTheLogIsReadFromFilesIsAskedForAgain() {
        new FaultSimulation(50_814).run();
    }
}
