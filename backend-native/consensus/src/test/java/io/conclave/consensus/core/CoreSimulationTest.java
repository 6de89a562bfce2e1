package io.conclave.consensus.core;

import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.testkit.Sample;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many seeds of {@link SimulatedCluster}: {@code -Dsim.seeds=N} for how many, {@code -Dsim.seed=S} for the first. */
@Tag("sampled")
class CoreSimulationTest {
    private static final int MISTAKE_SEEDS = 5_000;

    @Test
    @Timeout(value = 6, unit = TimeUnit.HOURS) // for campaigns; the default number of seeds takes seconds
    void membersAgreeAndRecoverUnderRandomFaults() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", Sample.of(500));
        long readIndexes = 0;
        long batches = 0;
        for (long seed = first; seed < first + seeds; seed++) {
            SimulatedCluster cluster = new SimulatedCluster(seed, Mistake.NONE);
            Optional<Throwable> failure = cluster.failure();
            if (failure.isPresent()) {
                fail(
                        "seed " + seed + " at " + cluster.nowMs + " ms (see it again with -Dsim.seed=" + seed
                                + " -Dsim.seeds=1)",
                        failure.get());
            }
            readIndexes += cluster.invariants.readIndexes;
            batches += cluster.invariants.committed.size();
        }
        System.out.println(seeds + " seeds, " + batches + " batches committed, " + readIndexes + " read indexes");
    }

    @ParameterizedTest
    @Tag("proof")
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {
                "NONE",
                "NEVER_VOUCHED",
                "ANY_TERM_BELIEVED",
                "COMMITTED_NOT_COMPARED",
                "LEADS_ALONE_AT_ONCE",
                "ONE_CLAIM_BELIEVED", // claims are of whole members: LyingMemberTest, RestoredDiskMistakesTest
                "LOG_NEVER_GIVEN_UP",
                "SUSPECTED_TAKES_PART"
            })
    void aPlantedMistakeIsFound(Mistake mistake) {
        for (int seed = 1; seed <= MISTAKE_SEEDS; seed++) {
            Optional<Throwable> failure = new SimulatedCluster(seed, mistake).failure();
            if (failure.isPresent()) {
                System.out.println(mistake + " found with seed " + seed + ": "
                        + failure.get().toString().lines().findFirst().orElse(""));
                return;
            }
        }
        fail(mistake + " was not found in " + MISTAKE_SEEDS + " seeds");
    }
}
