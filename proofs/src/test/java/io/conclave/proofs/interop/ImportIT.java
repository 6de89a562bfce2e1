package io.conclave.proofs.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.importing.ForeignData;
import io.conclave.server.ClusterRestore;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import io.conclave.tree.TreeState;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that Apache ZooKeeper has written become a cluster of ours, with the same tree. */
@Timeout(300)
class ImportIT {
    private static final int ZNODES = Integer.getInteger("import.znodes", 10_000);
    private static final int MOST_SNAPSHOTS = 50;
    private static final String QUOTA = "/zookeeper/quota/line";
    private static final long DAY_MS = 24L * 3600 * 1000;

    @TempDir
    private Path directory;

    private ConclaveServer server;

    private static ZooKeeper connect(String hostPort) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(hostPort, 30_000, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        assertTrue(connected.await(120, TimeUnit.SECONDS));
        client.addAuthInfo("digest", "owner:secret".getBytes(StandardCharsets.UTF_8));
        return client;
    }

    // ---- what is there before

    private static void writeAllKinds(ZooKeeper client, boolean hasTtl) throws Exception {
        client.create("/plain", "data".getBytes(StandardCharsets.UTF_8), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.setData("/plain", new byte[0], 0);
        client.create("/null", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create("/large", new byte[900_000], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create("/gr\u00fc\u00dfe \u4e16\u754c", new byte[] {1}, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create("/owned", new byte[] {2}, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        List<ACL> several = Arrays.asList( // the client asks it for null
                new ACL(31, new Id("auth", "")),
                new ACL(1, new Id("ip", "10.0.0.0/8")),
                new ACL(1, Ids.ANYONE_ID_UNSAFE));
        client.create("/several", new byte[] {3}, several, CreateMode.PERSISTENT);
        client.setACL("/plain", several, 0);
        client.create("/line", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        for (int i = 0; i < 20; i++) {
            client.create("/line/n-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
        }
        client.delete("/line/n-0000000019", -1);
        client.create("/box", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
        client.create("/box/in", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        if (hasTtl) {
            client.create(
                    "/ttl", new byte[] {4}, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, new Stat(), DAY_MS);
        }
        client.multi(List.of(
                Op.create("/multi", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                Op.setData("/multi", new byte[] {5}, 0),
                Op.create("/multi/a", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                Op.check("/plain", -1),
                Op.delete("/multi/a", 0)));
        try {
            client.multi(List.of(
                    Op.create("/undone", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                    Op.delete("/missing", -1)));
        } catch (KeeperException.NoNodeException expected) {
            // a transaction that failed stands in the log, too
        }
        client.create("/gone", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create("/gone/child", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.delete("/gone/child", -1);
        client.delete("/gone", -1);
        client.create("/ephemerals", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create(QUOTA, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        byte[] limits = "count=30,bytes=-1".getBytes(StandardCharsets.UTF_8);
        client.create(QUOTA + "/zookeeper_limits", limits, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        byte[] usage = "count=0,bytes=0".getBytes(StandardCharsets.UTF_8); // the server counts it at once
        client.create(QUOTA + "/zookeeper_stats", usage, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /** So many that a snapshot takes a while. */
    private static void writeMany(ZooKeeper client) throws Exception {
        Semaphore inFlight = new Semaphore(500);
        client.create("/many", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        for (int i = 0; i < ZNODES; i++) {
            inFlight.acquire();
            client.create(
                    "/many/" + i,
                    new byte[i % 60],
                    Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT,
                    (rc, p, c, n) -> inFlight.release(),
                    null);
        }
        inFlight.acquire(500);
    }

    /** Creates, changes and deletes at random, many requests in flight, and ends sessions with ephemerals. */
    private static void writeAtRandom(String hostPort, long seed, int count) throws Exception {
        Random random = new Random(seed);
        Semaphore inFlight = new Semaphore(200);
        ZooKeeper client = connect(hostPort);
        String top = "/random-" + seed;
        client.create(top, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        for (int i = 0; i < count; i++) {
            String parent = top + "/p" + random.nextInt(20);
            String path = random.nextInt(3) == 0 ? parent : parent + "/c" + random.nextInt(50);
            inFlight.acquire();
            byte[] data = new byte[random.nextInt(40)];
            random.nextBytes(data);
            switch (random.nextInt(8)) {
                case 0, 1, 2 ->
                    client.create(
                            path,
                            data,
                            Ids.OPEN_ACL_UNSAFE,
                            CreateMode.PERSISTENT,
                            (rc, p, c, n) -> inFlight.release(),
                            null);
                case 3 ->
                    client.create(
                            parent + "/s-",
                            data,
                            ownAcl(i),
                            CreateMode.PERSISTENT_SEQUENTIAL,
                            (rc, p, c, n) -> inFlight.release(),
                            null);
                case 4 ->
                    client.create(
                            parent + "/e-",
                            data,
                            Ids.OPEN_ACL_UNSAFE,
                            CreateMode.EPHEMERAL_SEQUENTIAL,
                            (rc, p, c, n) -> inFlight.release(),
                            null);
                case 5 -> client.setData(path, data, -1, (rc, p, c, s) -> inFlight.release(), null);
                case 6 -> client.setACL(path, Ids.CREATOR_ALL_ACL, -1, (rc, p, c, s) -> inFlight.release(), null);
                default -> client.delete(path, -1, (rc, p, c) -> inFlight.release(), null);
            }
            if (i % 500 == 499) {
                inFlight.acquire(200);
                inFlight.release(200);
                client.close();
                client = connect(hostPort);
            }
        }
        inFlight.acquire(200);
        client.close();
    }

    /** One that no znode has had before: snapshots do not list it that begin earlier and meet the znode. */
    private static List<ACL> ownAcl(int number) {
        return List.of(
                new ACL(31, Ids.ANYONE_ID_UNSAFE),
                new ACL(1, new Id("ip", "10.1." + number / 256 + "." + number % 256)));
    }

    // ---- what is compared

    /** Of all znodes but those below /zookeeper, which tell of the server itself: all that a client can see. */
    private static Map<String, String> contents(ZooKeeper client) throws Exception {
        Map<String, String> all = new TreeMap<>();
        Deque<String> open = new ArrayDeque<>(List.of("/"));
        while (!open.isEmpty()) {
            String path = open.pop();
            Stat stat = new Stat();
            byte[] data = client.getData(path, false, stat);
            if (!path.equals("/") && !path.equals("/ephemerals")) {
                all.put(
                        path,
                        Arrays.hashCode(data) + " " + (data == null) + " " + client.getACL(path, new Stat()) + " "
                                + stat.getCzxid() + " " + stat.getMzxid() + " " + stat.getPzxid() + " "
                                + stat.getCtime() + " " + stat.getMtime() + " " + stat.getVersion() + " "
                                + stat.getCversion() + " " + stat.getAversion() + " " + stat.getEphemeralOwner() + " "
                                + stat.getNumChildren());
            }
            for (String child : client.getChildren(path, false)) {
                String below = (path.equals("/") ? "" : path) + "/" + child;
                if (!below.equals("/zookeeper")) {
                    open.push(below);
                }
            }
        }
        all.put(QUOTA, quotaValue(client, "zookeeper_limits") + " " + quotaValue(client, "zookeeper_stats"));
        assertEquals("count=30,bytes=-1 count=20,bytes=0", all.get(QUOTA));
        return all;
    }

    /** Without the hard limits that later releases write behind it. */
    private static String quotaValue(ZooKeeper client, String name) throws Exception {
        byte[] data = client.getData(QUOTA + "/" + name, false, new Stat());
        return new String(data, StandardCharsets.UTF_8).replaceFirst("(bytes=-?\\d+).*", "$1");
    }

    private void compare(Map<String, String> expected, Path files, boolean hasDigests) throws Exception {
        int port = FreePort.find();
        ServerConfig config = ServerConfig.builder()
                .clientPort(port)
                .clientPortAddress("127.0.0.1")
                .dataDirectory(Optional.of(directory))
                .build();
        ForeignData.Contents found = ForeignData.read(files, files, ConclaveServer.FEATURE_LEVEL);
        assertEquals(hasDigests, found.isConfirmed(), () -> "by ZooKeeper's digest; " + found.notes());
        ClusterRestore.prepare(config, found.state(), Map.of(), OptionalLong.empty(), TimeSource.system())
                .write();
        server = ConclaveServer.start(config, TimeSource.system(), cause -> {});
        try (ZooKeeper client = connect("127.0.0.1:" + port)) {
            Map<String, String> after = contents(client);
            assertEquals(expected.keySet(), after.keySet());
            assertEquals(expected, after);
            assertEquals(0, client.exists("/ephemerals", false).getNumChildren());
            String next = client.create("/line/n-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
            assertEquals("/line/n-0000000020", next);
            assertTrue(client.exists(next, false).getCzxid() > found.state().lastZxid());
            assertNotEquals(0, client.exists("/box", false).getCversion());
        } finally {
            server.close();
        }
    }

    // ---- tests

    @Test
    void aTreeThatChangedWhileSnapshotsWereTaken() throws Exception {
        ApacheZooKeeper source = new ApacheZooKeeper();
        try {
            ZooKeeper client = connect(source.hostPort());
            writeAllKinds(client, true);
            writeMany(client);
            for (long seed = 0; seed < 3; seed++) {
                long own = seed;
                CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
                    try {
                        writeAtRandom(source.hostPort(), own, 6_000);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
                do {
                    source.takeSnapshot(); // the last one, too, begins while znodes change
                } while (!writing.isDone());
                writing.get(120, TimeUnit.SECONDS);
                if (seed == 1) {
                    source.stop();
                    source.start();
                    client.close();
                    client = connect(source.hostPort());
                }
            }
            client.create("/ephemerals/e", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            Map<String, String> expected = contents(client);
            expected.remove("/ephemerals/e");
            source.stop();
            compare(expected, source.dataDirectory(), true);
            assertEachSnapshotLeadsToTheSameTree(source.dataDirectory());
            source.start();
            client.close();
        } finally {
            source.close();
        }
    }

    /** The newest one may have been written in a quiet moment; from each of them the log leads to the same end. */
    private static void assertEachSnapshotLeadsToTheSameTree(Path files) throws Exception {
        long digest = ForeignData.read(files, files, ConclaveServer.FEATURE_LEVEL)
                .state()
                .digest();
        List<Path> snapshots;
        try (Stream<Path> all = Files.list(files.resolve("version-2"))) {
            snapshots = all.filter(file -> file.getFileName().toString().startsWith("snapshot."))
                    .toList();
        }
        assertTrue(snapshots.size() > 3, snapshots::toString);
        for (int i = 0; i < snapshots.size(); i += 1 + snapshots.size() / MOST_SNAPSHOTS) {
            Path only = ServerDirectory.create("one-snapshot");
            Files.copy(snapshots.get(i), only.resolve(snapshots.get(i).getFileName()));
            TreeState state =
                    ForeignData.read(only, files, ConclaveServer.FEATURE_LEVEL).state();
            assertTrue(state.hasRightDigest());
            assertEquals(digest, state.digest(), "from " + snapshots.get(i));
            ServerDirectory.delete(only);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.5.10", "3.6.4", "3.7.2", "3.8.6"})
    void olderReleases(String version) throws Exception {
        OlderZooKeeper source = new OlderZooKeeper(version);
        try {
            ZooKeeper client = connect(source.hostPort());
            writeAllKinds(client, false);
            writeAtRandom(source.hostPort(), 7, 2_000);
            client.close();
            source.stop();
            source.start(); // a snapshot at the start
            writeAtRandom(source.hostPort(), 8, 2_000);
            client = connect(source.hostPort());
            client.create("/ephemerals/e", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            Map<String, String> expected = contents(client);
            expected.remove("/ephemerals/e");
            source.stop();
            client.close(); // the server does not hear of it: the session and its ephemeral stay in the files
            compare(expected, source.dataDirectory(), !version.startsWith("3.5"));
        } finally {
            source.close();
        }
    }
}
