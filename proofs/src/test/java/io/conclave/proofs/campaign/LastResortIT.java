package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.ensemble.Member.Mode;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Sync;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an operator does, by the launcher's commands, when a cluster cannot go on by itself; and a disk that goes back.
 */
class LastResortIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int WRITES = 50;
    private static final int SECTOR = 512;

    @TempDir
    private Path home;

    @Test
    @Timeout(300)
    void aRemovalThatCouldNotCommitIsRefusedUnlessItIsForced() throws Exception {
        try (Ensemble ensemble = start()) {
            Member leader = ensemble.awaitAllServing();
            Member living = ensemble.others(leader).get(0);
            Member dead = ensemble.others(leader).get(1);
            dead.kill();
            String number = Integer.toString(living.number());

            String refusal = failure(living, "remove", number);
            assertTrue(refusal.contains("no majority answers the leader"), refusal);
            assertTrue(refusal.contains("With --force it is made "), refusal);
            write(ensemble, leader, 0); // and nothing waits behind it

            CompletableFuture<String> forced = CompletableFuture.supplyAsync(
                            () -> leader.command("remove", number, "--force"))
                    .exceptionally(Throwable::toString);
            Awaitility.await("the change in the log, which only the dead one can commit")
                    .atMost(PATIENCE)
                    .until(() -> leader.log().contains("changing the members: "));
            String said = forced.join();
            assertTrue(said.contains("so it is not known whether a change was made"), said);
            dead.start();
            Awaitility.await("the change").atMost(PATIENCE).ignoreExceptions().until(() -> !leader.command("members")
                    .contains("server." + number + "="));
            String members = leader.command("members");
            assertTrue(members.contains("server." + dead.number() + "="), members);
            write(ensemble, leader, WRITES);
            assertAllThere(ensemble, dead, 2 * WRITES);
        }
    }

    /** The one that is torn gives a provisional vote, which is not enough for the one that is left. */
    @Test
    @Timeout(300)
    void aTornLogThatIsTrustedGivesACompleteVote() throws Exception {
        try (Ensemble ensemble = start()) {
            Member gone = ensemble.awaitAllServing();
            Member torn = ensemble.others(gone).get(0);
            Member whole = ensemble.others(gone).get(1);
            write(ensemble, gone, 0);
            assertAllThere(ensemble, torn, WRITES);
            assertAllThere(ensemble, whole, WRITES);
            for (Member member : ensemble.members()) {
                member.kill();
            }
            tear(EnsembleBuilder.dataOf(home, torn.number()));
            torn.start();
            whole.start();
            assertReasonIsTold(torn);
            assertReasonIsTold(whole);
            assertTrue(torn.log().contains("cut a torn tail"), torn::log);

            String refusal = failure(torn, "trust-log");
            assertTrue(refusal.contains("The server runs; stop it first."), refusal);
            torn.terminate();
            String told = torn.command("trust-log");
            assertTrue(told.contains("counts as whole again, and its server's vote as complete"), told);
            torn.start();
            Member leader = ensemble.awaitLeader();
            write(ensemble, leader, WRITES);
            assertAllThere(ensemble, torn, 2 * WRITES);
            assertAllThere(ensemble, whole, 2 * WRITES);
            String monitored = leader.ask("mntr").orElse("");
            assertTrue(!monitored.contains("zk_no_leader_reason"), monitored);
        }
    }

    /**
     * In mntr, behind the line that tools look for, and in {@code status}, which then ends with a status of its own.
     */
    private static void assertReasonIsTold(Member member) {
        Awaitility.await("why there is no leader").atMost(PATIENCE).untilAsserted(() -> {
            List<String> lines = member.ask("mntr").orElse("no answer").lines().toList();
            assertEquals("This ZooKeeper instance is not currently serving requests", lines.get(0));
            assertEquals(2, lines.size(), lines::toString);
            String[] reason = lines.get(1).split("\t");
            assertEquals("zk_no_leader_reason", reason[0]);
            assertTrue(reason[1].contains("torn"), reason[1]);
        });
        String status = failure(member, "status");
        assertTrue(status.contains("No leader: "), status);
        assertTrue(status.contains("torn"), status);
    }

    /** The image lacks what its member has acknowledged since. */
    @Test
    @Timeout(300)
    void aMemberWhoseDiskIsRestoredFromAnOldImageIsFoundOutAndTakenInAgain() throws Exception {
        try (Ensemble ensemble = start()) {
            Member leader = ensemble.awaitAllServing();
            Member restored = ensemble.others(leader).get(0);
            Path data = EnsembleBuilder.dataOf(home, restored.number());
            Path image = home.resolve("image");
            restored.terminate();
            copy(data, image);
            restored.start();
            ensemble.awaitAllServing();
            write(ensemble, leader, 0);
            assertAllThere(ensemble, restored, WRITES);

            restored.kill();
            delete(data);
            copy(image, data);
            restored.start();
            Awaitility.await("it ends by itself").atMost(PATIENCE).until(() -> !restored.isAlive());
            assertTrue(restored.log().contains("it sets its log aside (nothing is deleted)"), restored::log);
            write(ensemble, leader, WRITES);

            restored.start();
            Awaitility.await("it follows again").atMost(PATIENCE).until(() -> restored.mode() == Mode.FOLLOWER);
            assertTrue(restored.log().contains("this member's log was found wrong"), restored::log);
            assertAllThere(ensemble, restored, 2 * WRITES);
            try (Coordinator client = connect(ensemble, leader)) {
                Awaitility.await("its vote").atMost(PATIENCE).until(() -> Members.in(client)
                        .votes(restored.number()));
            }
        }
    }

    /** The two could outvote the third one without what they lack, so nobody leads until an operator decides. */
    @Test
    @Timeout(300)
    void ofTwoThatAreSetBackTheThirdBeginsANewCluster() throws Exception {
        try (Ensemble ensemble = start()) {
            Member whole = ensemble.awaitAllServing();
            List<Member> restored = ensemble.others(whole);
            for (Member member : restored) {
                member.terminate();
                copy(EnsembleBuilder.dataOf(home, member.number()), home.resolve("image-" + member.number()));
                member.start();
                ensemble.awaitAllServing();
            }
            write(ensemble, ensemble.awaitLeader(), 0);
            for (Member member : restored) {
                assertAllThere(ensemble, member, WRITES);
            }
            assertAllThere(ensemble, whole, WRITES);
            for (Member member : restored) {
                member.kill();
            }
            for (Member member : restored) {
                Path data = EnsembleBuilder.dataOf(home, member.number());
                delete(data);
                copy(home.resolve("image-" + member.number()), data);
                member.start();
            }
            for (Member member : restored) {
                Awaitility.await("it says why it takes no part")
                        .atMost(PATIENCE)
                        .until(() -> member.log().contains("set back"));
            }

            for (Member member : ensemble.members()) {
                member.terminate();
            }
            whole.command("force-new-cluster", "--yes");
            for (Member member : restored) {
                member.command("set-aside");
            }
            for (Member member : ensemble.members()) {
                member.start();
            }
            Member leader = ensemble.awaitAllServing();
            write(ensemble, leader, WRITES);
            for (Member member : ensemble.members()) {
                assertAllThere(ensemble, member, 2 * WRITES);
            }
        }
    }

    @Test
    @Timeout(300)
    void aDamagedLogIsSetAsideAndItsServerTakenInAgain() throws Exception {
        try (Ensemble ensemble = start()) {
            Member leader = ensemble.awaitAllServing();
            Member damaged = ensemble.others(leader).get(0);
            write(ensemble, leader, 0);
            assertAllThere(ensemble, damaged, WRITES);
            damaged.kill();
            Path segment = firstSegment(EnsembleBuilder.dataOf(home, damaged.number()));
            damage(segment);
            damaged.start();
            Awaitility.await("it ends by itself").atMost(PATIENCE).until(() -> !damaged.isAlive());
            assertTrue(damaged.log().contains(segment.getFileName().toString()), damaged::log);

            damaged.command("set-aside");
            damaged.start();
            write(ensemble, leader, WRITES);
            Awaitility.await("it follows again").atMost(PATIENCE).until(() -> damaged.mode() == Mode.FOLLOWER);
            assertAllThere(ensemble, damaged, 2 * WRITES);
            try (Coordinator client = connect(ensemble, leader)) {
                Awaitility.await("its vote").atMost(PATIENCE).until(() -> Members.in(client)
                        .votes(damaged.number()));
            }
        }
    }

    private Ensemble start() {
        return Ensemble.of(EnsembleKind.CONCLAVE, home)
                .ticks(500, 20, 4)
                .withSmallJvms()
                .start();
    }

    /** Runs a command that fails; returns what it has printed. */
    private static String failure(Member member, String word, String... arguments) {
        return String.valueOf(assertThrows(IllegalStateException.class, () -> member.command(word, arguments))
                .getMessage());
    }

    /** Leaves behind the end of the log what a write that was cut off would leave there. */
    private static void tear(Path data) throws IOException {
        byte[] torn = new byte[3 * SECTOR];
        new Random(1).nextBytes(torn);
        Path segment = firstSegment(data);
        byte[] bytes = Files.readAllBytes(segment);
        int end = bytes.length;
        while (bytes[end - 1] == 0) {
            end--;
        }
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
            file.seek((end + SECTOR - 1L) / SECTOR * SECTOR);
            file.write(torn);
        }
    }

    /** Changes a byte among those that were synced long before the end. */
    private static void damage(Path segment) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
            int place = 4 * SECTOR;
            file.seek(place);
            int read = file.read();
            file.seek(place);
            file.write(read ^ 0x15);
        }
    }

    private static Path firstSegment(Path data) throws IOException {
        try (Stream<Path> files = Files.walk(data)) {
            return files.filter(file -> file.getFileName().toString().matches("segment-.*\\.log"))
                    .sorted()
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void write(Ensemble ensemble, Member member, int from) throws InterruptedException {
        try (Coordinator client = connect(ensemble, member)) {
            for (int i = from; i < from + WRITES; i++) {
                client.execute(Create.of(node(i)).withData(StoreClient.bytes(i)));
            }
        }
    }

    private static void assertAllThere(Ensemble ensemble, Member member, int count) throws InterruptedException {
        try (Coordinator client = connect(ensemble, member)) {
            client.execute(Sync.of(node(0)));
            for (int i = 0; i < count; i++) {
                assertArrayEquals(
                        StoreClient.bytes(i),
                        client.execute(GetData.of(node(i))).data());
            }
        }
    }

    private static NodePath node(int number) {
        return NodePath.of("/n" + number);
    }

    private static Coordinator connect(Ensemble ensemble, Member member) {
        return Coordinator.builder(ensemble.connectString(member))
                .sessionTimeout(Duration.ofSeconds(10))
                .connectTimeout(PATIENCE)
                .connect();
    }
}
