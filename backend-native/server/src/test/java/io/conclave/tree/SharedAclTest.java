package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A long list that very many nodes have is looked at once, and not for each of them. */
class SharedAclTest {
    private static final int NODES = 2_000;

    /** A look at the list allocates more than 100 kB. */
    private static final long FEW_LOOKS = 10_000_000;

    private final TreeTester tree = new TreeTester().open(1);

    private static ZnodeAcl acl(int entries) {
        return new ZnodeAcl(Stream.concat(
                        Stream.of(AuthId.ANYONE),
                        IntStream.range(1, entries).mapToObj(i -> new AuthId("digest", "user" + i + ":h")))
                .map(id -> new AclEntry(PermissionBits.ALL, id))
                .toList());
    }

    private static void assertFewLooks(Runnable work) {
        long allocated = AllocatedBytes.of(work);
        assertTrue(allocated < FEW_LOOKS, allocated + " bytes were allocated");
    }

    private void createEphemerals(ZnodeAcl acl) {
        List<TreeOperation> parts = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            parts.add(new TreeOperation.Create("/e" + i, null, acl, ZnodeKind.EPHEMERAL));
        }
        assertInstanceOf(Result.MultiDone.class, tree.request(1, new TreeOperation.Multi(parts)));
    }

    @Test
    void theEndOfASessionDoesNotLookAtTheListOfEachEphemeral() {
        createEphemerals(acl(1_500));
        assertFewLooks(() -> tree.apply(new Change.CloseSession(1, Change.ANY_ATTACHMENT, Change.CloseReason.CLIENT)));
        assertEquals(0, tree.state.ephemeralCount());
        assertTrue(tree.state.hasRightDigest());
    }

    /** Each with its own copy of the list, as a multi has it. */
    @Test
    void aListIsResolvedOnceForAllPartsOfAMulti() {
        List<AuthId> ids = IntStream.range(0, 85)
                .mapToObj(i -> new AuthId("digest", "user" + i + ":h"))
                .toList();
        List<TreeOperation> parts = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            ZnodeAcl auth = new ZnodeAcl(IntStream.rangeClosed(1, 8)
                    .mapToObj(permissions -> new AclEntry(permissions, new AuthId("auth", "")))
                    .toList());
            parts.add(new TreeOperation.Create("/n" + i, null, auth, ZnodeKind.PERSISTENT));
        }
        long allocated = AllocatedBytes.of(
                () -> assertInstanceOf(Result.MultiDone.class, tree.request(1, ids, new TreeOperation.Multi(parts))));
        assertTrue(allocated < 60_000_000, allocated + " bytes were allocated");
        ZnodeAcl first = tree.state.znode("/n0").orElseThrow().acl();
        assertEquals(8 * 85, first.entries().size());
        assertSame(first, tree.state.znode("/n1999").orElseThrow().acl());
    }

    @Test
    void snapshotsAreWrittenAndReadWithoutALookAtTheListOfEachNode() {
        createEphemerals(acl(1_500));
        assertFewLooks(() -> assertEquals(tree.state.digest(), read(written()).digest()));
    }

    private byte[] written() {
        try (ByteArrayOutputStream out = new ByteArrayOutputStream()) {
            SnapshotCodec.write(tree.state, out);
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TreeState read(byte[] snapshot) {
        try {
            return SnapshotCodec.read(new ByteArrayInputStream(snapshot));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Though its digest is known from the time before. */
    @Test
    void aListThatWasDamagedInMemoryIsNotWrittenIntoASnapshot() throws ReflectiveOperationException {
        tree.request(1, new TreeOperation.Create("/a", null, acl(3), ZnodeKind.PERSISTENT));
        assertTrue(tree.state.hasRightDigest());
        Field entries = ZnodeAcl.class.getDeclaredField("entries");
        entries.setAccessible(true);
        entries.set(tree.state.znode("/a").orElseThrow().acl(), acl(4).entries());
        assertFalse(tree.state.hasRightDigest());
        assertThrows(IOException.class, () -> SnapshotCodec.write(tree.state, OutputStream.nullOutputStream()));
    }
}
