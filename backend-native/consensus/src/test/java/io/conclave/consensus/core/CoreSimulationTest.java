package io.conclave.consensus.core;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Many seeds of {@link SimulatedCluster}: {@code -Dsim.seeds=N} for how many, {@code -Dsim.seed=S} for the first. */
class CoreSimulationTest {
    private static final int MISTAKE_SEEDS = 150;

    @Test
    @Timeout(value = 6, unit = TimeUnit.HOURS) // for campaigns; the default number of seeds takes seconds
    void whateverHappensTheMembersAgreeAndComeBack() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", 100);
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

    static List<Mistake> mistakes() {
        return Arrays.stream(Mistake.values())
                .filter(mistake -> mistake != Mistake.NONE && !mistake.isRare())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void aPlantedMistakeIsFound(Mistake mistake) {
        for (int seed = 1; seed <= MISTAKE_SEEDS; seed++) {
            try {
                new SimulatedCluster(seed, mistake).run();
            } catch (RuntimeException | AssertionError e) {
                System.out.println(mistake + " found with seed " + seed + ": "
                        + e.toString().lines().findFirst().orElse(""));
                return;
            }
        }
        fail(mistake + " was not found in " + MISTAKE_SEEDS + " seeds");
    }
}
