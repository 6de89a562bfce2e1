package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.consensus.core.MistakenCores;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.disk.RetriedSyncs;
import io.conclave.testkit.Sample;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many seeds of {@link FaultSimulation}: {@code -Dsim.seeds=N} for how many, {@code -Dsim.seed=S} for the first. */
@Tag("sampled")
class FaultSimulationTest {
    private static final int MAX_SEEDS_FOR_ROT = 1_000;

    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS) // for campaigns; the default number of seeds takes seconds
    void everyProposalIsAppliedOnceAndNoMemberStaysBehind() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", Sample.of(100));
        long acknowledged = 0;
        long leaders = 0;
        long unknown = 0;
        long read = 0;
        long overtaken = 0;
        long diedReading = 0;
        long leadersWhileReading = 0;
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
            read += simulation.ensemble.history.statesRead;
            overtaken += simulation.ensemble.history.statesOvertaken;
            diedReading += simulation.ensemble.history.diedReading;
            leadersWhileReading += simulation.ensemble.history.leadersWhileReading;
            unknown += simulation.ensemble.applications.values().stream()
                    .mapToInt(application -> application.unknown)
                    .sum();
        }
        System.out.println(seeds + " seeds, " + acknowledged + " proposals acknowledged, " + leaders + " leaders, "
                + unknown + " outcomes unknown, " + read + " received states read, " + overtaken
                + " overtaken by another one, " + diedReading + " deaths and " + leadersWhileReading
                + " elections while reading");
    }

    /** Where nobody has room; the history looks that nothing is refused and applied. */
    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void whatIsRefusedForWantOfRoomIsNeverApplied() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", Sample.of(100));
        long rejectedElsewhere = 0;
        for (long seed = first; seed < first + seeds; seed++) {
            FaultSimulation simulation = new FaultSimulation(seed);
            simulation.disksFillTogether = true;
            try {
                simulation.run();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                fail("seed " + seed + " (see it again with -Dsim.seed=" + seed + " -Dsim.seeds=1)", e);
            }
            rejectedElsewhere += simulation.ensemble.history.rejectedElsewhere;
        }
        System.out.println(seeds + " seeds, " + rejectedElsewhere + " proposals of others than the leader refused");
        assertTrue(rejectedElsewhere > 0);
    }

    /** The planted mistake: a member believes any term. */
    @Test
    @Tag("proof")
    void aTermThatJumpsIsFoundWhereItIsBelieved() {
        assertFound(true, 40, simulation -> simulation.ensemble.cores = MistakenCores.with("ANY_TERM_BELIEVED"));
    }

    /** The planted mistake: the operator's changes are made also if the voters to be do not answer. */
    @Test
    @Tag("proof")
    void aChangeWithoutALiveMajorityIsFound() {
        assertFound(true, 100, simulation -> simulation.ensemble.changesAreForced = true);
    }

    /** The planted mistake: a member whose disk was set back never gives its log up, whatever the others confirm. */
    @Test
    @Tag("proof")
    void aLogThatIsNeverGivenUpIsFound() {
        assertFound(true, 100, simulation -> simulation.ensemble.cores = MistakenCores.with("LOG_NEVER_GIVEN_UP"));
    }

    /**
     * The planted mistake: a vote of a torn tail never counts, not even for a leader that has all that the tail lost.
     */
    @Test
    @Tag("proof")
    void aTornTailThatNoLeaderVouchesForIsFound() {
        assertFound(true, 100, simulation -> simulation.ensemble.cores = MistakenCores.with("NEVER_VOUCHED"));
    }

    /** The planted mistake: a sync that has failed is tried again, and the second one says yes. */
    @Test
    @Tag("proof")
    void aFailedSyncThatIsTriedAgainIsFound() {
        assertFound(true, 100, simulation -> simulation.ensemble.disks = RetriedSyncs::new);
    }

    /** The planted mistake: the snapshot that others cannot use is not checked. */
    @Test
    @Tag("proof") // some hundred seeds
    void aDamagedSnapshotThatIsNotCheckedIsFound() {
        assertFound(false, MAX_SEEDS_FOR_ROT, simulation -> simulation
                .ensemble
                .members
                .values()
                .forEach(member -> member.mistakenStore(store -> MistakenStore.thatIgnores("suspectSnapshot", store))));
    }

    private static void assertFound(boolean beyondRaft, int seeds, Consumer<FaultSimulation> mistake) {
        for (int seed = 1; seed <= seeds; seed++) {
            FaultSimulation simulation = new FaultSimulation(seed, beyondRaft);
            mistake.accept(simulation);
            try {
                simulation.run();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                System.out.println("found with seed " + seed + ": "
                        + e.toString().lines().findFirst().orElse(""));
                return;
            }
        }
        fail("not found in " + seeds + " seeds");
    }

    /** The planted mistake: a member applies, and serves, before the state of a received snapshot is read. */
    @Test
    @Tag("proof")
    void aMemberThatGoesOnBeforeItHasItsStateIsFound() {
        for (int seed = 1; seed <= 100; seed++) {
            FaultSimulation simulation = new FaultSimulation(seed);
            simulation.ensemble.cores = MistakenCores.with("APPLIED_WITHOUT_STATE");
            try {
                simulation.run();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                System.out.println("found with seed " + seed + ": " + e + ", " + e.getCause());
                return;
            }
        }
        fail("not found in 100 seeds");
    }

    /** The planted mistake: a snapshot is called installed, and is not. */
    @Test
    @Tag("proof")
    void aMemberThatConfirmsASnapshotBeforeItIsDurableIsFound() {
        for (int seed = 1; seed <= 100; seed++) {
            FaultSimulation simulation = new FaultSimulation(seed);
            simulation.ensemble.members.values().forEach(member -> member.mistakenStore(MistakenStore::installsLater));
            try {
                simulation.run();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                System.out.println("found with seed " + seed + ": " + e + ", " + e.getCause());
                return;
            }
        }
        fail("not found in 100 seeds");
    }

    /**
     * Disks that are set back to an older state, failed syncs, an operator's mistakes, and terms that jump, among all
     * the other faults.
     */
    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void theSameHoldsBeyondWhatRaftAssumes() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", Sample.of(30));
        Map<String, Integer> counts = new TreeMap<>();
        Map<String, Integer> seedsWith = new TreeMap<>();
        for (long seed = first; seed < first + seeds; seed++) {
            FaultSimulation simulation = new FaultSimulation(seed, true);
            try {
                simulation.run();
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                fail("seed " + seed + " (see it again with -Dsim.seed=" + seed + " -Dsim.seeds=1)", e);
            }
            simulation.counts().forEach((what, count) -> {
                counts.merge(what, count, Integer::sum);
                seedsWith.merge(what, count > 0 ? 1 : 0, Integer::sum);
            });
        }
        System.out.println(seeds + " seeds beyond what Raft assumes: " + counts + ", in so many seeds: " + seedsWith);
    }

    /** What is read from the files is sent once; the member had it, and the link on which it said so broke. */
    @Test
    void anAnswerThatIsLostWhileTheLogIsReadFromFilesIsAskedForAgain() {
        new FaultSimulation(305).run();
    }
}
