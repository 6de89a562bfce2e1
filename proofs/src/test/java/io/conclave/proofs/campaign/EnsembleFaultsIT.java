package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.spi.SetData;
import io.conclave.testkit.history.StoreOperation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The campaign: {@code scripts/ensemble-faults 60 3} is its long form. {@code -Densemble.kind} chooses the servers, {@code -Densemble.seed} repeats the choices of a run.
 */
class EnsembleFaultsIT {
    private static final int SERVERS = Integer.getInteger("ensemble.servers", 3);
    private static final long SECONDS = Long.getLong("ensemble.seconds", 45);
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
        try (Ensemble ensemble = start()) {
            assertFound(ensemble, 1, "NOT_ONCE", round -> round.judge()
                    .submit(SetData.of(round.registers().get(0), StoreClient.bytes(Long.MAX_VALUE)))
                    .toCompletableFuture()
                    .join());
            assertFound(ensemble, 2, "LOST", round -> {
                StoreOperation never = round.history()
                        .submitted(
                                StoreOperation.Kind.SET,
                                "liar",
                                round.registers().get(0).toString(),
                                777_777_777);
                round.history().wrote(never, Long.MAX_VALUE, 1_000_000);
            });
            assertFound(ensemble, 3, "WATCH_LOST", round -> {
                StoreOperation watch = round.history()
                        .submitted(
                                StoreOperation.Kind.WATCH,
                                "deaf",
                                round.registers().get(0).toString(),
                                0);
                round.history().read(watch, 0, 1, 0);
            });
        }
    }

    private static void assertFound(Ensemble ensemble, int number, String rule, Consumer<CampaignRound> mistake)
            throws Exception {
        CampaignTotals totals = new CampaignTotals();
        try (CampaignRound round = new CampaignRound(ensemble, number, new Random(1))) {
            round.awaitProgress();
            mistake.accept(round);
            round.awaitProgress();
            round.stopLoad();
            round.judge(totals);
        }
        assertTrue(
                totals.violations.stream().anyMatch(violation -> violation.contains(rule)),
                () -> rule + " not found: " + totals.violations);
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
