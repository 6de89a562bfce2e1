package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.consensus.core.MistakenCores;
import io.conclave.consensus.core.PeerMessage.Greeting;
import io.conclave.consensus.disk.PowerFailure;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Each defence against disks that are set back to an older state is needed: without it a schedule of
 * {@link RestoredDiskTest} fails.
 */
class RestoredDiskMistakesTest {
    private static final int SEEDS = 16;

    @Test
    void anOnlyVoterThatDoesNotAskOthersIsFound() {
        assertFound(
                simulation -> simulation.cores = MistakenCores.with("LEADS_ALONE_AT_ONCE"),
                RestoredDiskTest::aFounderGoesBack);
    }

    @Test
    void aMemberThatIgnoresGreetingsIsFound() {
        assertFound(
                simulation ->
                        simulation.members.values().forEach(member -> member.ignoring(Greeting.class::isInstance)),
                RestoredDiskTest::aVoterGoesBackThatIsNeeded);
    }

    @Test
    void committedPrefixesThatAreNotComparedAreFound() {
        assertFound(
                simulation -> simulation.cores = MistakenCores.with("COMMITTED_NOT_COMPARED"),
                RestoredDiskTest::aFounderGoesBackUngreeted);
    }

    @Test
    void aLogThatIsNeverGivenUpIsFound() {
        assertFound(
                simulation -> simulation.cores = MistakenCores.with("LOG_NEVER_GIVEN_UP"),
                RestoredDiskTest::aFounderGoesBack);
    }

    @Test
    void aSuspectedMemberThatTakesPartIsFound() {
        assertFound(
                simulation -> simulation.cores = MistakenCores.with("SUSPECTED_TAKES_PART"),
                RestoredDiskTest::aVoterGoesBackThatIsNeeded);
    }

    private static void assertFound(Consumer<EnsembleSimulation> mistake, Consumer<EnsembleSimulation> schedule) {
        for (int seed = 1; seed <= SEEDS; seed++) {
            EnsembleSimulation simulation = RestoredDiskTest.founded(seed);
            mistake.accept(simulation);
            try {
                schedule.accept(simulation);
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                System.out.println("found with seed " + seed + ": "
                        + e.toString().lines().findFirst().orElse("") + ", " + e.getCause());
                return;
            }
        }
        fail("not found in " + SEEDS + " seeds");
    }
}
