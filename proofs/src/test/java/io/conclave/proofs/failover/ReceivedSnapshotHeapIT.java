package io.conclave.proofs.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.campaign.Pipeline;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.request.Create;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A follower that was down while the whole state was written anew comes back with a heap of 1.3 times the state and
 * {@link #CONSTANT_MB}, and is sent a snapshot: it has its old state then, and must not need room for two.
 * {@code -DsnapshotHeap.stateMb=1000} is the long form.
 */
class ReceivedSnapshotHeapIT {
    private static final int STATE_MB = Integer.getInteger("snapshotHeap.stateMb", 150);

    /** What a server takes without a state: classes, the log's window, chunks of the snapshot on their way. */
    private static final int CONSTANT_MB = 64;

    private static final int HEAP_MB = STATE_MB * 13 / 10 + CONSTANT_MB;
    /**
     * No heartbeat may be late by as much. A busy machine delays some by more than the default of 1 s; with 500, half
     * of it, this measures a quiet one.
     */
    private static final int ELECTION_TIMEOUT_MS = Integer.getInteger("snapshotHeap.electionTimeoutMs", 5000);

    private static final int VALUE_BYTES = 100_000;
    private static final long VALUES = STATE_MB * (1L << 20) / VALUE_BYTES;
    private static final NodePath ROOT = NodePath.of("/large");
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @TempDir
    private Path home;

    @Test
    @Timeout(1800)
    void aLaggingFollowerNeedsNoSecondHeapForTheStateThatItIsSent() throws Exception {
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                        .servers(3)
                        .ticks(1000, 60, 30)
                        .with("snapCount", 100)
                        .with("preAllocSize", 8192)
                        .with("electionTimeoutMs", ELECTION_TIMEOUT_MS)
                        .withJvm("-Xmx" + (4 * STATE_MB + 256) + "m")
                        .withJvm("-XX:+UseG1GC")
                        .start();
                Coordinator client = Coordinator.builder(ensemble.connectString())
                        .sessionTimeout(Duration.ofSeconds(20))
                        .connectTimeout(PATIENCE)
                        .connect()) {
            client.execute(Create.of(ROOT));
            write(client, value -> Create.of(ROOT.child("n" + value)).withData(new byte[VALUE_BYTES]));
            Member down = ensemble.others(ensemble.awaitAllServing()).get(0);
            down.kill();
            write(client, value -> SetData.of(ROOT.child("n" + value), new byte[VALUE_BYTES]));
            write(client, value -> SetData.of(ROOT.child("n" + value), new byte[VALUE_BYTES]));
            long startNanos = System.nanoTime();
            down.start(List.of("-Xmx" + HEAP_MB + "m"));
            long elections = ensemble.elections(); // its new log does not count those before its restart
            Awaitility.await("service of " + down)
                    .atMost(PATIENCE)
                    .until(() -> !down.isAlive() || down.mode() == Member.Mode.FOLLOWER);
            assertTrue(down.isAlive(), down::log);
            assertTrue(down.log().contains("reading the state of the snapshot"), down::log);
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s: a state of %d MB was received and read with a heap of %d MB; serving %d ms after the start",
                    ensemble,
                    STATE_MB,
                    HEAP_MB,
                    (System.nanoTime() - startNanos) / 1_000_000));
            assertEquals(elections, ensemble.elections(), ensemble::describe);
        }
    }

    private static void write(Coordinator client, LongFunction<Request<?>> requests) {
        assertEquals(0, Pipeline.run(client, 8, VALUES, requests).failures());
    }
}
