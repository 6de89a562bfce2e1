package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.consensus.core.MistakenCores;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.Contradiction;
import io.conclave.consensus.core.PeerMessage.Greeting;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.consensus.entry.Start;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * One member, which has the cluster's secret, claims of the others what only disks that were set back explain. Members
 * may stop for that. No two of them give their logs up so that a majority is gone, and nothing acknowledged is lost.
 * {@code -Dsim.seed} is the first seed, {@code -Dsim.seeds} how many.
 */
class LyingMemberTest {
    private static final int ENOUGH = 30;

    @Test
    void whatOneMemberClaimsTakesNoLogsAway() {
        long first = Long.getLong("sim.seed", 1);
        long seeds = Long.getLong("sim.seeds", ENOUGH);
        int suspended = 0;
        int givenUp = 0;
        for (long seed = first; seed < first + seeds; seed++) {
            EnsembleSimulation simulation = RestoredDiskTest.founded(seed);
            try {
                suspended += lie(simulation, seed);
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                fail("seed " + seed + " (see it again with -Dsim.seed=" + seed + " -Dsim.seeds=1)", e);
            }
            givenUp += simulation.members.values().stream()
                    .mapToInt(SimulatedMember::foundOut)
                    .sum();
        }
        assertTrue(suspended > 0, "no lie was heard");
        System.out.println(seeds + " seeds with a lying member: " + suspended + " members suspended at the end, "
                + givenUp + " logs given up that the others had");
    }

    /** The planted mistake: one member's claim is enough. */
    @Test
    void oneClaimThatIsBelievedIsFound() {
        for (long seed = 1; seed <= ENOUGH; seed++) {
            EnsembleSimulation simulation = RestoredDiskTest.founded(seed);
            simulation.cores = MistakenCores.with("ONE_CLAIM_BELIEVED");
            try {
                lie(simulation, seed);
            } catch (RuntimeException | AssertionError | PowerFailure e) {
                System.out.println("found with seed " + seed + ": "
                        + e.toString().lines().findFirst().orElse(""));
                return;
            }
        }
        fail("not found in " + ENOUGH + " seeds");
    }

    /** Returns how many members took no part in the end, until an operator said that their disks are right. */
    private static int lie(EnsembleSimulation simulation, long seed) {
        Random lies = new Random(seed * 1_299_709);
        simulation.startAll();
        simulation.awaitVoters(1, 2, 3);
        simulation.members.values().forEach(SimulatedMember::mayBeAccused);
        int liar = 1 + lies.nextInt(3);
        for (int round = 0; round < 40; round++) {
            for (SimulatedMember member : simulation.members.values()) {
                if (member.isAlive()) {
                    simulation.propose(member.id(), 100);
                } else {
                    simulation.start(member.id(), false);
                }
            }
            if (lies.nextInt(4) == 0) {
                tell(simulation, liar, 1 + (liar + lies.nextInt(2)) % 3, lies);
            }
            simulation.runFor(lies.nextInt(lies.nextInt(4) == 0 ? 3_000_000 : 200_000));
        }
        int suspended = 0;
        for (SimulatedMember member : simulation.members.values()) {
            if (member.isSuspended()) {
                suspended++;
                member.kill();
                OfflineLog.trust(member.disk());
                simulation.start(member.id(), false);
            }
        }
        simulation.settle();
        return suspended;
    }

    private static void tell(EnsembleSimulation simulation, int liar, int to, Random lies) {
        SimulatedMember accused = simulation.members.get(to);
        SimulatedMember accuser = simulation.members.get(liar);
        if (accused.isAlive() && accuser.isAlive()) {
            simulation.network.send(liar, accuser.directory(), to, lie(accused, lies));
        }
    }

    private static PeerMessage lie(SimulatedMember accused, Random lies) {
        long last = accused.log().status().lastIndex();
        long term = accused.log().status().term();
        Start next = new Start(accused.directory(), 1_000, lies.nextLong());
        return switch (lies.nextInt(4)) {
            case 0 -> new Greeting(next, 0, last + 1_000, term + 5, 0);
            case 1 -> new Greeting(next, 0, last, term, Long.MAX_VALUE);
            case 2 -> new Greeting(Start.NONE, last + 1 + lies.nextInt(20), last + 1_000, term, Long.MAX_VALUE);
            default -> new Contradiction(term, Math.max(1, last - lies.nextInt(10)), term);
        };
    }
}
