package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.backup.BackupFile;
import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.ensemble.Member.Mode;
import io.conclave.request.Create;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.tree.TreeState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Backups under writes, and backups that are interrupted, by the launcher's commands. */
class BackupIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final NodePath NUMBERS = NodePath.of("/numbers");

    @TempDir
    private Path home;

    /**
     * Each transaction makes the next number's znode and says so in another one: a state between two of them has both.
     */
    @Test
    @Timeout(300)
    void aBackupUnderWritesIsAConsistentStateFromTheLeaderAFollowerAndAnObserver() throws Exception {
        try (Ensemble ensemble = start(1);
                Coordinator client = connect(ensemble.connectString())) {
            Member leader = ensemble.awaitAllServing();
            Member observer = ensemble.spares().get(0);
            observer.start();
            leader.command("add", observer.line("observer"));
            Awaitility.await("an observer").atMost(PATIENCE).until(() -> observer.mode() == Mode.OBSERVER);
            client.execute(Create.of(NUMBERS).withData(StoreClient.bytes(-1)));
            AtomicInteger written = new AtomicInteger();
            AtomicBoolean writes = new AtomicBoolean(true);
            CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
                while (writes.get()) {
                    int number = written.get();
                    client.submit(Multi.of(
                                    Create.of(NUMBERS.child("n" + number)).withData(new byte[2_000]),
                                    SetData.of(NUMBERS, StoreClient.bytes(number))))
                            .toCompletableFuture()
                            .join();
                    written.incrementAndGet();
                }
            });
            for (Member member : List.of(leader, ensemble.others(leader).get(0), observer)) {
                int from = written.get();
                Awaitility.await("writes").atMost(PATIENCE).until(() -> written.get() > from + 100);
                int before = written.get();
                Path file = home.resolve("backup-of-" + member.number());
                member.command("backup", file.toString());
                assertIsConsistent(BackupFile.read(file), before, written.get() + 1);
            }
            writes.set(false);
            writer.join();
        }
    }

    private static void assertIsConsistent(BackupFile.Contents backup, int least, int most) {
        TreeState state = backup.state();
        long last = StoreClient.valueOf(
                state.znode(NUMBERS.toString()).orElseThrow().data());
        assertTrue(last + 1 >= least && last + 1 <= most, last + 1 + " of " + least + " to " + most);
        for (int i = 0; i <= last; i++) {
            assertTrue(state.znode(NUMBERS.child("n" + i).toString()).isPresent(), i + " of " + last);
        }
        assertFalse(state.znode(NUMBERS.child("n" + (last + 1)).toString()).isPresent());
    }

    /** The server is stopped before it answers, so the command has begun its file and cannot end it. */
    @Test
    @Timeout(300)
    void aBackupThatIsKilledInTheMiddleLeavesNoFileOfItsName() throws Exception {
        try (Ensemble ensemble = start(0)) {
            Member asked = ensemble.others(ensemble.awaitAllServing()).get(0);
            Path file = home.resolve("conclave.backup");
            asked.pause();
            Process killed = asked.begin("backup", file.toString());
            Awaitility.await("a file begun").atMost(PATIENCE).until(() -> !partial()
                    .isEmpty());
            killed.destroyForcibly().waitFor();
            assertFalse(Files.exists(file));
            for (Path left : partial()) {
                Files.delete(left);
            }

            Process ended = asked.begin("backup", file.toString());
            Awaitility.await("a file begun").atMost(PATIENCE).until(() -> !partial()
                    .isEmpty());
            ended.destroy(); // SIGTERM
            ended.waitFor();
            assertEquals(List.of(), partial());

            Process abandoned = asked.begin("backup", file.toString());
            Awaitility.await("a file begun").atMost(PATIENCE).until(() -> !partial()
                    .isEmpty());
            asked.kill();
            assertEquals(1, abandoned.waitFor());
            assertEquals(List.of(), partial());
            assertFalse(Files.exists(file));

            asked.start();
            ensemble.awaitAllServing();
            asked.command("backup", file.toString());
            BackupFile.read(file); // it is whole
        }
    }

    private List<Path> partial() throws IOException {
        try (Stream<Path> files = Files.list(home)) {
            return files.filter(file -> file.getFileName().toString().endsWith(".partial"))
                    .toList();
        }
    }

    private Ensemble start(int spares) {
        return Ensemble.of(EnsembleKind.CONCLAVE, home)
                .spares(spares)
                .ticks(500, 20, 4)
                .withSmallJvms()
                .start();
    }

    private static Coordinator connect(String connectString) {
        return Coordinator.builder(connectString)
                .sessionTimeout(Duration.ofSeconds(10))
                .connectTimeout(PATIENCE)
                .connect();
    }
}
