package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.request.Create;
import io.conclave.request.SetData;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What snapshots do to the latency of writes: the same load on an ensemble that takes none and on one that takes them
 * all the time. {@code -Dsnapshot.znodes=1000000} is the long form. It prints what it measures.
 */
@EnabledIfSystemProperty(
        named = "snapshot.znodes",
        matches = ".+",
        disabledReason = "it only measures; see scripts/catch-up")
class SnapshotLatencyIT {
    private static final int ZNODES = Integer.getInteger("snapshot.znodes", 5_000);
    private static final int WRITES = Integer.getInteger("snapshot.writes", 8_000);
    private static final int HEAP_MB = Integer.getInteger("snapshot.heapMb", 512);
    private static final int FILL = 500;
    private static final int LOAD = 10;

    @TempDir
    private Path home;

    @Test
    @Timeout(3600)
    void writesGoOnDuringSnapshots() throws Exception {
        Pipeline.Result without = measure("without", 100_000_000);
        Pipeline.Result with = measure("with", Math.max(1000, WRITES / 4));
        System.out.println(String.format(
                Locale.ROOT,
                "%s, %d znodes, %d writes: p99 %.2f ms without snapshots, %.2f ms with (%.2f times); longest %.0f ms "
                        + "and %.0f ms",
                EnsembleKind.chosen(),
                ZNODES,
                WRITES,
                without.percentileMs(0.99),
                with.percentileMs(0.99),
                with.percentileMs(0.99) / without.percentileMs(0.99),
                without.percentileMs(1),
                with.percentileMs(1)));
        assertTrue(with.sortedNanos().length == WRITES);
    }

    private Pipeline.Result measure(String name, int snapCount) throws Exception {
        NodePath root = NodePath.of("/snapshots");
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.chosen(), Files.createDirectories(home.resolve(name)))
                        .ticks(2000, 10, 5)
                        .with("snapCount", snapCount)
                        .withJvm("-Xmx" + HEAP_MB + "m")
                        .start();
                Coordinator client = Coordinator.builder(ensemble.connectString())
                        .sessionTimeout(Duration.ofSeconds(20))
                        .connect()) {
            client.execute(Create.of(root));
            byte[] data = new byte[100];
            assertEquals(
                    0,
                    Pipeline.run(client, FILL, ZNODES, i -> Create.of(root.child("n" + i))
                                    .withData(data))
                            .failures());
            Pipeline.Result result =
                    Pipeline.run(client, LOAD, WRITES, i -> SetData.of(root.child("n" + i % ZNODES), data));
            assertEquals(0, result.failures());
            return result;
        }
    }
}
