package io.conclave.importing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.tree.AclEntry;
import io.conclave.tree.AuthId;
import io.conclave.tree.TreeState;
import io.conclave.tree.ZnodeAcl;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForeignDataTest {
    private static final int LEVEL = 4;
    private static final ZnodeAcl READER = new ZnodeAcl(List.of(new AclEntry(1, new AuthId("ip", "10.0.0.1"))));

    @TempDir
    private Path directory;

    private Path snapshot;
    private Path log;

    @BeforeEach
    void write() throws IOException {
        ForeignFiles.write(directory);
        snapshot = directory.resolve("version-2/snapshot.5");
        log = directory.resolve("version-2/log.6");
    }

    private ForeignData.Contents read() throws IOException {
        return ForeignData.read(directory, directory, LEVEL);
    }

    private String refusal() {
        return String.valueOf(assertThrows(IOException.class, this::read).getMessage());
    }

    @Test
    void theSnapshotAndWhatFollowsIt() throws IOException {
        ForeignData.Contents contents = read();
        TreeState state = contents.state();
        assertEquals(2, contents.transactions());
        assertEquals(List.of(log), contents.logs());
        assertEquals(1, contents.sessions());
        assertEquals(7, state.lastZxid());
        assertTrue(state.hasRightDigest());
        assertArrayEquals(
                "/a".getBytes(StandardCharsets.UTF_8),
                state.znode("/a").orElseThrow().data());
        assertNull(state.znode("/a/c").orElseThrow().data());
        assertEquals(2, state.znode("/a").orElseThrow().creations());
        assertEquals(7, state.znode("/a").orElseThrow().pzxid());
        assertEquals(1, state.ephemeralCount());
        assertTrue(state.session(ForeignFiles.SESSION).isPresent());
        assertTrue(state.znode("/zookeeper/quota").isPresent());
    }

    /** Each changed byte is found, or is one that says nothing of the tree. */
    @Test
    void aDamagedByteIsRefusedWithFileAndOffset() throws IOException {
        long digest = read().state().digest();
        for (Path file : new Path[] {snapshot, log}) {
            byte[] whole = Files.readAllBytes(file);
            int refused = 0;
            for (int i = 0; i < whole.length; i++) {
                byte[] damaged = whole.clone();
                damaged[i] ^= 0x15;
                Files.write(file, damaged);
                try {
                    assertEquals(digest, read().state().digest(), file + " at " + i);
                    boolean isDatabaseId = i >= 8 && i < 16;
                    boolean isPadding = i >= whole.length - 100; // like a record that was begun and not acknowledged
                    assertTrue(
                            file.equals(log) && (isDatabaseId || isPadding),
                            "read in spite of damage at " + i + " of " + file);
                } catch (IOException e) {
                    refused++;
                    assertTrue(
                            e instanceof ForeignDataException && e.getMessage().startsWith(file + ": offset ")
                                    || file.equals(snapshot) && i >= whole.length - 5,
                            e::getMessage);
                }
            }
            assertTrue(refused >= whole.length - 108, file + " " + refused);
            Files.write(file, whole);
        }
    }

    /** A process that was killed leaves a part of a transaction, before zeros or at the end of the file. */
    @Test
    void aTornEndOfALogIsCut() throws IOException {
        byte[] whole = Files.readAllBytes(log);
        int end = whole.length - 100;
        for (int cut = end - 1; cut > end - 60; cut--) {
            Files.write(log, Arrays.copyOf(whole, cut));
            assertEquals(6, read().state().lastZxid(), "cut at " + cut);
            assertEquals(1, read().notes().size());
            byte[] zeroed = whole.clone();
            Arrays.fill(zeroed, cut, zeroed.length, (byte) 0);
            Files.write(log, zeroed);
            assertEquals(6, read().state().lastZxid(), "zeros from " + cut);
        }
    }

    @Test
    void aSnapshotThatWasBeingWrittenIsLeftOut() throws IOException {
        Files.write(snapshot.resolveSibling("snapshot.7"), Arrays.copyOf(ForeignFiles.snapshot(), 100));
        ForeignData.Contents contents = read();
        assertEquals(snapshot, contents.snapshot());
        assertEquals(7, contents.state().lastZxid());
        assertTrue(
                contents.notes().get(0).contains("snapshot.7 was not written to its end"), contents.notes()::toString);
    }

    @Test
    void aCompressedSnapshotIsRead() throws IOException {
        long digest = read().state().digest();
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(compressed)) {
            out.write(ForeignFiles.snapshot());
        }
        Files.delete(snapshot);
        Files.write(snapshot.resolveSibling("snapshot.5.gz"), compressed.toByteArray());
        assertEquals(digest, read().state().digest());
        Files.move(snapshot.resolveSibling("snapshot.5.gz"), snapshot.resolveSibling("snapshot.5.snappy"));
        assertTrue(refusal().contains("snappy is not read"), this::refusal);
    }

    @Test
    void transactionsThatAreMissingAreNamed() throws IOException {
        Files.write(log, ForeignFiles.log(ForeignFiles.create(8, "/b", 2)));
        assertTrue(refusal().contains("transactions are missing: 0x8 follows 0x5"), this::refusal);
        Files.write(log, ForeignFiles.log(ForeignFiles.create((1L << 32) + 1, "/b", 2)));
        assertEquals((1L << 32) + 1, read().state().lastZxid());
    }

    /** A leader may go after any transaction, so that the number of the next one does not tell what is missing. */
    @Test
    void anEpochThatBeginsAFileIsNoted() throws IOException {
        long first = 1L << 32;
        Files.write(
                snapshot.resolveSibling("log.100000001"), ForeignFiles.log(ForeignFiles.create(first + 1, "/x", 3)));
        ForeignData.Contents contents = read();
        assertEquals(first + 1, contents.state().lastZxid());
        assertEquals(1, contents.notes().size());
        assertTrue(
                contents.notes().get(0).contains("log.100000001 begins an epoch with 0x100000001, after 0x7: "),
                contents.notes()::toString);
        byte[] both = ForeignFiles.log(ForeignFiles.create(6, "/b", 2), ForeignFiles.create(first + 1, "/x", 3));
        Files.delete(snapshot.resolveSibling("log.100000001"));
        Files.write(log, both);
        assertEquals(List.of(), read().notes(), "no file can be missing within one");
    }

    /** A log in the middle, whose successor begins an epoch, as a leader that goes leaves it: the digests tell. */
    @Test
    void aLogThatIsMissingBeforeANewEpochIsNoticedByTheDigests() throws IOException {
        long first = (1L << 32) + 1;
        Path middle = snapshot.resolveSibling("log.7");
        Path last = snapshot.resolveSibling("log.100000001");
        ReplayedTree tree = ForeignSnapshot.read(snapshot).tree();
        byte[][] logs = new byte[3][];
        long digest = 0;
        long[] zxids = {6, 7, first};
        for (int i = 0; i < zxids.length; i++) {
            tree.create("/n" + i, null, ZnodeAcl.OPEN, 0, i + 2, zxids[i], 1_000 + zxids[i]);
            digest = tree.digest();
            byte[] created = ForeignFiles.create(zxids[i], "/n" + i, i + 2);
            logs[i] = ForeignFiles.log(ForeignFiles.digested(created, digest));
        }
        Files.write(log, logs[0]);
        Files.write(middle, logs[1]);
        Files.write(last, logs[2]);
        assertTrue(read().isConfirmed());
        assertEquals(List.of(), read().notes());
        Files.delete(middle);
        assertTrue(
                refusal()
                        .contains("log.100000001 begins an epoch with 0x100000001, after 0x6, and transactions between"
                                + " the two are missing"),
                this::refusal);
        Files.write(middle, logs[1]);
        byte[] undigested = ForeignFiles.create(first, "/n2", 4);
        byte[] wrong = ForeignFiles.digested(ForeignFiles.create(first + 1, "/n3", 5), digest);
        Files.write(last, ForeignFiles.log(undigested, wrong));
        List<String> notes = read().notes();
        assertEquals(2, notes.size(), notes::toString);
        assertTrue(notes.get(0).contains("cannot be noticed"), notes::toString);
        assertTrue(notes.get(1).contains("Either its servers differed, or something is missing"), notes::toString);
    }

    /** ZooKeeper writes the list of ACLs first, and then the znodes while transactions go on. */
    @Test
    void anAclThatIsNotListedIsThatOfTheTransaction() throws IOException {
        Files.write(snapshot, ForeignFiles.snapshot(out -> {
            ForeignFiles.znode(out, "/a/c", 0, 0, 2);
            ForeignFiles.znode(out, "/a/d", 0, 0, 3);
        }));
        assertTrue(refusal().startsWith(snapshot + ": /a/"), this::refusal);
        byte[] created = ForeignFiles.transaction(6, 15, out -> {
            ForeignFiles.text(out, "/a/c");
            ForeignFiles.buffer(out, null);
            reader(out);
            out.writeBoolean(false);
            out.writeInt(2);
        });
        Files.write(log, ForeignFiles.log(created));
        assertEquals(
                snapshot + ": /a/d has an ACL that is not listed, and no transaction behind the snapshot sets it.",
                refusal());
        byte[] changed = ForeignFiles.transaction(7, 7, out -> {
            ForeignFiles.text(out, "/a/d");
            reader(out);
            out.writeInt(1);
        });
        Files.write(log, ForeignFiles.log(created, changed));
        TreeState state = read().state();
        assertEquals(READER, state.znode("/a/c").orElseThrow().acl());
        assertEquals(READER, state.znode("/a/d").orElseThrow().acl());
        assertEquals(5, state.znode("/a/c").orElseThrow().czxid());
        byte[] gone = ForeignFiles.transaction(7, 2, out -> ForeignFiles.text(out, "/a/d"));
        Files.write(log, ForeignFiles.log(created, gone));
        assertTrue(read().state().znode("/a/d").isEmpty());
    }

    private static void reader(DataOutputStream out) throws IOException {
        out.writeInt(1);
        out.writeInt(1);
        ForeignFiles.text(out, "ip");
        ForeignFiles.text(out, "10.0.0.1");
    }

    @Test
    void aKindOfTransactionThatIsNotKnownIsRefused() throws IOException {
        Files.write(log, ForeignFiles.log(ForeignFiles.transaction(6, 77, out -> out.writeInt(1))));
        assertTrue(refusal().endsWith("a transaction of type 77, which is not understood"), this::refusal);
        Files.write(log, ForeignFiles.log(ForeignFiles.transaction(6, -1, out -> out.writeLong(1))));
        assertTrue(refusal().endsWith("is longer than is understood"), this::refusal);
    }

    /** Dropped with the sessions, it would be lost without a word. */
    @Test
    void aTimeToLiveOf353IsRefusedAndNamed() throws IOException {
        Files.write(snapshot, ForeignFiles.snapshot(0x80L << 56 | 86_400_000L));
        assertTrue(refusal().contains("/a/e has a time to live as ZooKeeper 3.5.3 writes it"), this::refusal);
        Files.write(snapshot, ForeignFiles.snapshot(0x80L << 56 | 0x19_2345_6789_0000L)); // a session of server 128
        assertEquals(1, read().state().ephemeralCount());
        Files.write(snapshot, ForeignFiles.snapshot(Long.MIN_VALUE)); // a container
        assertEquals(0, read().state().ephemeralCount());
    }

    /** Their clients must connect anew after the import, so the operator is told of all. */
    @Test
    void sessionsWithoutEphemeralsAreCounted() throws IOException {
        long second = ForeignFiles.SESSION + 1;
        byte[] again = ForeignFiles.transaction(6, -10, out -> out.writeInt(30_000)); // the snapshot has it already
        byte[] opened = ForeignFiles.transaction(second, 7, -10, out -> out.writeInt(30_000));
        byte[] third = ForeignFiles.transaction(second + 1, 8, -10, out -> out.writeInt(30_000));
        byte[] ended = ForeignFiles.transaction(second + 1, 9, -11, out -> out.writeInt(0));
        Files.write(log, ForeignFiles.log(again, opened, third, ended));
        assertEquals(2, read().sessions());
        assertEquals(1, read().state().sessions().size());
    }

    /** What a snapshot has of a change that is logged behind it does not happen twice. */
    @Test
    void whatTheSnapshotHasAlreadyIsNotDoneTwice() throws IOException {
        byte[] deletion = ForeignFiles.transaction(7, 2, out -> ForeignFiles.text(out, "/missing"));
        byte[] end = ForeignFiles.transaction(8, -11, out -> {
            out.writeInt(1);
            ForeignFiles.text(out, "/a/e");
            out.writeInt(2);
            out.writeLong(4711); // the digest of 3.6 and later
        });
        byte[] orphan = ForeignFiles.create(9, "/missing/child", 1);
        Files.write(log, ForeignFiles.log(ForeignFiles.create(6, "/a", 1), deletion, end, orphan));
        TreeState state = read().state();
        assertEquals(9, state.lastZxid());
        assertEquals(5, state.znode("/a").orElseThrow().czxid());
        assertEquals(1, state.root().creations());
        assertEquals(0, state.ephemeralCount());
        assertEquals(0, state.sessions().size());
        assertTrue(state.znode("/missing/child").isEmpty());
    }

    /** A dataLogDir of its own that was not named: the snapshot alone would lose what was acknowledged after it. */
    @Test
    void aSnapshotWithoutAnyLogIsRefused() throws IOException {
        Files.delete(log);
        assertTrue(refusal().endsWith("name the dataLogDir."), this::refusal);
    }

    /** ZooKeeper logs a transaction before a snapshot has it, so the logs are those of another time or place. */
    @Test
    void logsThatEndBeforeTheSnapshotAreNoted() throws IOException {
        Files.move(snapshot, snapshot.resolveSibling("snapshot.8"));
        ForeignData.Contents contents = read();
        assertEquals(0, contents.transactions());
        assertEquals(1, contents.notes().size(), contents.notes()::toString);
        assertTrue(contents.notes().get(0).startsWith("The logs end at 0x7, before "), contents.notes()::toString);
    }

    /** A leader has the number of its epoch before there is a transaction of it, and a snapshot may be taken then. */
    @Test
    void aSnapshotAtTheBeginOfAnEpochIsBehindTheLogs() throws IOException {
        Files.move(snapshot, snapshot.resolveSibling("snapshot.100000000"));
        assertEquals(List.of(), read().notes());
    }

    @Test
    void aDirectoryWithoutASnapshotIsRefused() throws IOException {
        Files.delete(snapshot);
        assertTrue(refusal().endsWith("has no whole snapshot of ZooKeeper (snapshot.*)."), this::refusal);
    }
}
