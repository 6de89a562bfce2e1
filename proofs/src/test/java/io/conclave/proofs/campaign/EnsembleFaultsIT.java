package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.request.SetData;
import io.conclave.testkit.history.StoreOperation;
import io.conclave.testkit.history.StoreOperation.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The campaign: {@code scripts/ensemble-faults 60 3} is its long form. {@code -Densemble.kind} chooses the servers,
 * {@code -Densemble.seed} repeats the choices of a run.
 */
class EnsembleFaultsIT {
    private static final int SERVERS = Integer.getInteger("ensemble.servers", 3);
    private static final long SECONDS = Long.getLong("ensemble.seconds", 30);
    private static final long SEED = Long.getLong("ensemble.seed", System.nanoTime());

    @TempDir
    private Path home;

    @Test
    @Timeout(6 * 3600)
    void nothingIsLostOrOutOfOrderWhileServersDieStopAndAreCutOff() throws Exception {
        try (Ensemble ensemble = start()) {
            System.out.println(ensemble + ", " + SECONDS + " s, -Densemble.seed=" + SEED);
            CampaignTotals totals = new Campaign(ensemble, SEED).run(Duration.ofSeconds(SECONDS));
            System.out.println(ensemble + ": " + totals);
            assertEquals(List.of(), totals.violations, "-Densemble.seed=" + SEED);
            assertTrue(totals.faultCount() > 0 && totals.grants > 0 && totals.watchesFired > 0, totals.toString());
        }
    }

    @Test
    void mistakesThatArePlantedBehindTheRecordsBackAreFound() throws Exception {
        CampaignTotals totals = new CampaignTotals();
        try (Ensemble ensemble = start();
                CampaignRound round = new CampaignRound(ensemble, 1, new Random(1))) {
            round.awaitProgress();
            String register = round.registers().get(0).toString();
            StoreOperation liar = round.history().submitted(Kind.SET, "liar", register, 777_777_777);
            round.history().wrote(liar, Long.MAX_VALUE, 1_000_000);
            StoreOperation deaf = round.history().submitted(Kind.WATCH, "deaf", register, 0);
            round.history().read(deaf, 0, 1, 0);
            round.awaitProgress();
            round.stopLoad();
            // a write that is not recorded, behind all that were
            round.judge().execute(SetData.of(round.registers().get(1), StoreClient.bytes(Long.MAX_VALUE)));
            round.judge(totals);
        }
        for (String rule : List.of("LOST", "WATCH_LOST", "NOT_ONCE")) {
            assertTrue(
                    totals.violations.stream().anyMatch(violation -> violation.contains(rule)),
                    () -> rule + " not found: " + totals.violations);
        }
    }

    private Ensemble start() {
        return Ensemble.of(EnsembleKind.chosen(), home)
                .servers(SERVERS)
                .ticks(500, 20, 4)
                .with("maxSessionTimeout", 60_000)
                .withSmallJvms()
                .withBreakableLinks()
                .start();
    }
}
