package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.error.RefusedException;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.Xid;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a client that has lost its session by its own clock says to the server before the next one opens. */
final class LostSessionEndTest extends WireSessionFixture {
    private static final long NEXT = 0xdefL;
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    private final ManualTimeSource time = new ManualTimeSource();
    private final List<String> said = new CopyOnWriteArrayList<>();
    private volatile boolean isLost;
    private volatile boolean provesItself;

    /** What the server does at the end of a lost session, on one connection. */
    private interface End {
        void of(FakeServer.Peer peer, ConnectRequest greeting) throws Exception;
    }

    private void close(FakeServer.Peer peer) throws Exception {
        FakeServer.Received request = peer.next();
        said.add(request.opCode().toString());
        peer.reply(request, ReplyBody.Empty.INSTANCE);
    }

    private static void proof(FakeServer.Peer peer, ErrorCode verdict) throws Exception {
        assertEquals(OpCode.AUTH, peer.next().opCode());
        peer.reply(Xid.AUTH, 0, verdict, ReplyBody.Empty.INSTANCE);
    }

    /** Opens a session and loses it; then come the ends, and whatever follows is served as another session. */
    private FakeServer serverWith(End... ends) {
        Queue<End> left = new ArrayDeque<>(Arrays.asList(ends));
        return server(
                peer -> {
                    peer.accept(peer.readGreeting(), TIMEOUT_MS);
                    if (provesItself) {
                        proof(peer, ErrorCode.OK);
                    }
                    peer.answerIdentity(null);
                    peer.reply(peer.next(), STAT);
                },
                peer -> {
                    ConnectRequest request = peer.readGreeting();
                    if (!isLost || request.lastZxidSeen() > 0) {
                        return; // closed at once: it is the session that is to be lost, or its last try
                    }
                    said.add("session " + Long.toHexString(request.sessionId()));
                    if (request.sessionId() == 0) {
                        peer.greet(new ConnectResponse(0, TIMEOUT_MS, NEXT, new byte[16], false, true));
                        peer.answerIdentity(null);
                        serve(peer);
                    } else {
                        left.remove().of(peer, request);
                    }
                });
    }

    private BackendSession afterTheLossOf(End... ends) {
        TestSession lost = lost(session(serverWith(ends).url(), time));
        BackendSession next = lost.backend.openSession(state -> {});
        awaitConnected(next);
        return next;
    }

    /** Nobody may rely on it any more. */
    private TestSession lost(TestSession session) {
        TestSession lost = lostByTheWallClock(session);
        time.advance(Duration.ofMillis(TIMEOUT_MS));
        return lost;
    }

    private TestSession lostByTheWallClock(TestSession lost) {
        lost.awaitState(SessionState.CONNECTED);
        lost.call(SetData.of(A, new byte[0]));
        lost.awaitState(SessionState.SUSPENDED);
        time.advanceWallOnly(Duration.ofMillis(TIMEOUT_MS));
        passPauses(time, LONGEST_PAUSE, () -> lost.states.contains(SessionState.LOST));
        isLost = true;
        return lost;
    }

    private void awaitConnected(BackendSession session) {
        passPauses(time, LONGEST_PAUSE, () -> session.state() == SessionState.CONNECTED);
    }

    private static void expired(FakeServer.Peer peer) throws Exception {
        peer.greet(new ConnectResponse(0, 0, 0, new byte[16], false, true));
    }

    @Test
    void itIsClosedBeforeTheNextOneOpens() {
        BackendSession next = afterTheLossOf((peer, greeting) -> {
            peer.accept(greeting, TIMEOUT_MS);
            close(peer);
        });
        assertEquals(NEXT, next.id());
        assertEquals(List.of("session abc", OpCode.CLOSE_SESSION.toString(), "session 0"), said);
    }

    @Test
    void aServerThatHasExpiredItIsAskedNoMore() {
        afterTheLossOf((peer, greeting) -> expired(peer));
        assertEquals(List.of("session abc", "session 0"), said);
    }

    @Test
    void aLostConnectionIsNoAnswer() {
        afterTheLossOf(
                (peer, greeting) -> {},
                (peer, greeting) -> {
                    peer.accept(greeting, TIMEOUT_MS);
                    peer.next(); // closed, and the answer is lost
                },
                (peer, greeting) -> expired(peer));
        assertEquals(List.of("session abc", "session abc", "session abc", "session 0"), said);
    }

    /** A caller may have read how long the session lives right before the clock was set ahead. */
    @Test
    void itIsNotClosedWhileItMayBeReliedOn() {
        CountDownLatch left = new CountDownLatch(1);
        End resumed = (peer, greeting) -> {
            peer.accept(greeting, TIMEOUT_MS);
            peer.ignore();
            left.countDown();
        };
        long before = time.monotonicNanos();
        FakeServer server = serverWith(resumed, (peer, greeting) -> {
            peer.accept(greeting, TIMEOUT_MS);
            said.add(time.monotonicNanos() - before < TIMEOUT_MS * 1_000_000L ? "too early" : "in time");
            close(peer);
        });
        TestSession lost = lostByTheWallClock(session(server.url(), time));
        BackendSession next = lost.backend.openSession(state -> {});
        Awaitility.await().until(() -> left.getCount() == 0);
        time.advance(Duration.ofMillis(TIMEOUT_MS));
        awaitConnected(next);
        assertEquals(
                List.of("session abc", "session abc", "in time", OpCode.CLOSE_SESSION.toString(), "session 0"), said);
    }

    @Test
    void itsEndIsKnownFromThenOn() {
        BackendSession next = afterTheLossOf((peer, greeting) -> expired(peer));
        said.clear();
        next.closeAsync().toCompletableFuture().join();
        assertEquals(List.of(), said);
    }

    /** The server has proved to be there; another one may not answer at all. */
    @Test
    void theNextOneOpensAtTheServerThatHasEndedIt() {
        FakeServer good = serverWith((peer, greeting) -> {
            peer.accept(greeting, TIMEOUT_MS);
            close(peer);
        });
        FakeServer other = server(peer -> said.add("another server"));
        TestSession lost = lost(session(good.url() + "," + other.endpoint(), time));
        said.clear();
        awaitConnected(lost.backend.openSession(state -> {}));
        assertEquals(
                List.of("session abc", OpCode.CLOSE_SESSION.toString(), "session 0"),
                said.subList(said.indexOf("session abc"), said.size()));
    }

    /** The users of a server may be put right at any time, so that is tried again, but not so that a lock is kept. */
    @Test
    void rejectedCredentialsLoseTheNextOneWhenItHasExpired() {
        provesItself = true;
        FakeServer server = serverWith((peer, greeting) -> {
            peer.accept(greeting, TIMEOUT_MS);
            proof(peer, ErrorCode.AUTH_FAILED);
            peer.ignore();
        });
        TestSession lost = lost(session(server.url(), time, 1000, Authentication.digest("bob", "pw-7351")));
        List<SessionState> states = new CopyOnWriteArrayList<>();
        BackendSession rejected = lost.backend.openSession(states::add);
        assertThrows(
                RefusedException.class,
                () -> TestSession.join(
                        rejected.submit(SetData.of(A, new byte[0])).toCompletableFuture()));
        time.advance(Duration.ofMillis(TIMEOUT_MS));
        assertEquals(SessionState.CONNECTING, rejected.state());
        time.advanceUntil(Duration.ofMillis(TIMEOUT_MS), () -> states.contains(SessionState.LOST));
    }
}
