package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.backup.BackupFile;
import io.conclave.backup.BackupReceiver;
import io.conclave.backup.BackupStream;
import io.conclave.coordinator.Coordinator;
import io.conclave.importing.ForeignFiles;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.server.ConclaveServer;
import io.conclave.server.StoredState;
import io.conclave.testkit.proxy.FreePort;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class RecoveryCommandsTest extends CommandsFixture {
    private static final NodePath NODE = NodePath.of("/kept");
    private static final byte[] DATA = {1, 2, 3};

    private static Coordinator connect(ConclaveServer server) throws InterruptedException {
        return Coordinator.connect("conclave://localhost:" + server.clientPort().orElseThrow());
    }

    private Path madeBackup() throws Exception {
        Path file = configuration("before");
        Path backup = directory.resolve("x.backup");
        ConclaveServer server = start(file);
        try (Coordinator client = connect(server)) {
            client.execute(Create.of(NODE).withData(DATA));
            assertEquals(0, run("backup", file, backup), said());
            assertTrue(said().contains("whole and synced"), said());
        } finally {
            stop(server, file);
        }
        return backup;
    }

    @Test
    void theFilesOfAZooKeeperServerAreImportedAsANewCluster() throws Exception {
        Path source = ForeignFiles.write(directory.resolve("zookeeper"));
        Path file = configuration("imported");
        assertEquals(0, run("import", file, source), said());
        assertTrue(said().contains("2 transactions behind it, up to 0x7"), said());
        assertTrue(said().contains("Left out: 1 sessions and 1 ephemeral znodes"), said());
        assertEquals(1, run("import", file, source), "the directory is not empty any more");
        assertEquals(2, run("import", file, source, source, source), said());
        ConclaveServer server = start(file);
        try (Coordinator client = connect(server)) {
            assertEquals(
                    "/a",
                    new String(client.execute(GetData.of(NodePath.of("/a"))).data(), StandardCharsets.UTF_8));
            assertTrue(client.execute(Exists.of(NodePath.of("/a/e"))).isEmpty());
            assertTrue(client.execute(Exists.of(NodePath.of("/a/c"))).isPresent());
        } finally {
            stop(server, file);
        }
    }

    /** ZooKeeper takes it if its operator has raised {@code jute.maxbuffer}. */
    @Test
    void aZnodeLargerThanARequestIsImportedAndBackedUp() throws Exception {
        int bytes = 5 << 20;
        Path source = ForeignFiles.writeLarge(directory.resolve("zookeeper"), bytes);
        Path file = configuration("imported");
        assertEquals(0, run("import", file, source), said());
        assertTrue(said().contains("1, the first is /large with " + bytes + " bytes"), said());
        Path backup = directory.resolve("x.backup");
        ConclaveServer server = start(file);
        try {
            assertEquals(0, run("backup", file, backup), said());
        } finally {
            stop(server, file);
        }
        assertEquals(0, run("verify", backup), said());
        assertEquals(0, run("restore", configuration("restored"), backup), said());
    }

    @Test
    void aStateThatDoesNotFitIntoTheHeapIsSaidToBeSo() throws Exception {
        Path file = configuration("imported");
        assertEquals(0, run("import", file, ForeignFiles.writeLarge(directory.resolve("zookeeper"), 60 << 20)), said());
        String said = verifiedInHeapOf(40, directory.resolve("imported"));
        assertTrue(
                said.contains("verify did not come to its end: it needs more memory than the 40 MB of its heap"), said);

        Path backup = directory.resolve("x.backup");
        try (BackupReceiver receiver = BackupReceiver.to(backup)) {
            Path log = StoredState.logIn(directory.resolve("imported")).orElseThrow();
            BackupStream stream = new BackupStream(StoredState.read(log).state());
            for (byte[] piece = stream.next(); piece.length > 0; piece = stream.next()) {
                receiver.write(piece);
            }
            receiver.complete();
        }
        String ofBackup = verifiedInHeapOf(40, backup);
        assertTrue(ofBackup.contains("does not fit into the heap of 40 MB"), ofBackup);
        assertTrue(ofBackup.contains("A server of it needs at least about 151 MB (JVM_FLAGS=-Xmx...)"), ofBackup);
    }

    /** What the command says, which fails without a word of Java's. */
    private static String verifiedInHeapOf(int megabytes, Path file) throws Exception {
        Process verify = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx" + megabytes + "m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "verify",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(verify.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(1, verify.waitFor(), said);
        assertFalse(said.contains("\tat "), said);
        return said;
    }

    @Test
    void nothingIsImportedOfADamagedFile() throws Exception {
        Path source = ForeignFiles.write(directory.resolve("zookeeper"));
        try (RandomAccessFile damaged =
                new RandomAccessFile(source.resolve("version-2/log.6").toFile(), "rw")) {
            damaged.seek(40);
            damaged.write(99);
        }
        Path file = configuration("imported");
        assertEquals(1, run("import", file, source), said());
        assertTrue(
                said().startsWith("Nothing was imported: " + source.resolve("version-2/log.6") + ": offset 16: "),
                said());
        assertFalse(Files.exists(directory.resolve("imported")), "nothing is half made");
    }

    @Test
    void aBackupIsVerifiedAndRestoredAsANewCluster() throws Exception {
        Path backup = madeBackup();
        BackupFile.Contents contents = BackupFile.read(backup);
        assertEquals(0, run("verify", backup), said());
        assertTrue(said().contains("a whole backup"), said());
        assertTrue(said().contains("generation  " + contents.summary().generation()), said());

        Path file = configuration("after");
        assertEquals(0, run("restore", file, backup), said());
        assertTrue(said().contains("Start it: conclave-server start " + file), said());
        for (int i = 0; i < 2; i++) { // it is there after another start too
            ConclaveServer server = start(file);
            try (Coordinator client = connect(server)) {
                assertArrayEquals(DATA, client.execute(GetData.of(NODE)).data());
                Path next = directory.resolve("next-" + i);
                assertEquals(0, run("backup", file, next), said());
                BackupFile.Contents after = BackupFile.read(next);
                assertTrue(after.summary().generation() > contents.summary().generation());
                assertTrue(after.summary().zxid() > contents.summary().zxid());
                assertFalse(
                        after.summary().clusterId().equals(contents.summary().clusterId()));
            } finally {
                stop(server, file);
            }
        }
    }

    @Test
    void aBackupAndTheLogOfAStoppedServerAreExportedAlike() throws Exception {
        Path backup = madeBackup();
        Path ofBackup = directory.resolve("backup.jsonl");
        Path ofLog = directory.resolve("log.jsonl");
        assertEquals(0, run("export", backup, ofBackup), said());
        assertEquals(0, run("export", directory.resolve("before"), ofLog), said());
        assertTrue(said().contains("log.jsonl: 5 znodes"), said());
        assertEquals(Files.readString(ofBackup), Files.readString(ofLog));
        assertTrue(Files.readString(ofLog).contains("{\"path\":\"/kept\",\"kind\":\"persistent\",\"data\":\"AQID\""));
        if (Files.getFileStore(ofLog).supportsFileAttributeView("posix")) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(ofLog)));
        }
        assertEquals(1, run("export", backup, ofBackup), said());
        assertTrue(said().contains("is there already"), said());
    }

    @Test
    void exportHasTheMembersThatThePageShows() throws Exception {
        Path target = directory.resolve("x.jsonl");
        assertEquals(0, run("export", madeBackup(), target), said());
        String kept = Files.readAllLines(target).stream()
                .filter(line -> line.contains("\"/kept\""))
                .findFirst()
                .orElseThrow();
        String page = Files.readString(Path.of("../../docs/operations.md"));
        List<String> shown = names(page.substring(page.indexOf("\n{\"path\":"), page.indexOf("\n- `data` is Base64")));
        assertEquals(shown, names(kept).subList(0, shown.size()));
    }

    private static List<String> names(String json) {
        return Pattern.compile("\"(\\w+)\":")
                .matcher(json)
                .results()
                .map(name -> name.group(1))
                .toList();
    }

    @Test
    void whatAnInterruptedExportLeftIsNamed() throws Exception {
        Path backup = madeBackup();
        Path partial = Files.createFile(directory.resolve("x.jsonl.partial"));
        assertEquals(1, run("export", backup, directory.resolve("x.jsonl")), said());
        assertEquals(
                "Nothing was written: " + partial + " is there: an export to the same file runs, or was interrupted."
                        + " If none runs, delete it and try again\n",
                said());
        Files.delete(partial);
        assertEquals(0, run("export", backup, directory.resolve("x.jsonl")), said());
    }

    @Test
    void theStatusIsToldWhateverTheWhitelistSays() throws Exception {
        Path file = configuration("unasked");
        Files.writeString(file, "4lw.commands.whitelist=ruok\n", StandardOpenOption.APPEND);
        ConclaveServer server = start(file);
        try {
            assertEquals(0, run("status", file), said());
            assertTrue(said().contains("Mode: standalone"), said());
        } finally {
            stop(server, file);
        }
        Path ensemble = directory.resolve("ensemble");
        Files.writeString(Files.createDirectories(ensemble).resolve("myid"), "1");
        Path alone = Files.writeString(
                directory.resolve("ensemble.cfg"),
                "clientPort=0\nclientPortAddress=localhost\npreAllocSize=64\npeerAuthentication=none\ndataDir="
                        + ensemble + "\nserver.1=127.0.0.1:" + FreePort.find()
                        + "\nserver.2=127.0.0.1:1\n4lw.commands.whitelist=ruok\n");
        ConclaveServer leaderless = start(alone);
        try {
            assertEquals(3, run("status", alone), said());
            assertTrue(said().startsWith("This ZooKeeper instance is not currently serving requests"), said());
        } finally {
            stop(leaderless, alone);
        }
    }

    @Test
    void whatIsDamagedIsNotExported() throws Exception {
        Path backup = madeBackup();
        byte[] bytes = Files.readAllBytes(backup);
        bytes[bytes.length / 2] ^= 1;
        Files.write(backup, bytes);
        Path target = directory.resolve("x.jsonl");
        assertEquals(1, run("export", backup, target), said());
        assertTrue(said().contains("Nothing was written"), said());
        assertFalse(Files.exists(target));
        assertFalse(Files.exists(directory.resolve("x.jsonl.partial")));
    }

    @Test
    void theGenerationCanBeGivenAndMustBeGreater() throws Exception {
        Path backup = madeBackup();
        long before = BackupFile.read(backup).summary().generation();
        Path file = configuration("after");
        assertEquals(2, run("restore", file, backup, "--generation", before), said());
        assertTrue(said().contains("it must be greater than " + before), said());
        assertEquals(2, run("restore", file, backup, "--generation", "1000000000000000000"), said());
        assertTrue(said().contains("it must be at most"), said());
        assertEquals(2, run("restore", file, backup, "--generation"), said());
        assertEquals(2, run("restore", file, backup, "--force"), said());
        assertEquals(2, run("restore", file, backup, "--generation", "x"), said());
        assertEquals(0, run("restore", file, backup, "--generation", before + 1), said());
        assertTrue(said().contains("generation  " + (before + 1)), said());
    }

    @Test
    void nothingIsOverwritten() throws Exception {
        Path backup = madeBackup();
        Path file = configuration("before");
        assertEquals(1, run("restore", file, backup), said());
        assertTrue(said().contains("is not empty"), said());
        ConclaveServer server = start(file);
        try (Coordinator client = connect(server)) {
            assertArrayEquals(DATA, client.execute(GetData.of(NODE)).data());
            assertEquals(1, run("backup", file, backup), said());
            assertTrue(said().contains("is there already, and is not overwritten"), said());
            assertEquals(1, run("restore", file, backup), said());
            assertTrue(said().contains("The server runs"), said());
            assertEquals(1, run("backup", file, directory.resolve("no").resolve("x")), said());
            assertTrue(said().contains("there is no directory"), said());
        } finally {
            stop(server, file);
        }
    }

    @Test
    void aDamagedBackupIsRefusedWithFileAndOffset() throws Exception {
        Path backup = madeBackup();
        byte[] bytes = Files.readAllBytes(backup);
        bytes[bytes.length / 2] ^= 4;
        Files.write(backup, bytes);
        assertEquals(1, run("verify", backup), said());
        assertTrue(said().contains(backup + ": offset "), said());
        Path file = configuration("after");
        assertEquals(1, run("restore", file, backup), said());
        assertTrue(said().contains("Nothing was restored: " + backup + ": offset "), said());
        assertFalse(Files.exists(directory.resolve("after")));
        assertEquals(1, run("verify", file), said());
        assertTrue(said().contains("it does not start as a backup does"), said());
        assertEquals(1, run("verify", directory.resolve("nowhere")), said());
        assertEquals(1, run("restore", file, directory.resolve("nowhere")), said());
    }

    @Test
    void aServerThatDoesNotRunCannotBeAsked() throws Exception {
        assertEquals(1, run("backup", configuration("none"), directory.resolve("x")), said());
        assertTrue(said().contains("No server of "), said());
    }

    private Map<String, String> filesIn(Path path) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(path)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                files.put(path.relativize(file).toString(), Arrays.hashCode(Files.readAllBytes(file)) + "");
            }
        }
        return files;
    }

    private static Path only(Path log, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(log)) {
            return files.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .sorted()
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static void flip(Path file, long offset) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(offset);
            int old = bytes.read();
            bytes.seek(offset);
            bytes.write(old ^ 1);
        }
    }

    @Test
    void aLogIsVerifiedAndNotTouched() throws Exception {
        Path backup = madeBackup();
        Path data = directory.resolve("before");
        Map<String, String> before = filesIn(data);
        for (Path path : new Path[] {data, data.resolve("log")}) {
            assertEquals(0, run("verify", path), said());
            assertTrue(said().contains("a server can start on this log"), said());
        }
        assertEquals(before, filesIn(data));
        assertEquals(1, run("verify", directory), said());
        assertTrue(said().contains("holds no log"), said());

        flip(only(data.resolve("log"), "segment-"), 1_024 + 120);
        assertEquals(1, run("verify", data), said());
        assertTrue(said().contains("offset 1024: the batch there fails its check"), said());

        assertEquals(0, run("restore", configuration("after"), backup), said());
        Path snapshot = only(directory.resolve("after").resolve("log"), "snapshot-");
        assertEquals(0, run("verify", snapshot), said());
        assertTrue(said().contains("a whole snapshot"), said());
        for (long offset = 0; offset < Files.size(snapshot); offset += 7) {
            flip(snapshot, offset);
            assertEquals(1, run("verify", snapshot), said());
            assertTrue(said().contains(snapshot.toString()), said());
            flip(snapshot, offset);
        }
        assertEquals(0, run("verify", snapshot), said());
    }

    @Test
    void aLogInUseIsNotVerified() throws Exception {
        Path file = configuration("used");
        ConclaveServer server = start(file);
        try {
            assertEquals(1, run("verify", directory.resolve("used")), said());
            assertTrue(said().contains("is in use by another process"), said());
            assertEquals(1, run("force-new-cluster", file, "--yes"), said());
            assertTrue(said().contains("The server runs; stop it first."), said());
        } finally {
            stop(server, file);
        }
    }

    @Test
    void aNewClusterIsForcedFromALogWithAllThatItHas() throws Exception {
        long generation = BackupFile.read(madeBackup()).summary().generation();
        Path file = directory.resolve("before.cfg");
        Path data = directory.resolve("before");
        Map<String, String> before = filesIn(data);
        assertEquals(1, run("force-new-cluster", file), said());
        assertTrue(said().contains("What may be lost: "), said());
        assertTrue(said().contains("Nothing was changed. With --yes"), said());
        assertEquals(2, run("force-new-cluster", file, "--no"), said());
        assertEquals(2, run("force-new-cluster", file, "--yes", "--generation", generation), said());
        assertEquals(before, filesIn(data));

        assertEquals(0, run("force-new-cluster", file, "--yes"), said());
        assertTrue(said().contains("Made a new cluster in " + data.resolve("log")), said());
        BackupFile.Contents kept = BackupFile.read(only(data, "forced-"));
        assertEquals(generation, kept.summary().generation());
        ConclaveServer server = start(file);
        try (Coordinator client = connect(server)) {
            assertArrayEquals(DATA, client.execute(GetData.of(NODE)).data());
            Path next = directory.resolve("next");
            assertEquals(0, run("backup", file, next), said());
            assertTrue(BackupFile.read(next).summary().generation() > generation, said());
        } finally {
            stop(server, file);
        }
        assertEquals(1, run("force-new-cluster", configuration("none")), said());
        assertTrue(said().contains("holds no log"), said());
    }
}
