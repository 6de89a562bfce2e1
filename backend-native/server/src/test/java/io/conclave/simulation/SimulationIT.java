package io.conclave.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many seeds, and the simulation's own proof: mistakes that are planted one at a time are found. */
class SimulationIT {
    /** Within so many seeds each planted mistake is found. */
    private static final int SEEDS_FOR_A_MISTAKE = 400;

    @Test
    @Timeout(1800)
    void everyPromiseHoldsUnderRandomFaults() {
        Campaign campaign = Campaign.run(
                Long.getLong("sim.seed", 1),
                Long.getLong("sim.seeds", 400),
                Mistake.NONE,
                Runtime.getRuntime().availableProcessors());
        System.out.println(campaign.report());
        assertTrue(campaign.violations().isEmpty(), campaign::report);
    }

    /**
     * Those of the core (READ_INDEX_WITHOUT_MAJORITY and what follows it) are left to the core's own simulation, which
     * has hundreds of runs a second for them.
     */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {
                "NONE",
                "READ_INDEX_WITHOUT_MAJORITY",
                "STALE_SNAPSHOT_INSTALLED",
                "VOTED_TWICE",
                "WIPED_VOTER_COUNTED"
            })
    @Timeout(600)
    void aPlantedMistakeIsFound(Mistake mistake) {
        assertTrue(
                Campaign.find(mistake, SEEDS_FOR_A_MISTAKE).isPresent(),
                mistake + " is not found within " + SEEDS_FOR_A_MISTAKE + " seeds");
    }
}
