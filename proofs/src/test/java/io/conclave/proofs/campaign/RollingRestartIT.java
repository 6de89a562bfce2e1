package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every server is stopped in order and started again, the leader last, as an operator does it for a new version;
 * clients go on with their sessions.
 */
class RollingRestartIT {
    @TempDir
    private Path home;

    @Test
    void sessionsSurviveARollingRestartUnderLoad() throws Exception {
        CampaignTotals totals = new CampaignTotals();
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.chosen(), home)
                        .ticks(1000, 10, 5)
                        .withSmallJvms()
                        .start();
                CampaignRound round = new CampaignRound(ensemble, 1, new Random())) {
            round.awaitProgress();
            Member leader = ensemble.awaitAllServing();
            List<Member> order = new ArrayList<>(ensemble.others(leader));
            order.add(leader);
            for (Member member : order) {
                member.terminate();
                round.awaitProgress();
                member.start();
                ensemble.awaitAllServing();
                round.awaitProgress();
            }
            round.stopLoad();
            round.judge(totals);
        }
        System.out.println("rolling restart of " + EnsembleKind.chosen() + ": " + totals);
        assertEquals(List.of(), totals.violations);
        assertEquals(0, totals.sessionsLost);
        if (EnsembleKind.chosen() == EnsembleKind.CONCLAVE) {
            assertEquals(0, totals.unknown, "a stop in order answers what it has taken");
        }
    }
}
