package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.ClosedException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.Xid;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** How a session lives and ends: its time, its queue, and closing in every state. */
final class WireSessionLifeTest extends WireSessionFixture {
    /** Steps with which a manual clock goes as fast as a real one. */
    private static final Duration AS_REAL = Duration.ofMillis(10);

    // ---- time

    @Test
    void aServerThatDoesNotAnswerTheHandshakeIsGivenUpForTheNext() {
        FakeServer silent = server(peer -> {
            peer.ignore();
        });
        FakeServer good = server(WireSessionFixture::openAndServe);
        ManualTimeSource time = new ManualTimeSource();
        String url = "conclave://" + silent.endpoint() + "," + good.endpoint();
        List<TestSession> sessions = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            sessions.add(session(url, time));
        }
        Awaitility.await()
                .until(() -> silent.accepted() + good.accepted() == 4 && connected(sessions) == good.accepted());
        // Each server has four seconds in the first round; the other one is tried at once.
        time.advance(Duration.ofSeconds(4));
        Awaitility.await().until(() -> connected(sessions) == 4);
        assertEquals(4, good.accepted());
    }

    /** A server that has answered is not one that does not. */
    @Test
    void aSlowLoginHasTheShareOfItsServerAmongSeveral() {
        CountDownLatch greeted = new CountDownLatch(1);
        CountDownLatch mayAnswer = new CountDownLatch(1);
        FakeServer.Script slow = peer -> {
            peer.accept(peer.readGreeting(), TIMEOUT_MS);
            assertEquals(OpCode.AUTH, peer.next().opCode()); // so the client has read the greeting
            greeted.countDown();
            mayAnswer.await();
            peer.reply(Xid.AUTH, 0, ErrorCode.OK, ReplyBody.Empty.INSTANCE);
            peer.answerIdentity(null);
            serve(peer);
        };
        FakeServer one = server(slow);
        FakeServer other = server(slow);
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = session(
                "conclave://" + one.endpoint() + "," + other.endpoint(),
                time,
                1000,
                Authentication.digest("bob", "pw-7351"));
        Awaitility.await().until(() -> greeted.getCount() == 0 && session.session.state() == SessionState.CONNECTING);
        time.advanceUntil(AS_REAL, () -> time.monotonicNanos() > TimeUnit.SECONDS.toNanos(9));
        mayAnswer.countDown();
        session.awaitState(SessionState.CONNECTED);
        assertEquals(1, one.accepted() + other.accepted());
    }

    private static long connected(List<TestSession> sessions) {
        return sessions.stream()
                .filter(session -> session.session.state() == SessionState.CONNECTED)
                .count();
    }

    @Test
    void aHalfOpenConnectionIsDroppedAfterTwoThirdsOfTheTimeout() {
        FakeServer server = server(
                peer -> {
                    peer.answersPings = false;
                    peer.open(TIMEOUT_MS);
                    peer.drain();
                },
                WireSessionFixture::openAndServe);
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = connected(server, time);
        time.advance(Duration.ofMillis(TIMEOUT_MS / 2));
        assertEquals(SessionState.CONNECTED, session.session.state());
        time.advanceUntil(AS_REAL, () -> session.states.contains(SessionState.SUSPENDED));
        session.awaitState(SessionState.CONNECTED);
        assertEquals(2, session.session.connectionNumber());
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED), session.states);
        assertTrue(session.session.remaining().toMillis() > TIMEOUT_MS / 2);
    }

    /** Some are refused by the server at hand, before the leader has heard of anything. */
    @Test
    void aRefusedMultiIsNoProofOfLife() {
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            peer.answersPings = false;
            ReplyBody.MultiResult refused = ReplyBody.MultiResult.failed(ErrorCode.BAD_ARGUMENTS.code());
            peer.reply(peer.next(), new ReplyBody.Multi(List.of(refused)));
            peer.drain();
        });
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = connected(server, time);
        time.advance(Duration.ofMillis(TIMEOUT_MS / 4));
        Duration before = session.session.remaining();
        assertThrows(RefusedException.class, () -> session.call(Multi.of(Delete.of(A))));
        assertEquals(before, session.session.remaining());
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
        assertEquals(OpCode.SET_DATA, received.poll(120, TimeUnit.SECONDS).opCode());
        // A process that was stopped: both clocks jump, and no timer came in between.
        time.advanceWallOnly(Duration.ofMillis(TIMEOUT_MS));
        assertEquals(Duration.ZERO, session.session.remaining());
        time.advanceUntil(Duration.ofMillis(TIMEOUT_MS), inFlight::isDone);
        assertThrows(SessionGoneException.class, () -> TestSession.join(inFlight));
        assertEquals(List.of(SessionState.CONNECTED, SessionState.LOST), session.states);
        assertThrows(SessionGoneException.class, () -> session.call(GetData.of(A)));
        time.advance(Duration.ofMinutes(1));
        assertEquals(1, server.accepted());
        assertEquals(List.of(), List.copyOf(received), "others may rely on it for as long as they were told");
    }

    @Test
    void aSuspendedSessionIsLostByTheLocalClock() {
        FakeServer server = server(peer -> peer.open(TIMEOUT_MS));
        ManualTimeSource time = new ManualTimeSource();
        TestSession session = session(server.url(), time);
        session.awaitState(SessionState.SUSPENDED);
        server.close();
        CompletableFuture<?> waiting = session.submit(SetData.of(A, new byte[0]));
        time.advanceUntil(Duration.ofMillis(100), () -> session.session.state() == SessionState.LOST);
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
                .atMost(Duration.ofMinutes(2))
                .until(() -> server.accepted() == 1 && slammer.accepted() == 1);
        time.advanceUntil(Duration.ofMillis(1), () -> server.accepted() >= 2 && slammer.accepted() >= 2);
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

    @Test
    void aRefusedRequestTakesNoPlaceInTheQueue() {
        CountDownLatch connect = new CountDownLatch(1);
        FakeServer server = server(peer -> {
            connect.await();
            openAndServe(peer);
        });
        TestSession session = session(server.url(), TimeSource.system(), 3);
        List<CompletableFuture<?>> waiting = IntStream.range(0, 3)
                .<CompletableFuture<?>>mapToObj(i -> session.submit(GetData.of(A)))
                .toList();
        for (int i = 0; i < 10; i++) {
            assertThrows(RefusedException.class, () -> session.call(GetData.of(A)));
        }
        connect.countDown();
        waiting.forEach(TestSession::join);
        List<CompletableFuture<?>> more = IntStream.range(0, 3)
                .<CompletableFuture<?>>mapToObj(i -> session.submit(GetData.of(A)))
                .toList();
        more.forEach(TestSession::join);
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
            peer.reply(close, ReplyBody.Empty.INSTANCE);
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
                WireSessionFixture::openAndServe);
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
        time.advanceUntil(Duration.ofMillis(TIMEOUT_MS), closed::isDone);
        TestSession.join(closed);
    }

    @Test
    void closingTheBackendEndsUnansweredRequests() {
        FakeServer silent = server(FakeServer.Peer::ignore);
        TestSession session = session(silent.url(), TimeSource.system());
        CompletableFuture<?> waiting = session.submit(GetData.of(A));
        session.close();
        assertThrows(ClosedException.class, () -> TestSession.join(waiting));
        assertThrows(ClosedException.class, () -> session.call(GetData.of(A)));
        assertThrows(ClosedException.class, () -> session.backend.openSession(state -> {}));
    }
}
