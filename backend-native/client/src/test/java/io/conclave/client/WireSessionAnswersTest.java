package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.EventType;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.Xid;
import io.conclave.request.AddWatch;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.RemoveWatch;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
import org.junit.jupiter.api.Test;

/** How a session handles replies, errors and events, and what it sends on a new connection. */
final class WireSessionAnswersTest extends WireSessionFixture {
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
                WireSessionFixture::openAndServe);
        TestSession session = connected(server, TimeSource.system());
        assertThrows(OutcomeUnknownException.class, () -> session.call(SetData.of(A, new byte[0])));
        session.call(SetData.of(A, new byte[0]));
    }

    @Test
    void kindOfRequestThatIsRefusedBeforeItsTurnCompletesInItsTurn() {
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            FakeServer.Received set = peer.next();
            FakeServer.Received watch = peer.next();
            FakeServer.Received read = peer.next();
            peer.reply(watch.xid(), 0, ErrorCode.UNIMPLEMENTED, ReplyBody.Empty.INSTANCE);
            peer.reply(set, STAT);
            peer.reply(read, new ReplyBody.GetData(new byte[] {1}, FakeServer.STAT));
            serve(peer);
        });
        TestSession session = connected(server, TimeSource.system());
        List<String> order = new CopyOnWriteArrayList<>();
        CompletableFuture<?> set =
                session.submit(SetData.of(A, new byte[0])).whenComplete((stat, failure) -> order.add("set"));
        CompletableFuture<?> watch =
                session.submit(new AddWatch(A, true, event -> {})).whenComplete((done, failure) -> order.add("watch"));
        CompletableFuture<?> read =
                session.submit(GetData.of(NodePath.of("/b"))).whenComplete((data, failure) -> order.add("read"));
        TestSession.join(set);
        RefusedException refusal = assertThrows(RefusedException.class, () -> TestSession.join(watch));
        assertEquals(RefusalReason.UNSUPPORTED, refusal.reason());
        TestSession.join(read);
        assertEquals(List.of("set", "watch", "read"), order);
        assertEquals(1, session.session.connectionNumber());
    }

    @Test
    void readThatReliedOnAPersistentWatchThatIsRefusedIsNotAnswered() {
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    FakeServer.Received watch = peer.next();
                    FakeServer.Received read = peer.next();
                    assertEquals(new RequestBody.GetData("/a", false), read.body(), "the persistent watch tells of it");
                    peer.reply(watch.xid(), 0, ErrorCode.UNIMPLEMENTED, ReplyBody.Empty.INSTANCE);
                    peer.drain();
                },
                peer -> {
                    peer.open(TIMEOUT_MS);
                    FakeServer.Received read = peer.next();
                    assertEquals(new RequestBody.GetData("/a", true), read.body());
                    peer.reply(read, new ReplyBody.GetData(new byte[] {1}, FakeServer.STAT));
                    serve(peer);
                });
        TestSession session = connected(server, TimeSource.system());
        CompletableFuture<?> watch = session.submit(new AddWatch(A, true, event -> {}));
        CompletableFuture<?> read = session.submit(GetData.of(A).withWatcher(event -> {}));
        assertThrows(RefusedException.class, () -> TestSession.join(watch));
        assertThrows(OutcomeUnknownException.class, () -> TestSession.join(read));
        assertEquals(1, session.call(GetData.of(A).withWatcher(event -> {})).data().length);
    }

    @Test
    void aReplyThatCannotBeReadOrIsTooLargeDropsTheConnection() {
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    FakeServer.Received request = peer.next();
                    peer.reply(request, ReplyBody.Empty.INSTANCE);
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
                WireSessionFixture::openAndServe);
        TestSession session = connected(server, TimeSource.system());
        assertThrows(OutcomeUnknownException.class, () -> session.call(SetData.of(A, new byte[0])));
        assertThrows(OutcomeUnknownException.class, () -> session.call(SetData.of(A, new byte[0])));
        session.call(SetData.of(A, new byte[0]));
    }

    @Test
    void nullDataIsReadAsEmpty() {
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            peer.reply(peer.next(), new ReplyBody.GetData(null, FakeServer.STAT));
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
            peer.reply(watched, new ReplyBody.GetData(new byte[0], FakeServer.STAT));
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
                WireSessionFixture::openAndServe);
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
                    peer.reply(Xid.AUTH, 0, ErrorCode.OK, ReplyBody.Empty.INSTANCE);
                    assertEquals(OpCode.AUTH, proof.opCode());
                    peer.answerIdentity(null);
                    peer.reply(peer.next().xid(), 10, ErrorCode.OK, new ReplyBody.GetData(null, FakeServer.STAT));
                    peer.reply(peer.next().xid(), 11, ErrorCode.NO_NODE, ReplyBody.Empty.INSTANCE);
                    peer.reply(peer.next().xid(), 12, ErrorCode.OK, new ReplyBody.Err(0));
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
        List<FakeServer.Received> sent = introductions.poll(120, TimeUnit.SECONDS);
        assertEquals(
                List.of(OpCode.AUTH, OpCode.GET_DATA, OpCode.SET_WATCHES2, OpCode.DELETE),
                sent.stream().map(FakeServer.Received::opCode).toList());
        assertEquals("digest", ((ConnectionRequest.Auth) sent.get(0).body()).scheme());
        WatchRequest.SetWatches watches = (WatchRequest.SetWatches) sent.get(2).body();
        assertEquals(12, watches.relativeZxid());
        assertEquals(List.of("/a"), watches.dataWatches());
        assertEquals(List.of("/b"), watches.existWatches());
        assertEquals(List.of("/c"), watches.persistentRecursiveWatches());
    }

    /** The events that it stands for would have come behind it. */
    @Test
    void answerBeforeTheWatchesAreSetAgainDoesNotHideMissedEvents() throws Exception {
        BlockingQueue<WatchRequest.SetWatches> sent = new ArrayBlockingQueue<>(1);
        CountDownLatch drop = new CountDownLatch(1);
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    peer.reply(peer.next().xid(), 10, ErrorCode.OK, new ReplyBody.GetData(null, FakeServer.STAT));
                    drop.await();
                },
                peer -> {
                    peer.accept(peer.readGreeting(), TIMEOUT_MS);
                    peer.reply(peer.next().xid(), 20, ErrorCode.NO_NODE, ReplyBody.Empty.INSTANCE);
                },
                peer -> {
                    peer.open(TIMEOUT_MS);
                    sent.add((WatchRequest.SetWatches) peer.next().body());
                    peer.drain();
                });
        TestSession session = connected(server, TimeSource.system());
        session.call(GetData.of(A).withWatcher(session.watcher()));
        drop.countDown();
        assertEquals(10, sent.poll(120, TimeUnit.SECONDS).relativeZxid());
    }

    @Test
    void manyWatchesAreSetAgainInFramesOf128KiBAndTheOldKindsByTheOldRequest() throws Exception {
        int count = 3000;
        String name = "n".repeat(100);
        CountDownLatch drop = new CountDownLatch(1);
        BlockingQueue<WatchRequest.SetWatches> frames = new LinkedBlockingQueue<>();
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
                        if (request.body() instanceof WatchRequest.SetWatches watches) {
                            frames.add(watches);
                            peer.reply(Xid.SET_WATCHES, 0, ErrorCode.OK, ReplyBody.Empty.INSTANCE);
                        } else {
                            peer.reply(request, ReplyBody.Empty.INSTANCE);
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
                    peer.reply(peer.next(), new ReplyBody.Err(0));
                    assertEquals(OpCode.REMOVE_WATCHES, peer.next().opCode());
                    drop.await();
                },
                peer -> {
                    peer.open(TIMEOUT_MS);
                    while (true) {
                        FakeServer.Received request = peer.next();
                        secondConnection.add(request.opCode());
                        peer.reply(request, ReplyBody.Empty.INSTANCE);
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
}
