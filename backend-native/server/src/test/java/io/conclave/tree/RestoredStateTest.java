package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RestoredStateTest {
    private static final UUID NEW_CLUSTER = new UUID(3, 4);
    private static final String MEMBERS = "server.2=a:2888:0:participant\n";

    private static TreeState restored(TreeState from) {
        return RestoredState.of(from, NEW_CLUSTER, from.generation() + 1, MEMBERS);
    }

    @Test
    void sessionsAndTheirEphemeralsEndAndAllElseStays() {
        TreeTester tree = new TreeTester().open(1).open(2);
        tree.apply(new Change.NewTerm(9));
        tree.apply(new Change.RaiseFeatureLevel(Change.TTL_FEATURE_LEVEL));
        ZnodeAcl acl = new ZnodeAcl(List.of(new AclEntry(PermissionBits.ALL, new AuthId("digest", "ann:h"))));
        tree.request(1, new TreeOperation.Create("/kept", TreeTester.bytes("x"), acl, ZnodeKind.PERSISTENT));
        tree.request(1, TreeTester.create("/box", ZnodeKind.CONTAINER));
        for (int i = 0; i < 3; i++) {
            tree.request(1, TreeTester.create("/box/lock-", ZnodeKind.EPHEMERAL_SEQUENTIAL));
            tree.request(2, TreeTester.create("/box/lock-", ZnodeKind.EPHEMERAL_SEQUENTIAL));
        }
        tree.request(
                1, new TreeOperation.Create("/ttl", TreeTester.bytes("x"), acl, ZnodeKind.PERSISTENT_WITH_TTL, 60_000));
        TreeState before = tree.state;

        tree.state = restored(before);
        TreeState after = tree.state;
        assertEquals(NEW_CLUSTER, after.clusterId());
        assertEquals(before.generation() + 1, after.generation());
        assertEquals(before.term(), after.term());
        assertEquals(before.featureLevel(), after.featureLevel());
        assertTrue(after.lastZxid() > before.lastZxid());
        assertEquals(0, after.sessions().size());
        assertEquals(0, after.ephemeralCount());
        assertTrue(after.hasRightDigest());
        assertEquals(List.of(), tree.children("/box"));
        assertEquals(before.znode("/kept").orElseThrow(), after.znode("/kept").orElseThrow());
        assertEquals(before.znode("/ttl").orElseThrow(), after.znode("/ttl").orElseThrow());
        assertEquals(before.reaped(), after.reaped());
        assertTrue(new String(after.znode("/zookeeper/config").orElseThrow().data()).startsWith(MEMBERS));

        assertInstanceOf(
                Result.Failed.class,
                tree.apply(new Change.ResumeSession(1, TreeTester.password(1), 5_000))
                        .result());
        tree.open(3);
        tree.request(3, TreeTester.create("/box/lock-", ZnodeKind.EPHEMERAL_SEQUENTIAL));
        assertEquals(List.of("lock-0000000006"), tree.children("/box"));
    }

    @Test
    void zxidsGoOnAboveAllThatAMillionElectionsWouldHaveGiven() {
        TreeTester tree = new TreeTester().open(1);
        TreeState restored = restored(tree.state);
        for (int term = 1; term < 1_000_000; term++) {
            tree.apply(new Change.NewTerm(term));
        }
        assertTrue(restored.lastZxid() > tree.state.lastZxid());
    }

    @Test
    void aRestoreOfARestoreGoesOnRising() {
        TreeState first = restored(new TreeTester().open(1).state);
        TreeState second = RestoredState.of(first, new UUID(5, 6), first.generation() + 1, MEMBERS);
        assertTrue(second.lastZxid() > first.lastZxid());
        assertEquals(first.root().children().get("zookeeper").children().size(), 2);
    }

    @Test
    void numbersThatWouldGoBackAreRefused() {
        TreeState state = new TreeTester().state;
        for (long generation : new long[] {state.generation(), state.generation() - 1, 0, Long.MIN_VALUE}) {
            String message = String.valueOf(assertThrows(
                            IllegalArgumentException.class,
                            () -> RestoredState.of(state, NEW_CLUSTER, generation, MEMBERS))
                    .getMessage());
            assertTrue(message.contains("it must be greater than " + state.generation()), message);
        }
        assertThrows(IllegalArgumentException.class, () -> RestoredState.of(state, state.clusterId(), 1_000, MEMBERS));
    }

    @Test
    void statesOfRandomHistoriesAreRestored() {
        long seed = new Random().nextLong();
        RandomChanges changes = new RandomChanges(new Random(seed));
        TreeState state = TreeState.initial(TreeTester.CLUSTER, 1);
        boolean hadEphemerals = false;
        for (int step = 0; step < 5_000; step++) {
            state = Tree.apply(state, changes.next(state), step).state();
            if (step % 100 == 0) {
                hadEphemerals |= state.ephemeralCount() > 0;
                TreeState after = restored(state);
                String where = "seed " + seed + " step " + step;
                assertTrue(after.hasRightDigest(), where);
                assertNotEquals(state.digest(), after.digest(), where);
                assertEquals(0, after.sessions().size(), where);
                assertEquals(0, after.ephemeralCount(), where);
                assertEquals(state.nodeCount() - state.ephemeralCount(), after.nodeCount(), where);
                assertFalse(TreeText.dump(after).isEmpty(), where);
            }
        }
        assertTrue(hadEphemerals, "seed " + seed);
    }
}
