package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.ClientInfo;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The official client 3.9.5, as it is, on our server; and on Apache ZooKeeper, to see that what is asked for here is
 * what it does.
 */
class ZooKeeperClientIT {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int TIMEOUT_MS = 10_000;

    private final List<ZooKeeper> clients = new ArrayList<>();
    private final Events events = new Events();
    private ServerUnderTest server;
    private ZooKeeper zk;

    /** Records the events that it receives. */
    private static final class Events implements Watcher {
        private final BlockingQueue<WatchedEvent> queue = new LinkedBlockingQueue<>();

        @Override
        public void process(WatchedEvent event) {
            if (event.getType() != EventType.None) {
                queue.add(event);
            }
        }

        void expect(EventType type, String path) throws InterruptedException {
            WatchedEvent event = queue.poll(20, SECONDS);
            assertTrue(event != null, () -> "no event where " + type + " " + path + " was expected");
            assertEquals(type + " " + path, event.getType() + " " + event.getPath());
        }

        void expectNothingMore() {
            assertEquals(0, queue.size(), queue::toString);
        }
    }

    private void open(ServerKind kind) throws Exception {
        server = kind.start();
        zk = connect("", TIMEOUT_MS);
    }

    private ZooKeeper connect(String chroot, int timeoutMs) throws Exception {
        ZooKeeper client = new ZooKeeper(server.hostPort() + chroot, timeoutMs, events);
        clients.add(client);
        await().atMost(PATIENCE).until(() -> client.getState().isConnected());
        return client;
    }

    @AfterEach
    void close() throws Exception {
        for (ZooKeeper client : clients) {
            client.close();
        }
        server.close();
    }

    private static void fails(Code code, Executable call) {
        assertEquals(code, assertThrows(KeeperException.class, call).code());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private String create(String path) throws Exception {
        return zk.create(path, bytes("data"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    @ParameterizedTest
    @EnumSource
    void nodes(ServerKind kind) throws Exception {
        open(kind);
        Stat stat = new Stat();
        assertEquals("/a", zk.create("/a", bytes("1"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, stat));
        assertEquals(0, stat.getVersion());
        assertEquals(1, zk.setData("/a", bytes("22"), 0).getVersion());
        assertArrayEquals(bytes("22"), zk.getData("/a", false, stat));
        assertEquals(2, stat.getDataLength());
        assertEquals("/a/n-0000000000", zk.create("/a/n-", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL));
        assertEquals(
                "/a/n-0000000001", zk.create("/a/n-", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL));
        assertNull(zk.getData("/a/n-0000000000", false, stat));
        assertEquals(zk.getSessionId(), stat.getEphemeralOwner());
        assertEquals(
                List.of("n-0000000000", "n-0000000001"),
                zk.getChildren("/a", false, stat).stream().sorted().toList());
        assertEquals(2, stat.getNumChildren());
        assertEquals(2, zk.getAllChildrenNumber("/a"));
        assertEquals(List.of("/a/n-0000000000"), zk.getEphemerals());
        assertEquals(List.of(), zk.getEphemerals("/b"));
        assertNull(zk.exists("/missing", false));
        zk.sync("/a");
        assertEquals(
                List.of("ip"),
                zk.whoAmI().stream().map(ClientInfo::getAuthScheme).toList());
        zk.delete("/a/n-0000000001", -1);
        byte[] large = new byte[1_000_000];
        Arrays.fill(large, (byte) 7);
        zk.setData("/a", large, -1);
        assertArrayEquals(large, zk.getData("/a", false, null));
    }

    @ParameterizedTest
    @EnumSource
    void errorCodes(ServerKind kind) throws Exception {
        open(kind);
        create("/a");
        create("/a/b");
        zk.create("/e", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        fails(Code.NODEEXISTS, () -> create("/a"));
        fails(Code.NONODE, () -> create("/x/y"));
        fails(Code.NOCHILDRENFOREPHEMERALS, () -> create("/e/x"));
        fails(Code.NONODE, () -> zk.getData("/x", false, null));
        fails(Code.NONODE, () -> zk.setData("/x", null, -1));
        fails(Code.NONODE, () -> zk.delete("/x", -1));
        fails(Code.NONODE, () -> zk.getChildren("/x", false));
        fails(Code.NONODE, () -> zk.getAllChildrenNumber("/x"));
        fails(Code.NONODE, () -> zk.getACL("/x", null));
        fails(Code.NOTEMPTY, () -> zk.delete("/a", -1));
        fails(Code.BADVERSION, () -> zk.delete("/a/b", 3));
        fails(Code.BADVERSION, () -> zk.setData("/a", null, 3));
        fails(Code.BADVERSION, () -> zk.setACL("/a", Ids.OPEN_ACL_UNSAFE, 3));
        fails(Code.INVALIDACL, () -> zk.create("/i", null, new ArrayList<>(), CreateMode.PERSISTENT));
        fails(Code.INVALIDACL, () -> zk.create("/i", null, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT));
        fails(Code.BADARGUMENTS, () -> zk.delete("/zookeeper", -1));
        fails(Code.NOWATCHER, () -> {
            zk.addWatch("/a", events, AddWatchMode.PERSISTENT);
            zk.removeAllWatches("/a", Watcher.WatcherType.Children, false);
        });
    }

    /** Apache's server in this JVM has no leader that would delete them: that is the part of a main program. */
    @ParameterizedTest
    @EnumSource
    void znodesWithATimeToLive(ServerKind kind) throws Exception {
        open(kind);
        Stat stat = new Stat();
        zk.create("/t", bytes("x"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, stat, 3_600_000);
        assertEquals(0, stat.getEphemeralOwner());
        assertEquals(stat, zk.exists("/t", false));
        create("/t/child");
        assertEquals(List.of(), zk.getEphemerals());
        CreateMode sequential = CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL;
        assertEquals("/t/s-0000000001", zk.create("/t/s-", null, Ids.OPEN_ACL_UNSAFE, sequential, null, 1L << 39));
        List<OpResult> results = zk.multi(List.of(
                Op.create("/m", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, 3_600_000),
                Op.create("/m/s-", null, Ids.OPEN_ACL_UNSAFE, sequential, 1)));
        assertEquals("/m/s-0000000000", ((OpResult.CreateResult) results.get(1)).getPath());
        assertEquals(0, ((OpResult.CreateResult) results.get(0)).getStat().getEphemeralOwner());
        if (kind == ServerKind.CONCLAVE) {
            zk.create("/short", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, null, 1);
            await().until(() -> zk.exists("/short", false) == null && zk.exists("/m/s-0000000000", false) == null);
            assertNotNull(zk.exists("/t", false));
        }
    }

    @ParameterizedTest
    @EnumSource
    void watches(ServerKind kind) throws Exception {
        open(kind);
        ZooKeeper writer = connect("", TIMEOUT_MS);
        assertNull(zk.exists("/w", true));
        writer.create("/w", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        events.expect(EventType.NodeCreated, "/w");
        Events own = new Events();
        zk.getData("/w", own, null);
        zk.getChildren("/w", own);
        writer.setData("/w", bytes("x"), -1);
        writer.setData("/w", bytes("y"), -1);
        own.expect(EventType.NodeDataChanged, "/w");
        writer.create("/w/c", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        own.expect(EventType.NodeChildrenChanged, "/w");
        Events recursive = new Events();
        Events persistent = new Events();
        zk.addWatch("/w", recursive, AddWatchMode.PERSISTENT_RECURSIVE);
        zk.addWatch("/w/c", persistent, AddWatchMode.PERSISTENT);
        writer.create("/w/c/d", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        writer.setData("/w/c", null, -1);
        writer.delete("/w/c/d", -1);
        writer.delete("/w/c", -1);
        recursive.expect(EventType.NodeCreated, "/w/c/d");
        recursive.expect(EventType.NodeDataChanged, "/w/c");
        recursive.expect(EventType.NodeDeleted, "/w/c/d");
        recursive.expect(EventType.NodeDeleted, "/w/c");
        persistent.expect(EventType.NodeChildrenChanged, "/w/c");
        persistent.expect(EventType.NodeDataChanged, "/w/c");
        persistent.expect(EventType.NodeChildrenChanged, "/w/c");
        persistent.expect(EventType.NodeDeleted, "/w/c");
        zk.removeWatches("/w", recursive, Watcher.WatcherType.Any, false);
        recursive.expect(EventType.PersistentWatchRemoved, "/w");
        writer.setData("/w", null, -1);
        zk.sync("/w");
        recursive.expectNothingMore();
        own.expectNothingMore();
        events.expectNothingMore();
    }

    @ParameterizedTest
    @EnumSource
    void multi(ServerKind kind) throws Exception {
        open(kind);
        create("/m");
        List<OpResult> results = zk.multi(List.of(
                Op.check("/m", 0),
                Op.create("/m/a", bytes("1"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                Op.setData("/m/a", bytes("2"), 0),
                Op.create("/m/s-", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL)));
        assertEquals("/m/a", ((OpResult.CreateResult) results.get(1)).getPath());
        assertEquals(1, ((OpResult.SetDataResult) results.get(2)).getStat().getVersion());
        assertEquals("/m/s-0000000001", ((OpResult.CreateResult) results.get(3)).getPath());
        KeeperException failure = assertThrows(
                KeeperException.class,
                () -> zk.multi(List.of(Op.delete("/m/a", -1), Op.delete("/none", -1), Op.delete("/m", -1))));
        assertEquals(Code.NONODE, failure.code());
        assertEquals(
                List.of(0, Code.NONODE.intValue(), Code.RUNTIMEINCONSISTENCY.intValue()),
                failure.getResults().stream()
                        .map(result -> ((OpResult.ErrorResult) result).getErr())
                        .toList());
        List<OpResult> reads = zk.multi(List.of(Op.getData("/m/a"), Op.getChildren("/m"), Op.getData("/none")));
        assertArrayEquals(bytes("2"), ((OpResult.GetDataResult) reads.get(0)).getData());
        assertEquals(
                2, ((OpResult.GetChildrenResult) reads.get(1)).getChildren().size());
        assertEquals(Code.NONODE.intValue(), ((OpResult.ErrorResult) reads.get(2)).getErr());
    }

    @ParameterizedTest
    @EnumSource
    void accessLists(ServerKind kind) throws Exception {
        open(kind);
        ZooKeeper stranger = connect("", TIMEOUT_MS);
        zk.addAuthInfo("digest", bytes("alice:secret"));
        zk.create("/private", bytes("x"), Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        List<ACL> acl = zk.getACL("/private", null);
        assertEquals("digest", acl.get(0).getId().getScheme());
        assertTrue(acl.get(0).getId().getId().startsWith("alice:"));
        fails(Code.NOAUTH, () -> stranger.getData("/private", false, null));
        fails(Code.NOAUTH, () -> stranger.setData("/private", null, -1));
        fails(Code.NOAUTH, () -> stranger.exists("/private", false));
        fails(Code.NOAUTH, () -> stranger.setACL("/private", Ids.OPEN_ACL_UNSAFE, -1));
        assertTrue(zk.whoAmI().stream().anyMatch(info -> info.getUser().equals("alice")));
        zk.setACL("/private", Arrays.asList(new ACL(1, new Id("ip", "127.0.0.0/8"))), 0);
        assertArrayEquals(bytes("x"), stranger.getData("/private", false, null));
        fails(Code.NOAUTH, () -> zk.setData("/private", null, -1));
    }

    @ParameterizedTest
    @EnumSource
    void asynchronousCallsComeBackInOrder(ServerKind kind) throws Exception {
        open(kind);
        List<String> answers = new ArrayList<>();
        CompletableFuture<Void> last = new CompletableFuture<>();
        create("/async");
        for (int i = 0; i < 500; i++) {
            int number = i;
            zk.setData(
                    "/async",
                    bytes("" + i),
                    i,
                    (code, path, context, stat) -> answers.add("set " + code + " " + stat.getVersion()),
                    null);
            zk.getData(
                    "/async",
                    false,
                    (code, path, context, data, stat) -> {
                        answers.add("get " + new String(data, StandardCharsets.UTF_8));
                        if (number == 499) {
                            last.complete(null);
                        }
                    },
                    null);
        }
        last.get(120, SECONDS);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            expected.add("set 0 " + (i + 1));
            expected.add("get " + i);
        }
        assertEquals(expected, answers);
    }

    @ParameterizedTest
    @EnumSource
    void sessionIsResumedWithItsPasswordOnly(ServerKind kind) throws Exception {
        open(kind);
        zk.create("/mine", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        zk.getTestable().injectSessionExpiration(); // so that it does not fight for its session
        ZooKeeper second =
                new ZooKeeper(server.hostPort(), TIMEOUT_MS, events, zk.getSessionId(), zk.getSessionPasswd());
        clients.add(second);
        await().atMost(PATIENCE).until(() -> second.getState().isConnected());
        assertEquals(zk.getSessionId(), second.getSessionId());
        assertEquals(List.of("/mine"), second.getEphemerals());

        CompletableFuture<KeeperState> refused = new CompletableFuture<>();
        ZooKeeper thief = new ZooKeeper(
                server.hostPort(),
                TIMEOUT_MS,
                event -> {
                    if (event.getState() == KeeperState.Expired) {
                        refused.complete(event.getState());
                    }
                },
                second.getSessionId(),
                new byte[16]);
        clients.add(thief);
        assertEquals(KeeperState.Expired, refused.get(120, SECONDS));
        // Apache ZooKeeper has hung up on the session's owner meanwhile, though the password was wrong
        await().atMost(PATIENCE)
                .ignoreException(KeeperException.ConnectionLossException.class)
                .until(() -> second.getEphemerals().equals(List.of("/mine")));
    }

    @ParameterizedTest
    @EnumSource
    void closedAndExpiredSessionsLeaveNothing(ServerKind kind) throws Exception {
        open(kind);
        ZooKeeper other = connect("", TIMEOUT_MS);
        other.create("/closed", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        assertNotEquals(null, zk.exists("/closed", true));
        other.close();
        events.expect(EventType.NodeDeleted, "/closed");
        ZooKeeper dying = connect("", 1000);
        dying.create("/expired", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        assertNotEquals(null, zk.exists("/expired", true));
        dying.getTestable().injectSessionExpiration(); // the client only thinks so, and goes
        dying.close();
        zk.sync("/");
        await().atMost(PATIENCE).until(() -> zk.exists("/expired", false) == null);
    }

    @ParameterizedTest
    @EnumSource
    void sessionAndWatchesSurviveARestartOfTheServer(ServerKind kind) throws Exception {
        open(kind);
        create("/kept");
        zk.create("/kept/mine", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        Events data = new Events();
        Events child = new Events();
        Events recursive = new Events();
        zk.getData("/kept", data, null);
        zk.getChildren("/kept", child);
        zk.exists("/later", data);
        zk.addWatch("/kept", recursive, AddWatchMode.PERSISTENT_RECURSIVE);
        long session = zk.getSessionId();
        server.stop();
        await().atMost(PATIENCE).until(() -> !zk.getState().isConnected());
        server.start();
        await().atMost(Duration.ofSeconds(30)).until(() -> zk.getState().isConnected());
        assertEquals(session, zk.getSessionId());
        assertEquals(List.of("/kept/mine"), zk.getEphemerals());
        ZooKeeper writer = connect("", TIMEOUT_MS);
        writer.setData("/kept", null, -1);
        data.expect(EventType.NodeDataChanged, "/kept");
        recursive.expect(EventType.NodeDataChanged, "/kept");
        writer.create("/later", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        data.expect(EventType.NodeCreated, "/later");
        writer.delete("/kept/mine", -1);
        child.expect(EventType.NodeChildrenChanged, "/kept");
        recursive.expect(EventType.NodeDeleted, "/kept/mine");
    }

    @ParameterizedTest
    @EnumSource
    void chrootHidesTheRest(ServerKind kind) throws Exception {
        open(kind);
        create("/app");
        ZooKeeper inside = connect("/app", TIMEOUT_MS);
        inside.exists("/a", true);
        assertEquals("/a", inside.create("/a", null, Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER));
        events.expect(EventType.NodeCreated, "/a");
        assertEquals(List.of("a"), zk.getChildren("/app", false));
        assertEquals(0, zk.exists("/app/a", false).getEphemeralOwner());
    }
}
