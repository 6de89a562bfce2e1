package io.conclave.proofs.failover;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.faults.SmallDisk;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The disks of all servers are full, so that leadership cannot go to one with room: see decision 0063. */
class FullEnsembleIT {
    private static final NodePath DATA = NodePath.of("/data");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int DISK_MB = 48;

    @TempDir
    private Path home;

    private final List<SmallDisk> disks = new ArrayList<>();
    private Ensemble ensemble;

    /** The last write that was acknowledged. */
    private int acknowledged;

    @Test
    @Timeout(300)
    void aFollowerRefusesWritesAndServesReadsUntilThereIsRoom() throws Exception {
        for (int number = 1; number <= 3; number++) {
            disks.add(SmallDisk.mount(EnsembleBuilder.dataOf(home, number), DISK_MB));
        }
        ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                .with("preAllocSize", 8192)
                .withSmallJvms()
                .start();
        Member leader = ensemble.awaitAllServing();
        Awaitility.await("the feature level").atMost(PATIENCE).until(() -> leader.ask("mntr")
                .filter(lines -> lines.contains("zk_conclave_feature_level\t5"))
                .isPresent());
        try (Coordinator client = Coordinator.connect(
                ensemble.connectString(ensemble.others(leader).get(0)))) {
            client.execute(Create.of(DATA));
            for (SmallDisk disk : disks) {
                disk.fill();
            }
            for (int i = 0; i < 3; i++) {
                RefusedException refusal = assertThrows(RefusedException.class, () -> writeForever(client));
                assertEquals(RefusalReason.NOT_WRITABLE, refusal.reason(), refusal::toString);
                client.execute(Sync.of(DATA));
                checkSame(client);
            }
            for (SmallDisk disk : disks) {
                disk.makeRoom();
            }
            Awaitility.await("room").atMost(PATIENCE).ignoreExceptions().until(() -> {
                write(client);
                return true;
            });
            checkSame(client);
        }
    }

    private void writeForever(Coordinator client) throws InterruptedException {
        while (true) {
            write(client);
        }
    }

    private void write(Coordinator client) throws InterruptedException {
        client.execute(SetData.of(DATA, data(acknowledged + 1)));
        acknowledged++;
    }

    private void checkSame(Coordinator client) throws InterruptedException {
        assertArrayEquals(data(acknowledged), client.execute(GetData.of(DATA)).data());
    }

    private static byte[] data(int number) {
        return ByteBuffer.allocate(50_000).putInt(number).array();
    }

    @AfterEach
    void end() throws Exception {
        if (ensemble != null) {
            ensemble.close();
        }
        for (SmallDisk disk : disks) {
            disk.close();
        }
    }
}
