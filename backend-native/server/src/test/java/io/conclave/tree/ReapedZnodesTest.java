package io.conclave.tree;

import static io.conclave.tree.TreeTester.create;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Znodes that the server deletes by itself: containers, and those with a time to live. */
class ReapedZnodesTest {
    private final TreeTester tree = new TreeTester().open(1).open(2);

    @Test
    void aContainerGoesOnlyAfterItHadChildrenAndHasNone() {
        tree.request(1, create("/box", ZnodeKind.CONTAINER));
        tree.request(1, create("/plain"));
        assertEquals(0, tree.stat("/box").ephemeralOwner());
        assertEquals(TreeError.BAD_VERSION, reap("/box"));
        assertEquals(List.of(), reapable());
        tree.request(1, create("/box/a"));
        assertEquals(TreeError.NOT_EMPTY, reap("/box"));
        tree.request(1, new TreeOperation.Delete("/box/a", -1));
        assertEquals(List.of("/box"), reapable());
        assertEquals(TreeError.BAD_VERSION, reap("/plain"));
        assertEquals(TreeError.NO_NODE, reap("/nothing"));
        assertEquals(TreeError.BAD_ARGUMENTS, reap("/zookeeper/quota"));
        assertEquals(
                new Result.Deleted(),
                tree.apply(new Change.DeleteContainer("/box")).result());
        assertEquals(List.of("DELETED /box", "CHILDREN_CHANGED /"), tree.events());
        assertTrue(tree.state.reaped().isEmpty());
    }

    @Test
    void aContainerThatWasNeverUsedGoesAfterTheTimeThatTheReaperNames() {
        tree.request(1, create("/box", ZnodeKind.CONTAINER));
        long createdMs = tree.timeMs;
        tree.timeMs = createdMs + 100;
        assertEquals(List.of(), tree.state.reapable(createdMs + 100, 100, 10));
        assertEquals(List.of(), tree.state.reapable(createdMs + 101, 0, 10));
        assertEquals(List.of("/box"), tree.state.reapable(createdMs + 101, 100, 10));
        assertEquals(TreeError.BAD_VERSION, reap(new Change.DeleteContainer("/box", 100)));
        tree.timeMs++;
        assertEquals(TreeError.BAD_VERSION, reap("/box"));
        assertEquals(
                new Result.Deleted(),
                tree.apply(new Change.DeleteContainer("/box", 100)).result());
    }

    @Test
    void aNodeWithATimeToLiveGoesWhenItWasNotChangedForLonger() {
        tree.request(1, ttl("/t", 1_000));
        long createdMs = tree.timeMs;
        assertEquals(0, tree.stat("/t").ephemeralOwner());
        assertEquals(1_000, tree.state.znode("/t").orElseThrow().ttlMs());
        assertEquals(0, tree.state.ephemeralCount());
        tree.timeMs = createdMs + 1_000;
        assertEquals(List.of(), reapable());
        assertEquals(TreeError.BAD_VERSION, reap("/t"));
        tree.timeMs++;
        assertEquals(List.of("/t"), reapable());
        assertEquals(
                new Result.Deleted(),
                tree.apply(new Change.DeleteContainer("/t")).result());
        assertEquals(List.of("DELETED /t", "CHILDREN_CHANGED /"), tree.events());
        assertTrue(tree.state.reaped().isEmpty());
        assertTrue(tree.state.hasRightDigest());
    }

    @Test
    void newDataRenewTheTimeToLiveAndANewAclDoesNot() {
        tree.request(1, ttl("/t", 1_000));
        long createdMs = tree.timeMs;
        tree.timeMs = createdMs + 900;
        tree.request(1, new TreeOperation.SetAcl("/t", ZnodeAcl.OPEN, -1));
        assertEquals(List.of("/t"), tree.state.reapable(createdMs + 1_001, 0, 10));
        tree.request(1, new TreeOperation.SetData("/t", null, -1));
        tree.timeMs = createdMs + 1_900;
        assertEquals(TreeError.BAD_VERSION, reap("/t"), "the reaper had found it before it was changed");
        assertEquals(List.of(), reapable());
        tree.timeMs++;
        assertEquals(List.of("/t"), reapable());
    }

    @Test
    void childrenKeepANodeWithATimeToLiveAndDoNotRenewIt() {
        tree.request(1, ttl("/t", 1_000));
        tree.request(1, create("/t/a"));
        tree.request(1, create("/t/e", ZnodeKind.EPHEMERAL));
        tree.timeMs += 5_000;
        assertEquals(List.of(), reapable());
        assertEquals(TreeError.NOT_EMPTY, reap("/t"));
        tree.request(1, new TreeOperation.Delete("/t/a", -1));
        tree.request(1, new TreeOperation.Delete("/t/e", -1));
        assertEquals(List.of("/t"), reapable());
    }

    @Test
    void sequentialNodesHaveATimeToLiveToo() {
        TreeOperation create = new TreeOperation.Create(
                "/t-", null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT_SEQUENTIAL_WITH_TTL, TreeOperation.MAX_TTL_MS);
        assertEquals(
                "/t-0000000000",
                assertInstanceOf(Result.Created.class, tree.request(1, create)).path());
        assertEquals(
                TreeOperation.MAX_TTL_MS,
                tree.state.znode("/t-0000000000").orElseThrow().ttlMs());
    }

    @Test
    void aTimeToLiveIsWithinItsBoundsAndOnlyWhereTheModeHasOne() {
        for (long ttlMs : new long[] {Long.MIN_VALUE, -1, 0, TreeOperation.MAX_TTL_MS + 1, Long.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> ttl("/t", ttlMs), () -> "" + ttlMs);
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> new TreeOperation.Create("/t", null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT, 1));
    }

    @Test
    void noSessionHasAnIdThatLooksLikeATimeToLiveOnceThereAreSuchNodes() {
        long id = Znode.ttlOwner(5);
        tree.apply(new Change.RaiseFeatureLevel(Change.TTL_FEATURE_LEVEL - 1));
        tree.open(id - 1); // as in the logs of earlier versions
        tree.apply(new Change.RaiseFeatureLevel(Change.TTL_FEATURE_LEVEL));
        Change open = new Change.OpenSession(id, TreeTester.password(1), 1_000);
        assertEquals(
                new Result.Failed(TreeError.BAD_ARGUMENTS), tree.apply(open).result());
        assertTrue(Znode.canBeSession(0xfe00000000000005L));
        assertTrue(Znode.canBeSession(0xff00010000000005L));
    }

    private static TreeOperation.Create ttl(String path, long ttlMs) {
        return new TreeOperation.Create(path, null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT_WITH_TTL, ttlMs);
    }

    private List<String> reapable() {
        return tree.state.reapable(tree.timeMs, 0, 10);
    }

    private TreeError reap(String path) {
        return reap(new Change.DeleteContainer(path));
    }

    private TreeError reap(Change deletion) {
        return assertInstanceOf(Result.Failed.class, tree.apply(deletion).result())
                .error();
    }
}
