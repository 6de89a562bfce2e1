package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is used of quotas, and the refusals beyond hard limits. */
class QuotaTest {
    private static final String NO_LIMITS = "count=-1,bytes=-1";

    private final TreeTester tree = new TreeTester();

    @BeforeEach
    void openASession() {
        tree.open(1);
    }

    private void raise(int level) {
        tree.apply(new Change.RaiseFeatureLevel(level));
    }

    private Result create(String path, String data, ZnodeKind kind) {
        return tree.request(1, new TreeOperation.Create(path, TreeTester.bytes(data), ZnodeAcl.OPEN, kind));
    }

    private void create(String path, String data) {
        assertInstanceOf(Result.Created.class, create(path, data, ZnodeKind.PERSISTENT), path);
    }

    private void delete(String path) {
        assertInstanceOf(Result.Deleted.class, tree.request(1, new TreeOperation.Delete(path, -1)), path);
    }

    private void quota(String top, String limits) {
        String path = "/zookeeper/quota";
        for (String name : top.substring(1).split("/")) {
            path += "/" + name;
            tree.request(1, TreeTester.create(path));
        }
        create(path + "/zookeeper_limits", limits);
        create(path + "/zookeeper_stats", "count=0,bytes=0");
    }

    private String usage(String top) {
        byte[] data = tree.state
                .znode("/zookeeper/quota" + top + "/zookeeper_stats")
                .orElseThrow()
                .data();
        return new String(data, StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "count=5,bytes=10                                     ~ count=5,bytes=10",
                "bytes=10;count=5                                     ~ count=5,bytes=10",
                "count=5,bytes=-1=;byteHardLimit=-1;countHardLimit=9  ~ "
                        + "count=5,bytes=-1=;byteHardLimit=-1;countHardLimit=9",
                "countHardLimit=9                                     ~ count=-1,bytes=-1=;countHardLimit=9",
                "count==3,,;bytes=7=8                                 ~ count=-1,bytes=7",
                "z=1,a=2                                              ~ count=-1,bytes=-1=;a=2;z=1",
                "''                                                   ~ count=-1,bytes=-1",
                "count=                                               ~ none",
                "count==                                              ~ none",
                "count=1,x                                            ~ none",
                "count=1x                                             ~ none",
                ",count=1                                             ~ none",
                "=                                                    ~ none",
            })
    void textsAreReadAsZooKeeperReadsThem(String text, String again) {
        String read =
                QuotaText.parse(TreeTester.bytes(text)).map(QuotaText::toString).orElse("none");
        assertEquals(again, read);
    }

    @Test
    void whatIsTooLongForAQuotaIsNotRead() {
        assertTrue(QuotaText.parse(TreeTester.bytes("a=1;" + "0".repeat(1014) + "b=2"))
                .isPresent());
        assertFalse(QuotaText.parse(TreeTester.bytes("a=1;" + "0".repeat(1018) + "b=2"))
                .isPresent());
        assertFalse(QuotaText.parse(null).isPresent());
    }

    @Test
    void everyWriteBelowIsCountedAndNothingElse() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "12345");
        create("/a/b", "123");
        quota("/a", NO_LIMITS);
        assertEquals("count=2,bytes=8", usage("/a"));
        create("/a/c", "1");
        create("/ab", "1");
        assertEquals("count=3,bytes=9", usage("/a"));
        tree.request(1, new TreeOperation.SetData("/a", TreeTester.bytes("1"), -1));
        assertEquals("count=3,bytes=5", usage("/a"));
        delete("/a/b");
        assertEquals("count=2,bytes=2", usage("/a"));
        tree.request(1, new TreeOperation.SetAcl("/a", ZnodeAcl.OPEN, -1));
        create("/a/s", "12", ZnodeKind.PERSISTENT_SEQUENTIAL);
        assertEquals("count=3,bytes=4", usage("/a"));
        assertInstanceOf(Result.Failed.class, create("/a/c", "x", ZnodeKind.PERSISTENT));
        assertEquals("count=3,bytes=4", usage("/a"));
    }

    @Test
    void usageChangesWithoutStatOrEvent() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "");
        quota("/a", NO_LIMITS);
        ZnodeStat before = tree.stat("/zookeeper/quota/a/zookeeper_stats");
        create("/a/b", "1234567890");
        assertEquals(List.of("CREATED /a/b", "CHILDREN_CHANGED /a"), tree.events());
        ZnodeStat after = tree.stat("/zookeeper/quota/a/zookeeper_stats");
        assertEquals("count=2,bytes=10", usage("/a"));
        assertEquals(before.mzxid(), after.mzxid());
        assertEquals(0, after.version());
        assertEquals(16, after.dataLength());
        assertTrue(tree.state.hasRightDigest());
    }

    @Test
    void ephemeralsOfAnEndedSessionAreFreed() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        tree.open(2);
        create("/a", "");
        create("/b", "");
        quota("/a", NO_LIMITS);
        quota("/b", NO_LIMITS);
        for (String path : List.of("/a/1", "/b/1", "/a/2", "/c")) {
            tree.request(2, TreeTester.create(path, ZnodeKind.EPHEMERAL));
        }
        assertEquals("count=3,bytes=2", usage("/a"));
        tree.apply(new Change.CloseSession(2, Change.ANY_ATTACHMENT, Change.CloseReason.CLIENT));
        assertEquals("count=1,bytes=0", usage("/a"));
        assertEquals("count=1,bytes=0", usage("/b"));
        assertTrue(tree.state.hasRightDigest());
    }

    @Test
    void whatTheReaperDeletesIsFreed() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "");
        quota("/a", NO_LIMITS);
        create("/a/container", "1", ZnodeKind.CONTAINER);
        tree.request(
                1,
                new TreeOperation.Create(
                        "/a/ttl", TreeTester.bytes("1"), ZnodeAcl.OPEN, ZnodeKind.PERSISTENT_WITH_TTL, 5));
        create("/a/container/x", "1");
        delete("/a/container/x");
        assertEquals("count=3,bytes=2", usage("/a"));
        tree.timeMs += 10;
        tree.apply(new Change.DeleteContainer("/a/container"));
        tree.apply(new Change.DeleteContainer("/a/ttl"));
        assertEquals("count=1,bytes=0", usage("/a"));
    }

    @Test
    void aMultiCountsAllOfItsPartsOrNone() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "");
        quota("/a", NO_LIMITS);
        tree.request(
                1,
                new TreeOperation.Multi(List.of(
                        TreeTester.create("/a/1"), TreeTester.create("/a/2"), new TreeOperation.Delete("/a/1", -1))));
        assertEquals("count=2,bytes=1", usage("/a"));
        assertInstanceOf(
                Result.MultiFailed.class,
                tree.request(
                        1,
                        new TreeOperation.Multi(List.of(TreeTester.create("/a/3"), TreeTester.create("/missing/x")))));
        assertEquals("count=2,bytes=1", usage("/a"));
    }

    @Test
    void theLongestPathCountsAndNothingThatIsZooKeepersOwn() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "");
        create("/a/b", "");
        quota("/a", NO_LIMITS);
        quota("/a/b", NO_LIMITS);
        create("/a/b/c", "1");
        assertEquals("count=2,bytes=0", usage("/a"));
        assertEquals("count=2,bytes=1", usage("/a/b"));
        quota("/zookeeper", NO_LIMITS);
        assertEquals("count=0,bytes=0", usage("/zookeeper"));
        create("/zookeeper/x", "1");
        assertEquals("count=0,bytes=0", usage("/zookeeper"));
        create("/zookeeper/quota/zookeeper_limits", NO_LIMITS);
        create("/zookeeper/quota/zookeeper_stats", "count=0,bytes=0");
        create("/c", "1");
        assertEquals("count=0,bytes=0", usage(""));
    }

    @Test
    void aQuotaEndsWithItsZnodesAndBeginsAnew() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "");
        quota("/a", NO_LIMITS);
        delete("/zookeeper/quota/a/zookeeper_stats");
        create("/a/1", "1");
        delete("/zookeeper/quota/a/zookeeper_limits");
        create("/a/2", "1");
        quota("/a", NO_LIMITS);
        assertEquals("count=3,bytes=2", usage("/a"));
        delete("/zookeeper/quota/a/zookeeper_limits");
        create("/a/3", "1");
        assertEquals("count=3,bytes=2", usage("/a"));
    }

    @Test
    void aTextThatIsNoUsageStays() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "");
        quota("/a", NO_LIMITS);
        tree.request(
                1, new TreeOperation.SetData("/zookeeper/quota/a/zookeeper_stats", TreeTester.bytes("count=lots"), -1));
        create("/a/1", "1");
        assertEquals("count=lots", usage("/a"));
        delete("/zookeeper/quota/a/zookeeper_stats");
        create("/zookeeper/quota/a/zookeeper_stats", "");
        assertEquals("count=2,bytes=1", usage("/a"));
    }

    @Test
    void quotasFromBeforeTheLevelAreCountedWhenItIsRaised() {
        raise(Change.QUOTA_FEATURE_LEVEL - 1);
        create("/a", "123");
        quota("/a", "count=-1,bytes=-1=;countHardLimit=1");
        create("/a/1", "1");
        assertEquals("count=0,bytes=0", usage("/a"), "nothing of this is in earlier software");
        raise(Change.QUOTA_FEATURE_LEVEL);
        assertEquals("count=2,bytes=4", usage("/a"));
        assertTrue(tree.state.hasRightDigest());
        create("/a/2", "1");
        assertEquals("count=3,bytes=5", usage("/a"));
        raise(Change.QUOTA_FEATURE_LEVEL + 1);
        assertEquals("count=3,bytes=5", usage("/a"));
    }

    private Result held(TreeOperation operation) {
        return tree.apply(new Change.Request(1, tree.attachment(1), List.of(), operation, true))
                .result();
    }

    private static TreeOperation.SetData set(String path, String data) {
        return new TreeOperation.SetData(path, TreeTester.bytes(data), -1);
    }

    @Test
    void hardLimitsAreKept() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "12");
        quota("/a", "count=1,bytes=1=;byteHardLimit=4;countHardLimit=3");
        Result refusal = new Result.Failed(TreeError.QUOTA_EXCEEDED);
        assertInstanceOf(Result.Created.class, held(TreeTester.create("/a/1")));
        assertEquals(refusal, held(set("/a", "1234")));
        assertInstanceOf(Result.DataSet.class, held(set("/a", "123")));
        assertEquals(refusal, held(TreeTester.create("/a/2")));
        assertInstanceOf(Result.DataSet.class, held(set("/a", "")));
        assertInstanceOf(Result.Created.class, held(TreeTester.create("/a/2")));
        assertEquals(refusal, held(TreeTester.create("/a/3")));
        assertEquals(new Result.Failed(TreeError.NODE_EXISTS), held(TreeTester.create("/a/2")), "the order of checks");
        assertInstanceOf(Result.Deleted.class, held(new TreeOperation.Delete("/a/2", -1)));
        assertEquals("count=2,bytes=1", usage("/a"));
        assertInstanceOf(Result.Created.class, held(TreeTester.create("/b")), "another subtree");
        create("/a/2", "");
        create("/a/3", "");
        assertEquals("count=4,bytes=1", usage("/a"), "by a server that does not enforce");
    }

    @Test
    void aMultiIsHeldToHardLimitsAsAWhole() {
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "");
        quota("/a", "count=-1,bytes=-1=;countHardLimit=3");
        assertEquals(
                new Result.MultiFailed(3, 2, TreeError.QUOTA_EXCEEDED),
                held(new TreeOperation.Multi(
                        List.of(TreeTester.create("/a/1"), TreeTester.create("/a/2"), TreeTester.create("/a/3")))));
        assertEquals("count=1,bytes=0", usage("/a"));
        assertInstanceOf(
                Result.MultiDone.class,
                held(new TreeOperation.Multi(List.of(
                        TreeTester.create("/a/1"),
                        TreeTester.create("/a/2"),
                        new TreeOperation.Delete("/a/1", -1),
                        TreeTester.create("/a/3")))));
        assertEquals("count=3,bytes=2", usage("/a"));
    }

    /** Replicas that start from a snapshot on the way agree as well. */
    @Test
    void usageIsAlwaysWhatACountFinds() throws IOException {
        long seed = new Random().nextLong();
        RandomChanges changes = new RandomChanges(new Random(seed), false);
        List<String> tops = List.of("/a/a", "/a/b", "/b", "/c-", "/a/c-/a");
        raise(Change.QUOTA_FEATURE_LEVEL);
        tops.forEach(top -> quota(top, "count=-1,bytes=-1=;byteHardLimit=20;countHardLimit=6"));
        TreeState replica = tree.state;
        int checked = 0;
        for (int step = 0; step < 20_000; step++) {
            Change change = changes.next(tree.state);
            tree.timeMs = 1_000 + step;
            tree.apply(change);
            replica = Tree.apply(step % 1_000 == 0 ? copy(replica) : replica, change, tree.timeMs)
                    .state();
            for (String top : tops) {
                String counted = Quota.counted(tree.state.root(), top).toString();
                assertEquals(counted, usage(top), "seed " + seed + " step " + step + " " + change);
                checked += counted.startsWith("count=0") ? 0 : 1;
            }
            assertEquals(tree.state.digest(), replica.digest(), "seed " + seed + " step " + step);
        }
        assertTrue(checked > 5_000, "only " + checked + " counts of something, seed " + seed);
    }

    private static TreeState copy(TreeState state) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SnapshotCodec.write(state, bytes);
        return SnapshotCodec.read(new ByteArrayInputStream(bytes.toByteArray()));
    }

    /** Also for measuring: -Dquota.nodes=100000. */
    @Test
    void aLargeSubtreeIsCountedInOneStep() {
        int nodes = Integer.getInteger("quota.nodes", 2_000);
        raise(Change.QUOTA_FEATURE_LEVEL);
        create("/a", "");
        List<TreeOperation> parts = new ArrayList<>();
        for (int i = 1; i < nodes; i++) {
            if (i % 100 == 1) {
                parts.add(TreeTester.create("/a/" + (i - 1) / 100));
            } else {
                parts.add(TreeTester.create("/a/" + (i - 1) / 100 + "/" + i));
            }
        }
        tree.request(1, new TreeOperation.Multi(parts));
        create("/zookeeper/quota/a", "");
        create("/zookeeper/quota/a/zookeeper_limits", NO_LIMITS);
        long begin = System.nanoTime();
        create("/zookeeper/quota/a/zookeeper_stats", "");
        long micros = (System.nanoTime() - begin) / 1_000;
        assertEquals("count=" + nodes + ",bytes=" + (nodes - 1), usage("/a"));
        System.out.println(nodes + " nodes counted in " + micros + " us");
    }
}
