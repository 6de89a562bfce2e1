package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.fail;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.store.MistakenDisk.Mistake;
import io.conclave.testkit.Sample;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** Many seeds of {@link CrashSimulation}: {@code -Dsim.seeds=N} for how many, {@code -Dsim.seed=S} for the first. */
@Tag("sampled")
class CrashSimulationTest {
    private static final int MISTAKE_SEEDS = 1_200;
    private static final Logger STORE = (Logger) LoggerFactory.getLogger("io.conclave.consensus.store");

    @BeforeAll
    static void quiet() {
        STORE.setLevel(Level.OFF);
    }

    @AfterAll
    static void loud() {
        STORE.setLevel(null);
    }

    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS) // for campaigns; the default number of seeds takes seconds
    void everythingAcknowledgedSurvivesPowerFailuresAndKills() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", Sample.of(1_000));
        int recoveries = 0;
        int cuts = 0;
        int installs = 0;
        int fullDisks = 0;
        int failedSyncs = 0;
        for (long seed = first; seed < first + seeds; seed++) {
            CrashSimulation simulation = new CrashSimulation(seed, disk -> disk);
            try {
                simulation.run();
            } catch (IOException | RuntimeException | AssertionError | PowerFailure e) {
                fail("seed " + seed + " (see it again with -Dsim.seed=" + seed + " -Dsim.seeds=1)", e);
            }
            recoveries += simulation.recoveries;
            cuts += simulation.cuts;
            installs += simulation.installs;
            fullDisks += simulation.fullDisks;
            failedSyncs += simulation.failedSyncs;
        }
        System.out.println(seeds + " seeds, " + recoveries + " recoveries, " + cuts + " cuts, " + installs
                + " installs, " + fullDisks + " full disks, " + failedSyncs + " failed syncs");
    }

    @Test
    void aCrashAtAnyStepOfTheDiskLosesNothing() throws IOException {
        for (long seed = 1; seed <= Sample.of(3); seed++) {
            boolean failed = true;
            for (int step = 1; failed; step++) {
                CrashSimulation simulation = new CrashSimulation(seed, disk -> disk);
                simulation.failAt = step;
                try {
                    simulation.run();
                } catch (RuntimeException | AssertionError e) {
                    fail("seed " + seed + ", step " + step, e);
                }
                failed = simulation.failed;
            }
        }
    }

    @ParameterizedTest
    @Tag("proof")
    @EnumSource(Mistake.class)
    void aPlantedMistakeIsFound(Mistake mistake) {
        for (int seed = 1; seed <= MISTAKE_SEEDS; seed++) {
            try {
                new CrashSimulation(seed, disk -> new MistakenDisk(disk, mistake)).run();
            } catch (IOException | RuntimeException | AssertionError | PowerFailure e) {
                System.out.println(mistake + " found with seed " + seed + ": " + e);
                return;
            }
        }
        fail(mistake + " was not found in " + MISTAKE_SEEDS + " seeds");
    }
}
