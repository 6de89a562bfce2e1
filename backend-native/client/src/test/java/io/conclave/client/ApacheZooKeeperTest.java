package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.AddWatch;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Done;
import io.conclave.request.Exists;
import io.conclave.request.GetAcl;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.RemoveWatch;
import io.conclave.request.SetAcl;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.request.Watcher;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.server.DataTree;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The client against a real Apache ZooKeeper. */
class ApacheZooKeeperTest {
    private static final Duration LONGEST_SESSION = Duration.ofMinutes(1);

    private static ApacheZooKeeper zooKeeper;
    private static int tests;
    private NodePath root;
    private TestSession session;

    @BeforeAll
    static void startServer() {
        zooKeeper = ApacheZooKeeper.start();
    }

    @AfterAll
    static void stopServer() {
        zooKeeper.close();
    }

    @BeforeEach
    void connect() {
        session = TestSession.connect(zooKeeper.url());
        root = NodePath.of("/test-" + ++tests);
        session.call(Create.of(root));
    }

    @AfterEach
    void disconnect() {
        session.close();
    }

    @Test
    void createsAndReadsAZnode() {
        NodePath path = root.child("node");
        Create.Created created = session.call(Create.of(path).withData(new byte[] {1, 2}));
        assertEquals(path, created.path());
        GetData.NodeData read = session.call(GetData.of(path));
        assertArrayEquals(new byte[] {1, 2}, read.data());
        assertEquals(created.stat(), read.stat());
        assertTrue(session.session.id() != 0);
        assertFalse(session.session.deadlineIsStrict());
        assertTrue(session.session.generation().isEmpty());
        Duration remaining = session.session.remaining();
        assertTrue(remaining.compareTo(Duration.ofSeconds(3)) > 0, remaining.toString());
    }

    @Test
    void doesEveryOperation() {
        NodePath path = root.child("node");
        session.call(Create.of(path));
        assertEquals(1, session.call(SetData.of(path, new byte[] {3})).version());
        assertEquals(List.of("node"), session.call(GetChildren.of(root)).names());
        assertTrue(session.call(Exists.of(path)).isPresent());
        assertEquals(Optional.empty(), session.call(Exists.of(root.child("absent"))));
        assertEquals(Acl.OPEN, session.call(GetAcl.of(path)).acl());
        assertEquals(1, session.call(SetAcl.of(path, Acl.READ_ONLY)).aversion());
        assertEquals(Acl.READ_ONLY, session.call(GetAcl.of(path)).acl());
        assertEquals(Done.DONE, session.call(Sync.of(path)));
        assertEquals(Done.DONE, session.call(Delete.of(path)));
        NodePath sequential = session.call(Create.of(root.child("s-")).withMode(CreateMode.EPHEMERAL_SEQUENTIAL))
                .path();
        assertTrue(sequential.name().matches("s-\\d{10}"), sequential.toString());
        NodeStat stat = session.call(Exists.of(sequential)).orElseThrow();
        assertEquals(session.session.id(), stat.ephemeralOwner());
        session.call(Create.of(root.child("container")).withMode(CreateMode.CONTAINER));
    }

    @Test
    void refusesByReason() {
        assertRefused(RefusalReason.NODE_EXISTS, () -> session.call(Create.of(root)));
        assertRefused(RefusalReason.NO_NODE, () -> session.call(GetData.of(root.child("x"))));
        assertRefused(
                RefusalReason.NO_NODE,
                () -> session.call(Create.of(root.child("x").child("y"))));
        assertRefused(
                RefusalReason.BAD_VERSION, () -> session.call(Delete.of(root).withVersion(7)));
        session.call(Create.of(root.child("e")).withMode(CreateMode.EPHEMERAL));
        assertRefused(RefusalReason.NOT_EMPTY, () -> session.call(Delete.of(root)));
        assertRefused(
                RefusalReason.NO_CHILDREN_FOR_EPHEMERALS,
                () -> session.call(Create.of(root.child("e").child("f"))));
        assertRefused(RefusalReason.BAD_ARGUMENTS, () -> session.call(Delete.of(NodePath.ROOT)));
        session.call(SetAcl.of(root, Acl.READ_ONLY));
        assertRefused(RefusalReason.NO_AUTH, () -> session.call(Create.of(root.child("g"))));
        assertRefused(
                RefusalReason.INVALID_ACL,
                () -> session.call(Create.of(NodePath.of("/invalid-acl")).withAcl(Acl.CREATOR_ONLY)));
    }

    @Test
    void multiTakesEffectAsOneOrNotAtAll() {
        NodePath a = root.child("a");
        List<Multi.Result> results = session.call(Multi.of(
                Create.of(a),
                Check.exists(a),
                SetData.of(a, new byte[] {1}),
                Create.of(root.child("s-")).withMode(CreateMode.PERSISTENT_SEQUENTIAL),
                Create.of(root.child("c")).withMode(CreateMode.CONTAINER),
                Delete.of(root.child("c"))));
        assertEquals(6, results.size());
        assertEquals(Optional.of(a), results.get(0).path());
        assertEquals(Multi.Result.NONE, results.get(1));
        assertEquals(1, results.get(2).stat().orElseThrow().version());
        assertTrue(results.get(3).path().orElseThrow().name().startsWith("s-0"));
        RefusedException refused = assertRefused(
                RefusalReason.NODE_EXISTS,
                () -> session.call(Multi.of(Create.of(root.child("b")), Create.of(a), Delete.of(a))));
        assertEquals(1, refused.operationIndex().orElseThrow());
        assertTrue(refused.getMessage().contains("create " + a), refused.getMessage());
        assertTrue(session.call(Exists.of(root.child("b"))).isEmpty());
        assertEquals(List.of(), session.call(Multi.of()));
    }

    @Test
    void dataOverOneMegabyteIsRefusedInItsTurnAndTheConnectionGoesOn() {
        long number = session.session.connectionNumber();
        CompletableFuture<?> before = session.submit(GetData.of(root));
        CompletableFuture<?> large = session.submit(SetData.of(root, new byte[0x100000]));
        CompletableFuture<?> slightlyLarge = session.submit(SetData.of(root, new byte[0xfffff]));
        CompletableFuture<NodeStat> fits = session.submit(SetData.of(root, new byte[0xfff00]));
        large.whenComplete((answer, failure) -> assertTrue(before.isDone()));
        assertRefused(RefusalReason.BAD_ARGUMENTS, () -> TestSession.join(large));
        assertRefused(RefusalReason.BAD_ARGUMENTS, () -> TestSession.join(slightlyLarge));
        assertEquals(0xfff00, TestSession.join(fits).dataLength());
        assertEquals(0xfff00, session.call(GetData.of(root)).data().length);
        assertEquals(number, session.session.connectionNumber());
    }

    @Test
    void pipelinedRequestsCompleteInOrder() {
        List<Integer> order = new ArrayList<>();
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            int number = i;
            CompletableFuture<?> future =
                    i % 3 == 0 ? session.submit(GetData.of(root)) : session.submit(Create.of(root.child("n" + i)));
            all.add(future.thenRun(() -> order.add(number)));
        }
        CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).join();
        assertEquals(java.util.stream.IntStream.range(0, 500).boxed().toList(), order);
    }

    @Test
    void aOneShotWatchFiresOnceBeforeTheReplyThatFollows() {
        session.call(GetData.of(root).withWatcher(session.watcher()));
        session.submit(SetData.of(root, new byte[] {1})).thenAccept(stat -> session.delivered.add("set"));
        session.submit(SetData.of(root, new byte[] {2})).thenAccept(stat -> session.delivered.add("set"));
        Awaitility.await().until(() -> session.delivered.size() == 4);
        assertEquals(NodeEvent.Type.DATA_CHANGED, session.events().get(0).type());
        assertEquals(List.of(SessionState.CONNECTED, session.events().get(0), "set", "set"), session.delivered);
    }

    @Test
    void watchesAreSetOnlyByRepliesThatSetThem() {
        NodePath path = root.child("later");
        assertRefused(RefusalReason.NO_NODE, () -> session.call(GetData.of(path).withWatcher(session.watcher())));
        assertRefused(
                RefusalReason.NO_NODE, () -> session.call(GetChildren.of(path).withWatcher(session.watcher())));
        session.call(Create.of(path));
        assertEquals(List.of(), session.events());
        session.call(Exists.of(path.child("c")).withWatcher(session.watcher()));
        session.call(GetChildren.of(path).withWatcher(session.watcher()));
        session.call(Create.of(path.child("c")));
        session.call(Sync.of(root));
        assertEquals(
                List.of(NodeEvent.Type.CREATED, NodeEvent.Type.CHILDREN_CHANGED),
                session.events().stream().map(NodeEvent::type).toList());
    }

    @Test
    void aWatcherOfDataAndChildrenHearsOfADeletionOnce() {
        Watcher watcher = session.watcher();
        session.call(GetData.of(root).withWatcher(watcher));
        session.call(GetChildren.of(root).withWatcher(watcher));
        session.call(Delete.of(root));
        session.call(Sync.of(root));
        assertEquals(
                List.of(NodeEvent.Type.DELETED),
                session.events().stream().map(NodeEvent::type).toList());
    }

    @Test
    void aPersistentWatchStaysUntilItsLastWatcherIsRemoved() {
        Watcher first = session.watcher();
        Watcher second = session.watcher();
        session.call(new AddWatch(root, true, first));
        session.call(new AddWatch(root, true, second));
        session.call(Create.of(root.child("a")));
        session.call(Sync.of(root));
        assertEquals(2, session.events().size());
        session.call(new RemoveWatch(root, first));
        session.call(SetData.of(root.child("a"), new byte[1]));
        session.call(Sync.of(root));
        assertEquals(4, session.events().size());
        assertEquals(NodeEvent.Type.WATCH_REMOVED, session.events().get(2).type());
        assertEquals(root.child("a"), session.events().get(3).path());
        awaitWatches(1);
        session.call(new RemoveWatch(root, second));
        session.call(SetData.of(root.child("a"), new byte[1]));
        session.call(Sync.of(root));
        assertEquals(5, session.events().size());
        awaitWatches(0);
        assertRefused(RefusalReason.NO_WATCHER, () -> session.call(new RemoveWatch(root, second)));
    }

    @Test
    void watcherRemovedRightAfterItWasAddedIsGone() {
        Watcher watcher = session.watcher();
        CompletableFuture<?> added = session.submit(new AddWatch(root, false, watcher));
        CompletableFuture<?> removed = session.submit(new RemoveWatch(root, watcher));
        session.call(Create.of(root.child("a")));
        assertTrue(added.isDone() && removed.isDone());
        session.call(Sync.of(root));
        assertEquals(
                List.of(NodeEvent.Type.WATCH_REMOVED),
                session.events().stream().map(NodeEvent::type).toList());
        awaitWatches(0);
    }

    @Test
    void sessionOutlivesARestartOfTheServerAndItsWatchesReportMissedEvents() {
        long id = session.session.id();
        NodePath ephemeral = root.child("e");
        session.call(Create.of(ephemeral).withMode(CreateMode.EPHEMERAL));
        session.call(Exists.of(root.child("absent")).withWatcher(session.watcher()));
        session.call(GetData.of(root).withWatcher(session.watcher()));
        session.call(new AddWatch(root, false, session.watcher()));
        zooKeeper.stop();
        session.awaitState(SessionState.SUSPENDED);
        CompletableFuture<NodeStat> waiting = session.submit(SetData.of(root, new byte[] {9}));
        zooKeeper.restart();
        assertEquals(1, TestSession.join(waiting).version());
        session.call(Sync.of(root));
        assertEquals(id, session.session.id());
        assertEquals(id, session.call(Exists.of(ephemeral)).orElseThrow().ephemeralOwner());
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED), session.states);
        assertEquals(2, session.session.connectionNumber());
        assertEquals(2, session.events().size());
        session.call(Create.of(root.child("absent")));
        session.call(Sync.of(root));
        // the exist watch and the persistent one
        assertEquals(
                List.of(NodeEvent.Type.CREATED, NodeEvent.Type.CHILDREN_CHANGED),
                session.events().subList(2, 4).stream().map(NodeEvent::type).toList());
    }

    @Test
    void aSessionThatExpiredOnTheServerIsLost() {
        CompletableFuture<?> before = session.submit(Sync.of(root));
        TestSession.join(before);
        zooKeeper.server().closeSession(session.session.id());
        session.awaitState(SessionState.LOST);
        assertThrows(io.conclave.error.SessionGoneException.class, () -> session.call(Exists.of(root)));
        assertEquals(Duration.ZERO, session.session.remaining());
    }

    @Test
    void closingDeletesEphemeralsAndRefusesLaterRequests() {
        NodePath ephemeral = root.child("e");
        try (TestSession other = TestSession.connect(zooKeeper.url())) {
            CompletableFuture<?> create = other.submit(Create.of(ephemeral).withMode(CreateMode.EPHEMERAL));
            CompletableFuture<Void> closed = other.session.closeAsync().toCompletableFuture();
            assertThrows(ClosedException.class, () -> other.call(GetData.of(root)));
            TestSession.join(closed);
            TestSession.join(create);
            assertEquals(List.of(SessionState.CONNECTED, SessionState.CLOSED), other.states);
        }
        session.call(Sync.of(root));
        assertTrue(session.call(Exists.of(ephemeral)).isEmpty());
    }

    @Test
    void pingsKeepAnIdleSessionAlive() {
        ManualTimeSource time = new ManualTimeSource();
        try (TestSession idle = new TestSession(zooKeeper.url(), TestSession.options(LONGEST_SESSION, time, 10))) {
            idle.awaitState(SessionState.CONNECTED);
            long expiry = expiryAtTheServer(idle);
            for (int ping = 1; ping <= 6; ping++) {
                passPing(idle, time);
            }
            assertTrue(time.monotonicNanos() > LONGEST_SESSION.toNanos());
            Awaitility.await().until(() -> {
                passPing(idle, time);
                return expiryAtTheServer(idle) > expiry;
            });
            assertEquals(List.of(SessionState.CONNECTED), idle.states);
            assertEquals(1, idle.session.connectionNumber());
        }
    }

    /** Lets a third of the timeout pass; the ping that follows is answered. */
    private static void passPing(TestSession idle, ManualTimeSource time) {
        do {
            WireSessionFixture.passTimer(time);
        } while (time.untilNextTimer().orElseThrow().compareTo(Duration.ofSeconds(1)) < 0); // until it has gone
        Duration almostAll = LONGEST_SESSION.multipliedBy(9).dividedBy(10);
        Awaitility.await().until(() -> idle.session.remaining().compareTo(almostAll) > 0);
    }

    /** By the server's clock, in its ticks of half a second. */
    private static long expiryAtTheServer(TestSession session) {
        return zooKeeper.server().getSessionExpiryMap().entrySet().stream()
                .filter(expiry -> expiry.getValue().contains(session.session.id()))
                .mapToLong(Map.Entry::getKey)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void digestCredentialsOpenNodesThatTheirOwnerProtected() {
        Authentication proof = Authentication.digest("ann", "secret");
        NodePath path = root.child("private");
        try (TestSession ann = new TestSession(
                zooKeeper.url(), TestSession.options(LONGEST_SESSION, TimeSource.system(), 10, proof))) {
            ann.call(Create.of(path).withAcl(Acl.CREATOR_ONLY));
            assertEquals(0, ann.call(GetData.of(path)).data().length);
            assertRefused(RefusalReason.NO_AUTH, () -> session.call(GetData.of(path)));
        }
    }

    @Test
    void rejectedCredentialsRefuseEverythingByName() {
        Authentication unknown = new Authentication("no-such-scheme", new byte[0]);
        try (TestSession anonymous = new TestSession(
                zooKeeper.url(), TestSession.options(LONGEST_SESSION, TimeSource.system(), 10, unknown))) {
            assertRefused(RefusalReason.AUTH_FAILED, () -> anonymous.call(Exists.of(root)));
            assertRefused(RefusalReason.AUTH_FAILED, () -> anonymous.call(Exists.of(root)));
            assertNotEquals(SessionState.CONNECTED, anonymous.session.state());
        }
    }

    @Test
    void namesAreResolved() {
        try (TestSession named = TestSession.connect("conclave://localhost:" + zooKeeper.port())) {
            assertTrue(named.call(Exists.of(root)).isPresent());
        }
    }

    /** At the server, which forgets those of a session that was closed when its connection has ended. */
    private static void awaitWatches(int count) {
        DataTree tree = zooKeeper.server().getZKDatabase().getDataTree();
        Awaitility.await().until(() -> tree.getWatchCount() == count);
    }

    private static RefusedException assertRefused(RefusalReason reason, Runnable call) {
        ConclaveException failure = assertThrows(ConclaveException.class, call::run);
        assertTrue(failure instanceof RefusedException, failure.toString());
        RefusedException refused = (RefusedException) failure;
        assertEquals(reason, refused.reason(), refused.getMessage());
        return refused;
    }
}
