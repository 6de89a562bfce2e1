package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A member that was down for many writes, on a tree of many znodes, catches up while load goes on.
 * {@code -Dcatchup.writes=1000000 -Dcatchup.znodes=1000000} is the long form.
 */
class CatchUpIT {
    private static final int WRITES = Integer.getInteger("catchup.writes", 10_000);
    private static final int ZNODES = Integer.getInteger("catchup.znodes", 5_000);
    private static final int HEAP_MB = Integer.getInteger("catchup.heapMb", 512);
    private static final int FILL = 500;
    private static final int LOAD = 20;
    private static final NodePath ROOT = NodePath.of("/catch-up");
    private static final NodePath LAST = NodePath.of("/last");
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @TempDir
    private Path home;

    @Test
    @Timeout(3600)
    void aMemberThatWasDownCatchesUpWhileLoadGoesOn() throws Exception {
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.chosen(), home)
                        .ticks(2000, 60, 5)
                        .with("snapCount", 20_000)
                        .withJvm("-Xmx" + HEAP_MB + "m")
                        .start();
                Coordinator client = Coordinator.builder(ensemble.connectString())
                        .sessionTimeout(Duration.ofSeconds(20))
                        .connect()) {
            client.execute(Create.of(ROOT));
            client.execute(Create.of(LAST));
            assertEquals(
                    0,
                    Pipeline.run(client, FILL, ZNODES, i -> Create.of(node(i))).failures());
            Member leader = ensemble.awaitAllServing();
            Member down = ensemble.others(leader).get(0);
            down.kill();
            Pipeline.Result alone = Pipeline.run(client, FILL, WRITES, i -> SetData.of(node(i), new byte[100]));

            AtomicBoolean loads = new AtomicBoolean(true);
            AtomicLong written = new AtomicLong();
            CompletableFuture<Pipeline.Result> load = Pipeline.begin(
                    client, LOAD, i -> SetData.of(LAST, StoreClient.bytes(written.incrementAndGet())), loads::get);
            Awaitility.await().until(() -> written.get() > 1000);
            long startNanos = System.nanoTime();
            down.start();
            long caughtUpMs = awaitCaughtUp(ensemble, down, written, startNanos);
            loads.set(false);
            Pipeline.Result meanwhile = load.join();
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s: a member that was down for %d writes on %d znodes had caught up %d ms after its start, "
                            + "process start included; %d writes meanwhile, p50 %.2f ms, p99 %.2f ms, longest %.0f ms; "
                            + "failures %d and %d",
                    ensemble,
                    WRITES,
                    ZNODES,
                    caughtUpMs,
                    meanwhile.sortedNanos().length,
                    meanwhile.percentileMs(0.5),
                    meanwhile.percentileMs(0.99),
                    meanwhile.percentileMs(1),
                    alone.failures(),
                    meanwhile.failures()));
            assertTrue(meanwhile.sortedNanos().length > 0);
        }
    }

    /** Returns how long it took until a client of this member alone reads what was written when it had connected. */
    private static long awaitCaughtUp(Ensemble ensemble, Member member, AtomicLong written, long startNanos)
            throws InterruptedException {
        try (Coordinator one = Coordinator.builder(ensemble.connectString(member))
                .sessionTimeout(Duration.ofSeconds(20))
                .connectTimeout(PATIENCE)
                .connect()) {
            long atLeast = written.get() - LOAD;
            one.execute(Sync.of(LAST));
            long found = StoreClient.valueOf(one.execute(GetData.of(LAST)).data());
            assertTrue(found >= atLeast, () -> found + " read, " + atLeast + " were acknowledged before");
            return (System.nanoTime() - startNanos) / 1_000_000;
        }
    }

    private static NodePath node(long number) {
        return ROOT.child("n" + number % ZNODES);
    }
}
