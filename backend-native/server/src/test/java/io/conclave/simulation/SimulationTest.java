package io.conclave.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A few seeds; {@link SimulationIT} runs more, and {@code scripts/simulate} as many as wanted. */
class SimulationTest {
    private static final int SEEDS = 3;

    @Test
    void everyPromiseHoldsUnderRandomFaults() {
        Campaign campaign = Campaign.run(1, SEEDS, Mistake.NONE, 1);
        assertTrue(campaign.violations().isEmpty(), campaign::report);
        assertTrue(campaign.counts().getOrDefault("grants", 0L) > SEEDS, campaign::report);
    }

    /** A server set its log aside while another one slept, which then greeted the directory that it knew. */
    @Test
    void aGreetingForAnEarlierDirectoryIsNoContradiction() {
        Campaign campaign = Campaign.run(4080, 1, Mistake.NONE, 1);
        assertTrue(campaign.violations().isEmpty(), campaign::report);
    }

    @Test
    void theSameSeedIsTheSameRun() {
        for (long seed = 1; seed <= 2; seed++) {
            Simulation.Outcome first = Simulation.run(seed, Mistake.NONE);
            Simulation.Outcome second = Simulation.run(seed, Mistake.NONE);
            assertEquals(first.trace().hash(), second.trace().hash(), "seed " + seed);
            assertEquals(first.trace().eventCount(), second.trace().eventCount(), "seed " + seed);
        }
    }
}
