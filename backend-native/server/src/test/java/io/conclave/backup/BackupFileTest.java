package io.conclave.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.Sample;
import io.conclave.tree.Change;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeState;
import io.conclave.tree.ZnodeAcl;
import io.conclave.tree.ZnodeKind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackupFileTest {
    private static final long SESSION = 77;

    @TempDir
    private Path directory;

    /** With sessions, an ephemeral, and nodes enough for some chunks if it is to be large. */
    private static TreeState state(int nodes) {
        TreeState state = TreeState.initial(new UUID(1, 2), 1_234);
        state = Tree.apply(state, new Change.OpenSession(SESSION, SessionPassword.of(new byte[16]), 5_000), 1_000)
                .state();
        long attachment = state.session(SESSION).orElseThrow().attachment();
        for (int i = 0; i < nodes; i++) {
            ZnodeKind kind = i == 0 ? ZnodeKind.EPHEMERAL : ZnodeKind.PERSISTENT;
            TreeOperation create = new TreeOperation.Create("/node-" + i, new byte[100], ZnodeAcl.OPEN, kind);
            state = Tree.apply(state, new Change.Request(SESSION, attachment, List.of(), create), 1_000 + i)
                    .state();
        }
        return state;
    }

    private Path backup(TreeState state) throws IOException {
        Path file = directory.resolve("conclave.backup");
        BackupStream stream = new BackupStream(state);
        try (BackupReceiver receiver = BackupReceiver.to(file)) {
            for (byte[] piece = stream.next(); piece.length > 0; piece = stream.next()) {
                receiver.write(piece);
            }
            assertFalse(Files.exists(file));
            receiver.complete();
        }
        assertEquals(0, stream.next().length);
        return file;
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void aStateIsReadAsItWasWritten() throws IOException {
        for (int nodes : new int[] {0, 1, 5_000}) {
            TreeState state = state(nodes);
            Path file = backup(state);
            BackupFile.Contents read = BackupFile.read(file);
            assertEquals(state.digest(), read.state().digest());
            assertEquals(state.digest(), read.summary().digest());
            assertEquals(state.lastZxid(), read.summary().zxid());
            assertEquals(1_234, read.summary().generation());
            assertEquals(nodes + 4, read.summary().znodes());
            assertEquals(1, read.summary().sessions());
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            assertEquals(List.of("conclave.backup"), files());
            Files.delete(file);
        }
    }

    @Test
    @Tag("sampled")
    void everyFlippedBitIsFoundWithFileAndOffset() throws IOException {
        Path file = backup(state(3));
        byte[] sound = Files.readAllBytes(file);
        for (int at = firstOfTheSample(); at < 8 * sound.length; at += Sample.oneIn()) {
            byte[] bad = sound.clone();
            bad[at / 8] ^= (byte) (1 << at % 8);
            Files.write(file, bad);
            assertDamaged(file, "bit " + at % 8 + " at " + at / 8);
        }
    }

    private static int firstOfTheSample() {
        return ThreadLocalRandom.current().nextInt(Sample.oneIn());
    }

    @Test
    @Tag("sampled")
    void everyTruncationAndWhatFollowsTheEndIsFound() throws IOException {
        Path file = backup(state(3));
        byte[] sound = Files.readAllBytes(file);
        for (int length = firstOfTheSample(); length < sound.length; length += Sample.oneIn()) {
            Files.write(file, Arrays.copyOf(sound, length));
            assertDamaged(file, "length " + length);
        }
        Files.write(file, Arrays.copyOf(sound, sound.length + 1));
        assertDamaged(file, "one byte more");
        ByteArrayOutputStream twice = new ByteArrayOutputStream();
        twice.write(sound);
        twice.write(sound);
        Files.write(file, twice.toByteArray());
        assertDamaged(file, "twice");
    }

    /** In a chunk of a large one, the offset is where that chunk begins. */
    @Test
    void theOffsetNamesTheChunk() throws IOException {
        Path file = backup(state(3_000));
        byte[] bytes = Files.readAllBytes(file);
        int at = bytes.length - 10_000;
        bytes[at] ^= 1;
        Files.write(file, bytes);
        String message = assertDamaged(file, "a flipped bit");
        long offset = Long.parseLong(message.replaceAll(".*: offset (\\d+): .*", "$1"));
        assertTrue(offset <= at && at - offset <= 70_000 && offset > BackupFormat.HEADER_BYTES, message);
    }

    private static String assertDamaged(Path file, String what) {
        String message = String.valueOf(assertThrows(DamagedBackupException.class, () -> BackupFile.read(file), what)
                .getMessage());
        assertTrue(message.startsWith(file + ": offset "), message);
        return message;
    }

    /** With right checksums everywhere, as somebody could write it. */
    @Test
    void aStateLargerThanTheSummaryTellsIsNotReadToItsEnd() throws IOException {
        Path file = directory.resolve("conclave.backup");
        byte[] small = new BackupStream(state(10)).next();
        CRC32C checksum = new CRC32C();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BackupStream large = new BackupStream(state(5_000));
        byte[] piece = small;
        for (large.next(); piece.length > BackupFormat.END_BYTES; piece = large.next()) {
            bytes.write(piece);
            checksum.update(piece);
        }
        bytes.write(BackupFormat.end(checksum, bytes.size()));
        Files.write(file, bytes.toByteArray());
        String message = assertDamaged(file, "more than is told");
        long offset = Long.parseLong(message.replaceAll(".*: offset (\\d+): .*", "$1"));
        assertTrue(offset < 1_000, "the first chunk of nodes: " + message);
        assertTrue(message.contains("beyond the 14 znodes"), message);
    }

    @Test
    void anIncompleteBackupLeavesNothingBehind() throws IOException {
        Path file = directory.resolve("conclave.backup");
        BackupStream stream = new BackupStream(state(10));
        try (BackupReceiver receiver = BackupReceiver.to(file)) {
            receiver.write(stream.next());
            receiver.write(stream.next());
            assertThrows(DamagedBackupException.class, receiver::complete);
        }
        assertEquals(List.of(), files());
    }

    @Test
    void aBackupChangedOnTheWayIsRefused() throws IOException {
        Path file = directory.resolve("conclave.backup");
        BackupStream stream = new BackupStream(state(10));
        try (BackupReceiver receiver = BackupReceiver.to(file)) {
            receiver.write(stream.next());
            for (byte[] piece = stream.next(); piece.length > 0; piece = stream.next()) {
                if (piece.length > BackupFormat.END_BYTES) {
                    piece[7] ^= 1;
                }
                receiver.write(piece);
            }
            assertThrows(DamagedBackupException.class, receiver::complete);
        }
        assertEquals(List.of(), files());
    }

    @Test
    void aFileThatIsThereStays() throws IOException {
        Path file = directory.resolve("conclave.backup");
        BackupStream stream = new BackupStream(state(1));
        try (BackupReceiver receiver = BackupReceiver.to(file)) {
            for (byte[] piece = stream.next(); piece.length > 0; piece = stream.next()) {
                receiver.write(piece);
            }
            Files.writeString(file, "another one's");
            assertThrows(FileAlreadyExistsException.class, receiver::complete);
        }
        assertEquals("another one's", Files.readString(file));
        assertThrows(FileAlreadyExistsException.class, () -> BackupReceiver.to(file));
        assertEquals(List.of("conclave.backup"), files());
    }
}
