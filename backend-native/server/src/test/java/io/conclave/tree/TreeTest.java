package io.conclave.tree;

import static io.conclave.tree.TreeTester.bytes;
import static io.conclave.tree.TreeTester.create;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What each change does to the tree; see {@link TreeSessionTest} for those of sessions. */
class TreeTest {
    private final TreeTester tree = new TreeTester().open(1).open(2);

    private void assertFails(TreeError error, TreeOperation operation) {
        assertEquals(new Result.Failed(error), tree.request(1, operation));
    }

    @Test
    void aNewTreeLooksAsZooKeepersDoes() {
        TreeState initial = TreeState.initial(TreeTester.CLUSTER, 7);
        assertEquals(
                new ZnodeStat(0, 0, 0, 0, 0, -1, 0, 0, 0, 1, 0), initial.root().stat());
        assertEquals(
                new ZnodeStat(0, 0, 0, 0, 0, -2, 0, 0, 0, 2, 0), TreeReads.exists(initial, "/zookeeper", List.of()));
        assertEquals(
                new ZnodeStat(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                TreeReads.exists(initial, "/zookeeper/quota", List.of()));
        assertEquals(
                new ZnodeStat(0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0),
                TreeReads.exists(initial, "/zookeeper/config", List.of()));
        assertEquals(
                ZnodeAcl.READ_ONLY,
                TreeReads.acl(initial, "/zookeeper/config", List.of()).acl());
        assertEquals(4, initial.nodeCount());
    }

    @Test
    void createGivesTheNodeItsStatAndTellsItsWatchersAndItsParents() {
        Result result = tree.request(1, create("/a"));
        long zxid = tree.last.zxid();
        assertEquals(new Result.Created("/a", new ZnodeStat(zxid, zxid, 1000, 1000, 0, 0, 0, 0, 1, 0, zxid)), result);
        assertEquals(List.of("CREATED /a", "CHILDREN_CHANGED /"), tree.events());
        assertEquals(zxid, tree.stat("/").pzxid());
        assertEquals(0, tree.stat("/").cversion());
    }

    @Test
    void pathWithoutALeadingSlashIsNotTakenForItsPartBehindTheFirstOne() {
        tree.request(1, create("/e", ZnodeKind.EPHEMERAL));
        assertFails(TreeError.NO_NODE, new TreeOperation.Delete("x/e", -1));
        assertFails(TreeError.NO_NODE, new TreeOperation.Delete("x/zookeeper/quota", -1));
        assertFails(TreeError.NO_NODE, create("x/c"));
        assertFails(TreeError.NO_NODE, create("e/c"));
        assertEquals(
                new Result.SessionClosed(1, Change.CloseReason.OPERATOR),
                tree.apply(new Change.CloseSession(1, Change.ANY_ATTACHMENT, Change.CloseReason.OPERATOR))
                        .result());
        assertTrue(tree.state.znode("/e").isEmpty());
    }

    @Test
    void createIsRefusedInZooKeepersWords() {
        tree.request(1, create("/a"));
        tree.request(1, create("/e", ZnodeKind.EPHEMERAL));
        assertFails(TreeError.NODE_EXISTS, create("/a"));
        assertFails(TreeError.NODE_EXISTS, create("/"));
        assertFails(TreeError.NO_NODE, create("/b/c"));
        assertFails(TreeError.NO_CHILDREN_FOR_EPHEMERALS, create("/e/c"));
        assertFails(TreeError.BAD_ARGUMENTS, create("a"));
        assertFails(TreeError.BAD_ARGUMENTS, create(""));
        assertFails(TreeError.BAD_ARGUMENTS, create("/a/"));
        assertFails(TreeError.BAD_ARGUMENTS, create("//a"));
        assertFails(TreeError.BAD_ARGUMENTS, create("/a/.."));
        assertFails(TreeError.BAD_ARGUMENTS, create("/a/."));
        assertFails(TreeError.BAD_ARGUMENTS, create("/a/\0b"));
        assertFails(TreeError.BAD_ARGUMENTS, create("/a/\ud83d\ude00"));
        assertFails(
                TreeError.INVALID_ACL,
                new TreeOperation.Create("/b", null, new ZnodeAcl(List.of()), ZnodeKind.PERSISTENT));
        assertEquals(List.of(), tree.events());
    }

    @Test
    void aSequentialNodeMayBeNamedByItsNumberAlone() {
        tree.request(1, create("/a"));
        assertEquals("/a/0000000000", created(create("/a/", ZnodeKind.EPHEMERAL_SEQUENTIAL)));
        assertEquals("/a/n-0000000001", created(create("/a/n-", ZnodeKind.PERSISTENT_SEQUENTIAL)));
        tree.request(1, new TreeOperation.Delete("/a/n-0000000001", -1));
        assertEquals("/a/n-0000000002", created(create("/a/n-", ZnodeKind.PERSISTENT_SEQUENTIAL)));
    }

    private String created(TreeOperation.Create create) {
        return assertInstanceOf(Result.Created.class, tree.request(1, create)).path();
    }

    @Test
    void sequenceNumbersWrapAndGoOn() {
        tree.request(1, create("/a"));
        Znode a = tree.state.znode("/a").orElseThrow();
        Znode old = Znode.of(new Znode.Fields(
                a.data,
                a.acl,
                a.czxid,
                a.mzxid(),
                a.pzxid(),
                a.ctime,
                a.mtime(),
                0,
                Integer.MAX_VALUE,
                0,
                0,
                a.children()));
        TreeState state = new TreeState(
                tree.state.header(),
                tree.state.root().withReplacedChild("a", old),
                tree.state.sessions(),
                tree.state.reaped(),
                tree.state.totals());
        tree.state = state;
        assertEquals("/a/n-2147483647", created(create("/a/n-", ZnodeKind.PERSISTENT_SEQUENTIAL)));
        assertEquals("/a/n--2147483648", created(create("/a/n-", ZnodeKind.PERSISTENT_SEQUENTIAL)));
        assertEquals("/a/n--2147483647", created(create("/a/n-", ZnodeKind.PERSISTENT_SEQUENTIAL)));
    }

    @Test
    void deleteRemovesTheNodeAndCountsAtItsParent() {
        tree.request(1, create("/a"));
        tree.request(1, create("/a/b"));
        assertEquals(1, tree.stat("/a").cversion());
        assertFails(TreeError.NOT_EMPTY, new TreeOperation.Delete("/a", -1));
        assertFails(TreeError.BAD_VERSION, new TreeOperation.Delete("/a/b", 3));
        assertFails(TreeError.NO_NODE, new TreeOperation.Delete("/a/c", -1));
        assertFails(TreeError.NO_NODE, new TreeOperation.Delete("/a/b/", -1));
        assertEquals(new Result.Deleted(), tree.request(1, new TreeOperation.Delete("/a/b", 0)));
        assertEquals(List.of("DELETED /a/b", "CHILDREN_CHANGED /a"), tree.events());
        assertEquals(2, tree.stat("/a").cversion());
        assertEquals(tree.last.zxid(), tree.stat("/a").pzxid());
        assertEquals(0, tree.stat("/a").numChildren());
    }

    @Test
    void theNodesThatEveryTreeHasStay() {
        for (String path : List.of("/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "", "x")) {
            assertFails(TreeError.BAD_ARGUMENTS, new TreeOperation.Delete(path, -1));
        }
    }

    @Test
    void setDataRaisesTheVersionAndTellsWatchers() {
        tree.request(1, create("/a"));
        tree.timeMs = 2_000;
        ZnodeStat stat = assertInstanceOf(
                        Result.DataSet.class, tree.request(1, new TreeOperation.SetData("/a", bytes("new"), 0)))
                .stat();
        assertEquals(1, stat.version());
        assertEquals(tree.last.zxid(), stat.mzxid());
        assertEquals(2_000, stat.mtime());
        assertEquals(1_000, stat.ctime());
        assertEquals(List.of("DATA_CHANGED /a"), tree.events());
        assertFails(TreeError.BAD_VERSION, new TreeOperation.SetData("/a", null, 0));
        assertFails(TreeError.NO_NODE, new TreeOperation.SetData("/b", null, -1));
        assertFails(TreeError.BAD_ARGUMENTS, new TreeOperation.SetData("/a/", null, -1));
    }

    @Test
    void nullDataAndEmptyDataAreTwoThings() {
        tree.request(1, new TreeOperation.Create("/n", null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT));
        tree.request(1, new TreeOperation.Create("/e", new byte[0], ZnodeAcl.OPEN, ZnodeKind.PERSISTENT));
        assertNull(TreeReads.data(tree.state, "/n", List.of()).bytes());
        assertArrayEquals(
                new byte[0], TreeReads.data(tree.state, "/e", List.of()).bytes());
    }

    @Test
    void timeNeverGoesBack() {
        tree.timeMs = 500;
        tree.request(1, create("/a"));
        assertEquals(1_000, tree.stat("/a").ctime());
        assertEquals(1_000, tree.state.lastTimeMs());
    }

    @Test
    void aRefusedRequestUsesUpAZxidAndChangesNothingElse() {
        TreeState before = tree.state;
        assertFails(TreeError.NO_NODE, new TreeOperation.Delete("/a", -1));
        assertEquals(before.lastZxid() + 1, tree.state.lastZxid());
        assertEquals(before.root(), tree.state.root());
        assertEquals(before.sessions(), tree.state.sessions());
    }

    @Test
    void aMultiHasOneZxidAndAResultForEachPart() {
        tree.request(1, create("/a"));
        Result result = tree.request(
                1,
                new TreeOperation.Multi(List.of(
                        create("/a/s-", ZnodeKind.EPHEMERAL_SEQUENTIAL),
                        create("/a/s-", ZnodeKind.EPHEMERAL_SEQUENTIAL),
                        new TreeOperation.SetData("/a", bytes("12"), 0),
                        new TreeOperation.Check("/a", 1),
                        new TreeOperation.Delete("/a/s-0000000000", 0))));
        List<Result> results = assertInstanceOf(Result.MultiDone.class, result).results();
        long zxid = tree.last.zxid();
        assertEquals("/a/s-0000000001", ((Result.Created) results.get(1)).path());
        ZnodeStat inTheMiddle = ((Result.DataSet) results.get(2)).stat();
        assertEquals(2, inTheMiddle.cversion());
        assertEquals(2, inTheMiddle.numChildren());
        assertEquals(zxid, inTheMiddle.mzxid());
        assertEquals(new Result.Checked(), results.get(3));
        assertEquals(3, tree.stat("/a").cversion());
        assertEquals(
                List.of(
                        "CREATED /a/s-0000000000",
                        "CHILDREN_CHANGED /a",
                        "CREATED /a/s-0000000001",
                        "CHILDREN_CHANGED /a",
                        "DATA_CHANGED /a",
                        "DELETED /a/s-0000000000",
                        "CHILDREN_CHANGED /a"),
                tree.events());
    }

    @Test
    void aMultiWithARefusedPartDoesNothing() {
        tree.request(1, create("/a"));
        TreeState before = tree.state;
        Result result = tree.request(
                1,
                new TreeOperation.Multi(
                        List.of(create("/b", ZnodeKind.EPHEMERAL), new TreeOperation.Check("/a", 5), create("/c"))));
        Result.MultiFailed failed = assertInstanceOf(Result.MultiFailed.class, result);
        assertEquals(3, failed.parts());
        assertEquals(1, failed.failedPart());
        assertEquals(TreeError.BAD_VERSION, failed.error());
        assertEquals(before.root(), tree.state.root());
        assertEquals(before.sessions(), tree.state.sessions());
        assertEquals(before.lastZxid() + 1, tree.state.lastZxid());
        assertEquals(List.of(), tree.events());
        assertEquals(new Result.MultiDone(List.of()), tree.request(1, new TreeOperation.Multi(List.of())));
        assertThrows(
                IllegalArgumentException.class,
                () -> new TreeOperation.Multi(List.of(new TreeOperation.Multi(List.of()))));
    }

    @Test
    void aCheckByItselfIsRefused() {
        assertFails(TreeError.BAD_ARGUMENTS, new TreeOperation.Check("/", -1));
    }

    @Test
    void eachTermHasAnEpochOfItsOwn() {
        long before = tree.state.epoch();
        assertEquals(
                new Result.TermStarted(before + 1),
                tree.apply(new Change.NewTerm(12)).result());
        assertEquals((before + 1) << 32, tree.last.zxid());
        assertEquals(12, tree.state.term());
        tree.request(1, create("/a"));
        assertEquals(((before + 1) << 32) + 1, tree.last.zxid());
    }

    @Test
    void theEpochIsRaisedBeforeTheCountRunsOver() {
        TreeState.Header h = tree.state.header();
        long almost = (5L << 32) | (Tree.ROLL_OVER_COUNT - 1);
        tree.state = new TreeState(
                new TreeState.Header(h.clusterId(), h.generation(), h.featureLevel(), h.term(), almost, h.lastTimeMs()),
                tree.state.root(),
                tree.state.sessions(),
                tree.state.reaped(),
                tree.state.totals());
        tree.request(1, create("/a"));
        assertEquals(almost + 1, tree.last.zxid());
        tree.request(1, create("/b"));
        assertEquals(6L << 32, tree.last.zxid());
        assertEquals(6, tree.state.epoch());
    }

    @Test
    void theFeatureLevelOnlyRises() {
        tree.apply(new Change.RaiseFeatureLevel(3));
        assertEquals(3, tree.state.featureLevel());
        assertEquals(
                new Result.FeatureLevelRaised(3),
                tree.apply(new Change.RaiseFeatureLevel(2)).result());
        assertEquals(3, tree.state.featureLevel());
    }

    private int descendants(String path) {
        DescendantCount count = TreeReads.descendants(tree.state, path, List.of());
        count.advance(Integer.MAX_VALUE);
        return count.count();
    }

    @Test
    void descendantsAreCounted() {
        for (String path : List.of("/a", "/a/b", "/a/b/c", "/a/d", "/ab")) {
            tree.request(1, create(path));
        }
        assertEquals(3, descendants("/a"));
        assertEquals(8, descendants("/"));
        assertEquals(9, tree.state.nodeCount());
    }

    @Test
    void readsOfWhatIsNotThereSaySo() {
        for (String path : List.of("/no", "no", "//", "/zookeeper/", "//zookeeper")) {
            TreeException refused =
                    assertThrows(TreeException.class, () -> TreeReads.exists(tree.state, path, List.of()));
            assertEquals(TreeError.NO_NODE, refused.error(), path);
        }
        assertEquals(
                TreeError.BAD_ARGUMENTS,
                assertThrows(TreeException.class, () -> TreeReads.exists(tree.state, "/\0", List.of()))
                        .error());
    }

    @Test
    void aDeepTreeNeedsNoDeepStack() throws Exception {
        StringBuilder path = new StringBuilder();
        Znode node = Znode.created(null, ZnodeAcl.OPEN, 1, 1, 0);
        for (int depth = 0; depth < 50_000; depth++) {
            node = Znode.created(null, ZnodeAcl.OPEN, 1, 1, 0).withReplacedChild("d", node);
            path.append("/d");
        }
        TreeState.Totals before = tree.state.totals();
        tree.state = new TreeState(
                tree.state.header(),
                tree.state.root().withReplacedChild("d", node),
                tree.state.sessions(),
                tree.state.reaped(),
                new TreeState.Totals(before.nodes() + 50_001, before.bytes() + 50_001L * 50_002, 0, 0, before.acls()));
        tree.state = tree.state.withDigest(TreeDigest.sum(tree.state));
        assertInstanceOf(Result.Created.class, tree.request(1, create(path + "/d/leaf")));
        assertInstanceOf(Result.DataSet.class, tree.request(1, new TreeOperation.SetData(path + "/d/leaf", null, 0)));
        assertEquals(50_001, descendants("/d"));
        ByteArrayOutputStream snapshot = new ByteArrayOutputStream();
        SnapshotCodec.write(tree.state, snapshot);
        assertEquals(
                tree.state.digest(),
                SnapshotCodec.read(new ByteArrayInputStream(snapshot.toByteArray()))
                        .digest());
        assertInstanceOf(Result.Deleted.class, tree.request(1, new TreeOperation.Delete(path + "/d/leaf", -1)));
    }

    @Test
    void membersStandInTheConfigNodeWithTheVersionOfTheChange() {
        TreeTester tree = new TreeTester();
        tree.apply(new Change.Configure("server.1=a:1:1:participant\n"));
        String text = new String(
                TreeReads.data(tree.state, "/zookeeper/config", List.of()).bytes(),
                java.nio.charset.StandardCharsets.UTF_8);
        assertEquals("server.1=a:1:1:participant\nversion=1", text);
        assertEquals(List.of("DATA_CHANGED /zookeeper/config"), tree.events());
        assertEquals(1, tree.stat("/zookeeper/config").version());
    }
}
