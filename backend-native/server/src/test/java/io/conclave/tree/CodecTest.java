package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class CodecTest {
    private static final AuthId ANN = new AuthId("digest", "ann:h1");

    /** One of each kind; the golden file has their bytes in this order. */
    private static List<Change> samples() {
        ZnodeAcl acl = new ZnodeAcl(List.of(new AclEntry(PermissionBits.ALL, ANN), new AclEntry(1, AuthId.ANYONE)));
        byte[] data = {1, 2, 3};
        List<Change> samples = new ArrayList<>(List.of(
                new Change.OpenSession(0x1122334455667788L, TreeTester.password(5), 30_000),
                new Change.ResumeSession(-2, TreeTester.password(6), 1),
                new Change.DeleteContainer("/box/\u00e9\u20ac"),
                new Change.NewTerm(77),
                new Change.RaiseFeatureLevel(2)));
        for (Change.CloseReason reason : Change.CloseReason.values()) {
            if (reason != Change.CloseReason.EXPIRED) {
                samples.add(new Change.CloseSession(9, 0x500000001L, reason));
            }
        }
        for (ZnodeKind mode : ZnodeKind.values()) {
            if (!mode.hasTtl()) {
                samples.add(request(new TreeOperation.Create("/a-", data, acl, mode)));
            }
        }
        samples.add(request(new TreeOperation.Create("/n", null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT)));
        samples.add(request(new TreeOperation.Delete("/a", -1)));
        samples.add(request(new TreeOperation.SetData("/a", new byte[0], 3)));
        samples.add(request(new TreeOperation.SetAcl("/a", acl, 0)));
        samples.add(request(new TreeOperation.Multi(List.of(
                new TreeOperation.Check("/a", 4),
                new TreeOperation.SetData("/b", null, -1),
                new TreeOperation.Delete("/c", 0)))));
        samples.add(new Change.SuspectSession(9, 0x500000001L, 0));
        samples.add(new Change.KeepSession(9, 0x500000001L));
        samples.add(new Change.ExpireSession(9, 0x500000007L, 77));
        samples.add(new Change.Configure("server.1=a:2888:2888:participant\n"));
        samples.add(new Change.SuspectSession(9, 0x500000001L, 78));
        samples.add(new Change.CompareState(3, 0x500000400L, 0x0123456789abcdefL));
        samples.add(new Change.DeleteContainer("/box", 3_600_000));
        samples.add(request(new TreeOperation.Create("/t", data, acl, ZnodeKind.PERSISTENT_WITH_TTL, 1)));
        samples.add(request(new TreeOperation.Multi(List.of(new TreeOperation.Create(
                "/t-", null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT_SEQUENTIAL_WITH_TTL, TreeOperation.MAX_TTL_MS)))));
        return samples;
    }

    private static Change request(TreeOperation operation) {
        return new Change.Request(9, 0x500000001L, List.of(ANN, AuthId.SUPER), operation);
    }

    /** A state with something of everything. */
    private static TreeState sampleState(int featureLevel) {
        TreeTester tree = new TreeTester().open(1).open(-2);
        tree.apply(new Change.NewTerm(4));
        tree.apply(new Change.RaiseFeatureLevel(featureLevel));
        tree.request(1, TreeTester.create("/a"));
        tree.request(
                1,
                List.of(ANN),
                new TreeOperation.Create(
                        "/a/null",
                        null,
                        new ZnodeAcl(List.of(new AclEntry(31, new AuthId("auth", "")))),
                        ZnodeKind.PERSISTENT));
        tree.request(-2, TreeTester.create("/a/e-", ZnodeKind.EPHEMERAL_SEQUENTIAL));
        tree.request(1, TreeTester.create("/box", ZnodeKind.CONTAINER));
        tree.apply(new Change.SuspectSession(-2, tree.attachment(-2), 0));
        tree.timeMs = 2_000;
        tree.request(1, new TreeOperation.SetData("/a", TreeTester.bytes("changed"), 0));
        tree.request(1, TreeTester.create("/a/\u00e9\u20ac"));
        return tree.state;
    }

    private static byte[] snapshot(TreeState state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            SnapshotCodec.write(state, bytes);
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
        return bytes.toByteArray();
    }

    private static TreeState restore(byte[] bytes) throws IOException {
        return SnapshotCodec.read(new ByteArrayInputStream(bytes));
    }

    /** The bytes that version 1 writes must be read by all later versions; a difference here breaks upgrades. */
    @Test
    void changesAreWrittenAndReadAsInTheGoldenFile() throws IOException {
        List<String> written = new ArrayList<>();
        for (Change change : samples()) {
            written.add(HexFormat.of().formatHex(ChangeCodec.encode(change)));
        }
        List<String> golden = golden("changes-1.hex");
        assertEquals(String.join("\n", golden), String.join("\n", written));
        for (int i = 0; i < golden.size(); i++) {
            assertEquals(
                    samples().get(i),
                    ChangeCodec.decode(ByteBuffer.wrap(HexFormat.of().parseHex(golden.get(i)))));
        }
    }

    @Test
    void aSnapshotForMembersOfAllVersionsIsWrittenAndReadAsInTheGoldenFile() throws IOException {
        compareWithGoldenFile(sampleState(1), "snapshot-2.hex");
    }

    @Test
    void aSnapshotIsWrittenAndReadAsInTheGoldenFile() throws IOException {
        compareWithGoldenFile(sampleState(2), "snapshot-3.hex");
    }

    /** The format is the same: members of earlier versions refuse the feature level in its header. */
    @Test
    void aSnapshotWithTimesToLiveIsWrittenAndReadAsInTheGoldenFile() throws IOException {
        TreeTester tree = new TreeTester();
        tree.state = sampleState(Change.TTL_FEATURE_LEVEL);
        tree.request(1, new TreeOperation.Create("/t", null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT_WITH_TTL, 1));
        tree.request(
                1,
                new TreeOperation.Create(
                        "/t/long", null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT_WITH_TTL, TreeOperation.MAX_TTL_MS));
        compareWithGoldenFile(tree.state, "snapshot-3-ttl.hex");
        assertEquals(
                List.of("/box", "/t", "/t/long"),
                restore(snapshot(tree.state)).reaped().sorted());
    }

    private static void compareWithGoldenFile(TreeState state, String name) throws IOException {
        List<String> golden = golden(name);
        assertEquals(golden.get(0), HexFormat.of().formatHex(snapshot(state)));
        TreeState read = restore(HexFormat.of().parseHex(golden.get(0)));
        assertEquals(TreeText.dump(state), TreeText.dump(read));
        assertEquals(golden.get(1), Long.toHexString(read.digest()));
        assertEquals(state.header(), read.header());
    }

    @Test
    void aSnapshotOfAnotherStateThanItsDigestSaysIsNotRead() {
        byte[] bytes = snapshot(sampleState(2));
        ByteBuffer header = ByteBuffer.wrap(bytes);
        int length = header.getInt(0);
        header.put(2 * Integer.BYTES + length - 1, (byte) (bytes[2 * Integer.BYTES + length - 1] ^ 1));
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, 2 * Integer.BYTES, length);
        header.putInt(Integer.BYTES, (int) checksum.getValue());
        IOException refused = assertThrows(IOException.class, () -> restore(bytes));
        assertTrue(refused.getMessage().contains("digest"), refused.getMessage());
    }

    @Test
    void memoryThatWasDamagedIsNotWrittenIntoASnapshot() {
        TreeTester tree = new TreeTester().open(1);
        byte[] data = {1, 2, 3};
        tree.request(1, new TreeOperation.Create("/a", data, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT));
        assertTrue(tree.state.hasRightDigest());
        byte[] kept = tree.state.znode("/a").orElseThrow().data();
        kept[1] ^= 4;
        assertFalse(tree.state.hasRightDigest());
        assertThrows(IOException.class, () -> SnapshotCodec.write(tree.state, OutputStream.nullOutputStream()));
    }

    private static List<String> golden(String name) throws IOException {
        try (InputStream in = CodecTest.class.getResourceAsStream(name)) {
            assertNotNull(in, name);
            return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.US_ASCII)
                    .lines()
                    .toList();
        }
    }

    @Test
    void aChangeThatIsCutOrTooLongIsRefused() {
        for (Change change : samples()) {
            byte[] bytes = ChangeCodec.encode(change);
            for (int length = 0; length < bytes.length; length++) {
                ByteBuffer cut = ByteBuffer.wrap(bytes, 0, length);
                assertThrows(TreeFormatException.class, () -> ChangeCodec.decode(cut), change + " cut at " + length);
            }
            ByteBuffer longer = ByteBuffer.wrap(Arrays.copyOf(bytes, bytes.length + 1));
            assertThrows(TreeFormatException.class, () -> ChangeCodec.decode(longer), change.toString());
        }
    }

    @Test
    void damagedChangesAreRefusedOrAreOtherChangesAndNothingElseHappens() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Change> samples = samples();
        for (int i = 0; i < 50_000; i++) {
            byte[] bytes = ChangeCodec.encode(samples.get(random.nextInt(samples.size())));
            for (int flips = random.nextInt(3); flips >= 0; flips--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            try {
                Change decoded = ChangeCodec.decode(ByteBuffer.wrap(bytes));
                assertArrayEquals(bytes, ChangeCodec.encode(decoded), "seed " + seed);
            } catch (TreeFormatException expected) {
                assertNotNull(expected.getMessage());
            }
        }
    }

    @Test
    void anUnknownVersionIsNamed() {
        String message = assertThrows(
                        TreeFormatException.class, () -> ChangeCodec.decode(ByteBuffer.wrap(new byte[] {9, 6, 0})))
                .getMessage();
        assertTrue(message.contains("version 9"), message);
    }

    @Test
    void halfASurrogatePairIsNotWritten() {
        for (String path : List.of("/\ud83d", "/\u20ac\ud83d")) {
            assertThrows(IllegalArgumentException.class, () -> ChangeCodec.encode(new Change.DeleteContainer(path)));
        }
        Change whole = new Change.DeleteContainer("/?\ud83d\ude00");
        assertEquals(whole, ChangeCodec.decode(ByteBuffer.wrap(ChangeCodec.encode(whole))));
    }

    @Test
    void aSnapshotThatIsCutOrTooLongIsRefused() {
        byte[] bytes = snapshot(sampleState(2));
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThrows(TreeFormatException.class, () -> restore(cut), "cut at " + length);
        }
        assertThrows(TreeFormatException.class, () -> restore(Arrays.copyOf(bytes, bytes.length + 1)));
    }

    @Test
    void everyDamagedByteOfASnapshotIsFound() {
        byte[] bytes = snapshot(sampleState(2));
        for (int i = 0; i < bytes.length; i++) {
            byte[] damaged = bytes.clone();
            damaged[i] ^= 0x10;
            assertThrows(TreeFormatException.class, () -> restore(damaged), "byte " + i);
        }
    }

    @Test
    void aSnapshotWithMoreSessionsThanItIsSaidToHaveIsNotRead() throws IOException {
        TreeState state = sampleState(2);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SnapshotCodec.write(state, bytes);
        int sessions = state.sessions().size();
        InputStream in = new ByteArrayInputStream(bytes.toByteArray());
        TreeFormatException refusal = assertThrows(
                TreeFormatException.class,
                () -> SnapshotCodec.read(in, sessions - 1, state.nodeCount(), state.approximateDataBytes()));
        assertTrue(String.valueOf(refusal.getMessage()).contains("has " + sessions + " sessions"), refusal::getMessage);
    }

    @Test
    void aSnapshotOfManyAndLargeNodesGoesThroughChunks() throws IOException {
        TreeTester tree = new TreeTester().open(1);
        byte[] large = new byte[1 << 20];
        new Random(1).nextBytes(large);
        for (int i = 0; i < 3_000; i++) {
            tree.request(1, TreeTester.create("/n-", ZnodeKind.EPHEMERAL_SEQUENTIAL));
        }
        tree.request(1, new TreeOperation.Create("/large", large, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT));
        TreeState read = restore(snapshot(tree.state));
        assertEquals(tree.state.digest(), read.digest());
        assertArrayEquals(large, TreeReads.data(read, "/large", List.of()).bytes());
        assertEquals(3_000, read.session(1).orElseThrow().ephemerals().size());
    }
}
