package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.protocol.AuthRequest;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.EmptyReply;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ErrorReply;
import io.conclave.protocol.EventType;
import io.conclave.protocol.GetDataReply;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.SetWatchesRequest;
import io.conclave.protocol.StatReply;
import io.conclave.protocol.Xid;
import io.conclave.spi.AddWatch;
import io.conclave.spi.Authentication;
import io.conclave.spi.Delete;
import io.conclave.spi.Exists;
import io.conclave.spi.GetData;
import io.conclave.spi.RemoveWatch;
import io.conclave.spi.SessionState;
import io.conclave.spi.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The session against servers that misbehave as their script says. */
class WireSessionTest {
    private static final NodePath A = NodePath.of("/a");
    private static final int TIMEOUT_MS = 6000;
    private static final StatReply STAT = new StatReply(FakeServer.STAT);

    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeAll
    static void pollOften() {
        Awaitility.setDefaultPollInterval(Duration.ofMillis(5));
        Awaitility.setDefaultPollDelay(Duration.ofMillis(1));
    }

    @AfterAll
    static void pollAsUsual() {
        Awaitility.reset();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : open) {
            closeable.close();
        }
    }

    private FakeServer server(FakeServer.Script... scripts) {
        FakeServer server = new FakeServer(scripts);
        open.add(server);
        return server;
    }

    private TestSession session(String url, TimeSource time) {
        return session(url, time, 1000);
    }

    private TestSession session(String url, TimeSource time, int maxQueued, Authentication... proofs) {
        TestSession session =
                new TestSession(url, TestSession.options(Duration.ofMillis(TIMEOUT_MS), time, maxQueued, proofs));
        // Sessions are closed before the servers, so that a closing session gets its answer.
        open.add(0, session);
        return session;
    }

    private TestSession connected(FakeServer server, TimeSource time) {
        TestSession session = session(server.url(), time);
        session.awaitState(SessionState.CONNECTED);
        return session;
    }

    /** Answers every request as a set, close included. */
    private static void serve(FakeServer.Peer peer) throws Exception {
        while (true) {
            FakeServer.Received request = peer.next();
            switch (request.opCode()) {
                case CLOSE_SESSION -> {
                    peer.reply(request, EmptyReply.INSTANCE);
                    return;
                }
                case GET_DATA -> peer.reply(request, new GetDataReply(new byte[] {1}, FakeServer.STAT));
                case SET_DATA, EXISTS -> peer.reply(request, STAT);
                case ADD_WATCH -> peer.reply(request, new ErrorReply(0));
                default -> peer.reply(request, EmptyReply.INSTANCE);
            }
        }
    }

    private static void openAndServe(FakeServer.Peer peer) throws Exception {
        peer.open(TIMEOUT_MS);
        serve(peer);
    }

    // ---- replies

    @Test
    void requestsInFlightAreUnknownInOrderAndTheSessionIsResumedWithItsPassword() throws Exception {
        BlockingQueue<ConnectRequest> greetings = new LinkedBlockingQueue<>();
        FakeServer server = server(
                peer -> {
                    greetings.add(peer.open(TIMEOUT_MS));
                    FakeServer.Received first = peer.next();
                    peer.reply(first.xid(), 77, ErrorCode.OK, STAT);
                    peer.next();
                    peer.next();
                },
                peer -> {
                    greetings.add(peer.open(TIMEOUT_MS));
                    serve(peer);
                });
        TestSession session = connected(server, TimeSource.system());
        List<String> order = new CopyOnWriteArrayList<>();
        CompletableFuture<?> answered = session.submit(SetData.of(A, new byte[0]));
        CompletableFuture<?> first =
                session.submit(SetData.of(A, new byte[0])).whenComplete((stat, failure) -> order.add("first"));
        CompletableFuture<?> second = session.submit(Delete.of(A)).whenComplete((done, failure) -> order.add("second"));
        TestSession.join(answered);
        OutcomeUnknownException unknown = assertThrows(OutcomeUnknownException.class, () -> TestSession.join(first));
        assertTrue(unknown.getMessage().startsWith("set /a: connection lost before the reply"), unknown.getMessage());
        assertThrows(OutcomeUnknownException.class, () -> TestSession.join(second));
        assertEquals(List.of("first", "second"), order);
        assertEquals(1, session.call(GetData.of(A)).data().length);

        assertEquals(0, greetings.take().sessionId());
        ConnectRequest resumed = greetings.take();
        assertEquals(FakeServer.SESSION, resumed.sessionId());
        assertEquals(7, resumed.password()[15]);
        assertEquals(77, resumed.lastZxidSeen());
        session.awaitState(SessionState.CONNECTED);
        assertEquals(2, session.session.connectionNumber());
    }

    @Test
    void aReplyOutOfTurnDropsTheConnection() {
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    FakeServer.Received request = peer.next();
                    peer.reply(request.xid() + 1, 1, ErrorCode.OK, STAT);
                    peer.drain();
                },
                WireSessionTest::openAndServe);
        TestSession session = connected(server, TimeSource.system());
        assertThrows(OutcomeUnknownException.class, () -> session.call(SetData.of(A, new byte[0])));
        session.call(SetData.of(A, new byte[0]));
    }

    @Test
    void aReplyThatCannotBeReadOrIsTooLargeDropsTheConnection() {
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    FakeServer.Received request = peer.next();
                    peer.reply(request, EmptyReply.INSTANCE);
                    peer.drain();
                },
                peer -> {
                    peer.open(TIMEOUT_MS);
                    peer.next();
                    ByteBuf length = Unpooled.buffer();
                    length.writeInt(Integer.MAX_VALUE);
                    peer.send(length);
                    peer.drain();
                },
                WireSessionTest::openAndServe);
        TestSession session = connected(server, TimeSource.system());
        assertThrows(OutcomeUnknownException.class, () -> session.call(SetData.of(A, new byte[0])));
        assertThrows(OutcomeUnknownException.class, () -> session.call(SetData.of(A, new byte[0])));
        session.call(SetData.of(A, new byte[0]));
    }

    @Test
    void nullDataIsReadAsEmpty() {
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            peer.reply(peer.next(), new GetDataReply(null, FakeServer.STAT));
            serve(peer);
        });
        TestSession session = connected(server, TimeSource.system());
        assertArrayEquals(new byte[0], session.call(GetData.of(A)).data());
    }

    @Test
    void anEventInTheSamePacketKeepsItsPlaceAmongTheReplies() {
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            FakeServer.Received watched = peer.next();
            FakeServer.Received set = peer.next();
            peer.reply(watched, new GetDataReply(new byte[0], FakeServer.STAT));
            peer.event(EventType.NODE_DATA_CHANGED, "/a", 5);
            peer.reply(set, STAT);
            serve(peer);
        });
        TestSession session = connected(server, TimeSource.system());
        session.session.dispatcher().execute(() -> {
            session.submit(GetData.of(A).withWatcher(session.watcher()))
                    .thenAccept(data -> session.delivered.add("read"));
            session.submit(SetData.of(A, new byte[0])).thenAccept(stat -> session.delivered.add("set"));
        });
        Awaitility.await().until(() -> session.delivered.size() == 4);
        assertEquals(
                List.of(SessionState.CONNECTED, "read", new NodeEvent(NodeEvent.Type.DATA_CHANGED, A, 5), "set"),
                session.delivered);
    }

    @Test
    void aServerOfOursTellsItsGenerationBeforeConnectedIsSeen() {
        FakeServer server = server(peer -> {
            peer.accept(peer.readGreeting(), TIMEOUT_MS);
            peer.answerIdentity("clusterId=ff00\ngeneration=42\nfeatureLevel=1\nfuture=x\n");
            serve(peer);
        });
        TestSession session = connected(server, TimeSource.system());
        assertEquals(OptionalLong.of(42), session.session.generation());
        assertTrue(session.session.deadlineIsStrict());
    }

    // ---- errors

    @Test
    void anExpiredAnswerLosesTheSession() {
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            peer.refuse(peer.next(), ErrorCode.SESSION_EXPIRED);
            peer.drain();
        });
        TestSession session = connected(server, TimeSource.system());
        CompletableFuture<?> first = session.submit(SetData.of(A, new byte[0]));
        CompletableFuture<?> second = session.submit(SetData.of(A, new byte[0]));
        assertThrows(SessionGoneException.class, () -> TestSession.join(first));
        assertThrows(SessionGoneException.class, () -> TestSession.join(second));
        assertEquals(List.of(SessionState.CONNECTED, SessionState.LOST), session.states);
        TestSession.join(session.session.closeAsync().toCompletableFuture());
        assertEquals(SessionState.LOST, session.session.state());
    }

    @Test
    void aMovedSessionIsTakenBackOnAnotherConnection() {
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    peer.refuse(peer.next(), ErrorCode.SESSION_MOVED);
                    peer.drain();
                },
                WireSessionTest::openAndServe);
        TestSession session = connected(server, TimeSource.system());
        assertThrows(OutcomeUnknownException.class, () -> session.call(SetData.of(A, new byte[0])));
        session.call(SetData.of(A, new byte[0]));
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED), session.states);
    }

    @Test
    void aServerThatServesReadsOnlySaysSo() {
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            peer.refuse(peer.next(), ErrorCode.NOT_READ_ONLY);
            serve(peer);
        });
        TestSession session = connected(server, TimeSource.system());
        RefusedException refused = assertThrows(RefusedException.class, () -> session.call(SetData.of(A, new byte[0])));
        assertEquals(RefusalReason.NOT_WRITABLE, refused.reason());
        assertEquals("set /a: NOT_READ_ONLY (-119)", refused.getMessage());
    }

    @Test
    void aSessionThatExpiredMeanwhileIsLostOnResume() {
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    peer.next();
                },
                peer -> {
                    peer.greet(ConnectResponse.sessionGone(peer.readGreeting()));
                });
        TestSession session = connected(server, TimeSource.system());
        CompletableFuture<?> sent = session.submit(SetData.of(A, new byte[0]));
        assertThrows(OutcomeUnknownException.class, () -> TestSession.join(sent));
        session.awaitState(SessionState.LOST);
        assertThrows(SessionGoneException.class, () -> session.call(SetData.of(A, new byte[0])));
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.LOST), session.states);
    }

    // ---- watches and proofs on a new connection

    @Test
    void proofsAndWatchesGoOutBeforeTheRequestsThatWaited() throws Exception {
        BlockingQueue<List<FakeServer.Received>> introductions = new ArrayBlockingQueue<>(1);
        CountDownLatch drop = new CountDownLatch(1);
        CountDownLatch resume = new CountDownLatch(1);
        FakeServer server = server(
                peer -> {
                    ConnectRequest greeting = peer.readGreeting();
                    peer.accept(greeting, TIMEOUT_MS);
                    FakeServer.Received proof = peer.next();
                    peer.reply(Xid.AUTH, 0, ErrorCode.OK, EmptyReply.INSTANCE);
                    assertEquals(OpCode.AUTH, proof.opCode());
                    peer.answerIdentity(null);
                    peer.reply(peer.next().xid(), 10, ErrorCode.OK, new GetDataReply(null, FakeServer.STAT));
                    peer.reply(peer.next().xid(), 11, ErrorCode.NO_NODE, EmptyReply.INSTANCE);
                    peer.reply(peer.next().xid(), 12, ErrorCode.OK, new ErrorReply(0));
                    drop.await();
                },
                peer -> {
                    ConnectRequest greeting = peer.readGreeting();
                    resume.await();
                    peer.accept(greeting, TIMEOUT_MS);
                    introductions.add(List.of(peer.next(), peer.next(), peer.next(), peer.next()));
                    peer.drain();
                });
        TestSession session = session(server.url(), TimeSource.system(), 100, Authentication.digest("ann", "secret"));
        session.call(GetData.of(A).withWatcher(session.watcher()));
        session.call(Exists.of(NodePath.of("/b")).withWatcher(session.watcher()));
        session.call(new AddWatch(NodePath.of("/c"), true, session.watcher()));
        drop.countDown();
        session.awaitState(SessionState.SUSPENDED);
        session.submit(Delete.of(A));
        resume.countDown();
        List<FakeServer.Received> sent = introductions.poll(10, TimeUnit.SECONDS);
        assertEquals(
                List.of(OpCode.AUTH, OpCode.GET_DATA, OpCode.SET_WATCHES2, OpCode.DELETE),
                sent.stream().map(FakeServer.Received::opCode).toList());
        assertEquals("digest", ((AuthRequest) sent.get(0).body()).scheme());
        SetWatchesRequest watches = (SetWatchesRequest) sent.get(2).body();
        assertEquals(12, watches.relativeZxid());
        assertEquals(List.of("/a"), watches.dataWatches());
        assertEquals(List.of("/b"), watches.existWatches());
        assertEquals(List.of("/c"), watches.persistentRecursiveWatches());
    }

    @Test
    void manyWatchesAreSetAgainInFramesOf128KiBAndTheOldKindsByTheOldRequest() throws Exception {
        int count = 3000;
        String name = "n".repeat(100);
        CountDownLatch drop = new CountDownLatch(1);
        BlockingQueue<SetWatchesRequest> frames = new LinkedBlockingQueue<>();
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    for (int i = 0; i < count; i++) {
                        peer.reply(peer.next(), STAT);
                    }
                    drop.await();
                },
                peer -> {
                    peer.open(TIMEOUT_MS);
                    while (true) {
                        FakeServer.Received request = peer.next();
                        if (request.body() instanceof SetWatchesRequest watches) {
                            frames.add(watches);
                            peer.reply(Xid.SET_WATCHES, 0, ErrorCode.OK, EmptyReply.INSTANCE);
                        } else {
                            peer.reply(request, EmptyReply.INSTANCE);
                        }
                    }
                });
        TestSession session = session(server.url(), TimeSource.system(), count);
        List<CompletableFuture<?>> all = IntStream.range(0, count)
                .<CompletableFuture<?>>mapToObj(i ->
                        session.submit(Exists.of(NodePath.of("/" + name + i)).withWatcher(event -> {})))
                .toList();
        all.forEach(TestSession::join);
        drop.countDown();
        Awaitility.await().until(() -> session.session.connectionNumber() == 2);
        session.call(Delete.of(A));
        assertTrue(frames.size() > 1);
        assertTrue(frames.stream().allMatch(frame -> frame.opCode() == OpCode.SET_WATCHES));
        assertEquals(
                count,
                frames.stream().mapToInt(frame -> frame.dataWatches().size()).sum());
    }

    @Test
    void aRemovedWatcherIsNotSetAgainEvenIfTheServerNeverAnswered() {
        CountDownLatch drop = new CountDownLatch(1);
        List<OpCode> secondConnection = new CopyOnWriteArrayList<>();
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    peer.reply(peer.next(), new ErrorReply(0));
                    assertEquals(OpCode.REMOVE_WATCHES, peer.next().opCode());
                    drop.await();
                },
                peer -> {
                    peer.open(TIMEOUT_MS);
                    while (true) {
                        FakeServer.Received request = peer.next();
                        secondConnection.add(request.opCode());
                        peer.reply(request, EmptyReply.INSTANCE);
                    }
                });
        TestSession session = connected(server, TimeSource.system());
        var watcher = session.watcher();
        session.call(new AddWatch(A, false, watcher));
        CompletableFuture<?> removed = session.submit(new RemoveWatch(A, watcher));
        drop.countDown();
        TestSession.join(removed);
        session.call(Delete.of(A));
        assertEquals(List.of(OpCode.DELETE), secondConnection);
    }

    // ---- time

    @Test
    void aServerThatDoesNotAnswerTheHandshakeIsGivenUpForTheNext() {
        FakeServer silent = server(peer -> {
            peer.ignore();
        });
        FakeServer good = server(WireSessionTest::openAndServe);
        ManualTimeSource time = new ManualTimeSource();
        String url = "conclave://" + silent.endpoint() + "," + good.endpoint();
        List<TestSession> sessions = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            sessions.add(session(url, time));
        }
        // Each server has half of the session timeout.
        Awaitility.await().until(() -> silent.accepted() + good.accepted() >= 4);
        Awaitility.await().until(() -> {
            time.advance(Duration.ofMillis(100));
            return sessions.stream().allMatch(session -> session.session.state() == SessionState.CONNECTED);
        });
        assertEquals(4, good.accepted());
    }

    @Test
    void aHalfOpenConnectionIsDroppedAfterTwoThirdsOfTheTimeout() {
        FakeServer server = server(
                peer -> {
                    peer.answersPings = false;
                    peer.open(TIMEOUT_MS);
                    peer.drain();
                },
                WireSessionTest::openAndServe);
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = connected(server, time);
        time.advance(Duration.ofMillis(TIMEOUT_MS / 2));
        assertEquals(SessionState.CONNECTED, session.session.state());
        // In steps, because the session sets its next timer when it has handled the last one.
        Awaitility.await().until(() -> {
            time.advance(Duration.ofMillis(20));
            return session.session.connectionNumber() == 2;
        });
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED), session.states);
        assertTrue(session.session.remaining().toMillis() > TIMEOUT_MS / 2);
    }

    @Test
    void pingsGoOnWhileOnlyReadsFlowAndWritesReplaceThem() {
        List<FakeServer.Peer> peers = new CopyOnWriteArrayList<>();
        FakeServer server = server(peer -> {
            peers.add(peer);
            openAndServe(peer);
        });
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = connected(server, time);
        for (int i = 0; i < 30; i++) {
            time.advance(Duration.ofMillis(TIMEOUT_MS / 10));
            session.call(GetData.of(A));
            Awaitility.await().until(() -> session.session.remaining().toMillis() > TIMEOUT_MS / 2);
        }
        int pings = peers.get(0).pings.get();
        assertTrue(pings >= 6, pings + " pings");
        session.call(SetData.of(A, new byte[0]));
        int before = peers.get(0).pings.get();
        for (int i = 0; i < 30; i++) {
            time.advance(Duration.ofMillis(TIMEOUT_MS / 10));
            session.call(SetData.of(A, new byte[0]));
        }
        assertTrue(peers.get(0).pings.get() <= before + 1, "writes prove as much as pings");
        assertEquals(List.of(SessionState.CONNECTED), session.states);
    }

    @Test
    void theLocalClockLosesTheSessionOverALivingConnectionAndItIsNeverResumed() throws Exception {
        BlockingQueue<FakeServer.Received> received = new LinkedBlockingQueue<>();
        FakeServer server = server(peer -> {
            peer.answersPings = false;
            peer.open(TIMEOUT_MS);
            while (true) {
                received.add(peer.next());
            }
        });
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = connected(server, time);
        CompletableFuture<?> inFlight = session.submit(SetData.of(A, new byte[0]));
        assertEquals(OpCode.SET_DATA, received.poll(10, TimeUnit.SECONDS).opCode());
        // A process that was stopped: both clocks jump, and no timer came in between.
        time.advanceWallOnly(Duration.ofMillis(TIMEOUT_MS));
        assertEquals(Duration.ZERO, session.session.remaining());
        time.advance(Duration.ofMillis(TIMEOUT_MS));
        assertThrows(SessionGoneException.class, () -> TestSession.join(inFlight));
        assertEquals(List.of(SessionState.CONNECTED, SessionState.LOST), session.states);
        assertEquals(OpCode.CLOSE_SESSION, received.poll(10, TimeUnit.SECONDS).opCode());
        assertThrows(SessionGoneException.class, () -> session.call(GetData.of(A)));
        time.advance(Duration.ofMinutes(1));
        assertEquals(1, server.accepted());
    }

    @Test
    void aSuspendedSessionIsLostByTheLocalClock() {
        FakeServer server = server(peer -> peer.open(TIMEOUT_MS));
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = session(server.url(), time);
        session.awaitState(SessionState.SUSPENDED);
        server.close();
        CompletableFuture<?> waiting = session.submit(SetData.of(A, new byte[0]));
        Awaitility.await().until(() -> {
            time.advance(Duration.ofMillis(100));
            return session.session.state() == SessionState.LOST;
        });
        assertThrows(SessionGoneException.class, () -> TestSession.join(waiting));
    }

    @Test
    void aServerThatClosesAtOnceIsNotTriedInABusyLoop() {
        FakeServer server = server(peer -> peer.readGreeting());
        FakeServer slammer = server(peer -> peer.open(TIMEOUT_MS));
        ManualTimeSource time = new ManualTimeSource();
        session(server.url(), time);
        session(slammer.url(), time);
        // Only time opens the next round, and it stands still.
        Awaitility.await()
                .during(Duration.ofMillis(300))
                .atMost(Duration.ofSeconds(10))
                .until(() -> server.accepted() == 1 && slammer.accepted() == 1);
        time.advance(Duration.ofMillis(100));
        Awaitility.await().until(() -> server.accepted() == 2 && slammer.accepted() == 2);
    }

    // ---- the queue

    @Test
    void theQueueIsBoundedWhileThereIsNoConnection() {
        FakeServer server = server(peer -> peer.readGreeting());
        TestSession session = session(server.url(), new ManualTimeSource(), 3);
        List<CompletableFuture<?>> waiting = IntStream.range(0, 3)
                .<CompletableFuture<?>>mapToObj(i -> session.submit(GetData.of(A)))
                .toList();
        RefusedException refused = assertThrows(RefusedException.class, () -> session.call(GetData.of(A)));
        assertEquals(RefusalReason.LIMIT_EXCEEDED, refused.reason());
        assertTrue(refused.getMessage().startsWith("get /a: 3 requests"), refused.getMessage());
        assertTrue(waiting.stream().noneMatch(CompletableFuture::isDone));
        session.close();
        waiting.forEach(each -> assertThrows(ClosedException.class, () -> TestSession.join(each)));
    }

    // ---- closing, in every state

    @Test
    void closingWhileConnectingEndsAtOnce() {
        FakeServer silent = server(FakeServer.Peer::ignore);
        TestSession session = session(silent.url(), new ManualTimeSource());
        CompletableFuture<?> waiting = session.submit(GetData.of(A));
        Awaitility.await().until(() -> silent.accepted() == 1);
        TestSession.join(session.session.closeAsync().toCompletableFuture());
        assertThrows(ClosedException.class, () -> TestSession.join(waiting));
        assertEquals(List.of(SessionState.CLOSED), session.states);
    }

    @Test
    void closingWhileConnectedWaitsForTheConfirmation() throws Exception {
        CountDownLatch confirm = new CountDownLatch(1);
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            FakeServer.Received set = peer.next();
            FakeServer.Received close = peer.next();
            assertEquals(OpCode.CLOSE_SESSION, close.opCode());
            peer.reply(set, STAT);
            confirm.await();
            peer.reply(close, EmptyReply.INSTANCE);
        });
        TestSession session = connected(server, TimeSource.system());
        CompletableFuture<?> before = session.submit(SetData.of(A, new byte[0]));
        CompletableFuture<Void> closed = session.session.closeAsync().toCompletableFuture();
        TestSession.join(before);
        assertFalse(closed.isDone());
        assertEquals(SessionState.CLOSED, session.session.state());
        assertThrows(ClosedException.class, () -> session.call(GetData.of(A)));
        confirm.countDown();
        TestSession.join(closed);
        assertEquals(closed, session.session.closeAsync());
    }

    @Test
    void aCloseWhoseConnectionGoesIsSentAgain() {
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    peer.next();
                },
                WireSessionTest::openAndServe);
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = connected(server, time);
        // An old connection, so that the next attempt follows at once.
        time.advance(Duration.ofSeconds(1));
        TestSession.join(session.session.closeAsync().toCompletableFuture());
        assertEquals(2, server.accepted());
    }

    @Test
    void closingWhileSuspendedEndsAfterEveryServerHasBeenTriedOnce() {
        FakeServer server = server(peer -> peer.open(TIMEOUT_MS));
        TestSession session = session(server.url(), new ManualTimeSource());
        session.awaitState(SessionState.SUSPENDED);
        CompletableFuture<?> waiting = session.submit(GetData.of(A));
        TestSession.join(session.session.closeAsync().toCompletableFuture());
        assertThrows(ClosedException.class, () -> TestSession.join(waiting));
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CLOSED), session.states);
    }

    @Test
    void aCloseThatIsNeverConfirmedEndsWithTheSessionsTime() {
        FakeServer server = server(peer -> {
            peer.answersPings = false;
            peer.open(TIMEOUT_MS);
            peer.ignore();
        });
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = connected(server, time);
        CompletableFuture<Void> closed = session.session.closeAsync().toCompletableFuture();
        Awaitility.await().until(() -> session.session.state() == SessionState.CLOSED);
        assertFalse(closed.isDone());
        time.advanceWallOnly(Duration.ofMillis(TIMEOUT_MS));
        time.advance(Duration.ofMillis(TIMEOUT_MS));
        TestSession.join(closed);
    }

    @Test
    void closingTheBackendEndsWhatNoServerAnswers() {
        FakeServer silent = server(FakeServer.Peer::ignore);
        TestSession session = session(silent.url(), TimeSource.system());
        CompletableFuture<?> waiting = session.submit(GetData.of(A));
        session.close();
        assertThrows(ClosedException.class, () -> TestSession.join(waiting));
        assertThrows(ClosedException.class, () -> session.call(GetData.of(A)));
        assertThrows(ClosedException.class, () -> session.backend.openSession(state -> {}));
    }
}
