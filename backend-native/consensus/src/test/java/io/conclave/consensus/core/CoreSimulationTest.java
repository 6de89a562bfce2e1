package io.conclave.consensus.core;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many seeds of {@link SimulatedCluster}: {@code -Dsim.seeds=N} for how many, {@code -Dsim.seed=S} for the first. */
class CoreSimulationTest {
    @Test
    @Timeout(value = 6, unit = TimeUnit.HOURS) // for campaigns; the default number of seeds takes seconds
    void whateverHappensTheMembersAgreeAndComeBack() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", 300);
        long confirmations = 0;
        long batches = 0;
        for (long seed = first; seed < first + seeds; seed++) {
            SimulatedCluster cluster = new SimulatedCluster(seed, Mistake.NONE);
            try {
                cluster.run();
            } catch (RuntimeException | AssertionError e) {
                fail(
                        "seed " + seed + " at " + cluster.nowMs + " ms (see it again with -Dsim.seed=" + seed
                                + " -Dsim.seeds=1)",
                        e);
            }
            confirmations += cluster.invariants.confirmations;
            batches += cluster.invariants.committed.size();
        }
        System.out.println(seeds + " seeds, " + batches + " batches committed, " + confirmations + " confirmations");
    }
}
