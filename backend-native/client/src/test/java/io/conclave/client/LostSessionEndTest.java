package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What a client that has lost its session by its own clock says to the server before the next one opens. */
final class LostSessionEndTest extends WireSessionFixture {
    private static final long NEXT = 0xdefL;

    private final ManualTimeSource time = new ManualTimeSource();
    private final List<String> said = new CopyOnWriteArrayList<>();
    private volatile boolean isLost;

    /** What the server does at the end of a lost session, on one connection. */
    private interface End {
        void of(FakeServer.Peer peer, ConnectRequest greeting) throws Exception;
    }

    private ConnectRequest greeting(FakeServer.Peer peer) throws Exception {
        ConnectRequest request = peer.readGreeting();
        said.add("session " + Long.toHexString(request.sessionId()) + " seen " + request.lastZxidSeen());
        return request;
    }

    private void close(FakeServer.Peer peer) throws Exception {
        FakeServer.Received request = peer.next();
        said.add(request.opCode().toString());
        peer.reply(request, ReplyBody.Empty.INSTANCE);
    }

    /** A session is opened and lost; then come the ends, and whatever follows is served as another session. */
    private BackendSession afterTheLossOf(End... ends) {
        return afterTheLossOf(true, ends);
    }

    private BackendSession afterTheLossOf(boolean timePasses, End... ends) {
        Queue<End> left = new ArrayDeque<>(Arrays.asList(ends));
        FakeServer server = server(
                peer -> {
                    peer.open(TIMEOUT_MS);
                    peer.reply(peer.next(), STAT);
                },
                peer -> {
                    if (!isLost) {
                        return; // closed at once
                    }
                    ConnectRequest request = greeting(peer);
                    if (request.sessionId() == 0) {
                        peer.greet(new ConnectResponse(0, TIMEOUT_MS, NEXT, new byte[16], false, true));
                        peer.answerIdentity(null);
                        serve(peer);
                    } else {
                        left.remove().of(peer, request);
                    }
                });
        TestSession lost = connected(server, time);
        lost.call(SetData.of(A, new byte[0]));
        lost.awaitState(SessionState.SUSPENDED);
        time.advanceWallOnly(Duration.ofMillis(TIMEOUT_MS));
        time.advanceUntil(
                Duration.ofMillis(timePasses ? TIMEOUT_MS : 10), () -> lost.states.contains(SessionState.LOST));
        isLost = true;
        BackendSession next = lost.backend.openSession(state -> {});
        time.advanceUntil(Duration.ofMillis(10), () -> next.state() == SessionState.CONNECTED);
        return next;
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
        assertEquals(List.of("session abc seen 0", OpCode.CLOSE_SESSION.toString(), "session 0 seen 0"), said);
    }

    @Test
    void aServerThatHasExpiredItIsAskedNoMore() {
        afterTheLossOf((peer, greeting) -> expired(peer));
        assertEquals(List.of("session abc seen 0", "session 0 seen 0"), said);
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
        assertEquals(
                List.of("session abc seen 0", "session abc seen 0", "session abc seen 0", "session 0 seen 0"), said);
    }

    /** A caller may have read how long the session lives right before the clock was set ahead. */
    @Test
    void itIsNotClosedWhileItMayBeReliedOn() {
        End resumed = (peer, greeting) -> {
            peer.accept(greeting, TIMEOUT_MS);
            peer.ignore();
        };
        long before = time.monotonicNanos();
        afterTheLossOf(false, resumed, (peer, greeting) -> {
            peer.accept(greeting, TIMEOUT_MS);
            said.add(time.monotonicNanos() - before < TIMEOUT_MS * 1_000_000L ? "too early" : "in time");
            close(peer);
        });
        assertEquals(
                List.of(
                        "session abc seen 0",
                        "session abc seen 0",
                        "in time",
                        OpCode.CLOSE_SESSION.toString(),
                        "session 0 seen 0"),
                said);
    }

    @Test
    void itsEndIsKnownFromThenOn() {
        BackendSession next = afterTheLossOf((peer, greeting) -> expired(peer));
        said.clear();
        next.closeAsync().toCompletableFuture().join();
        assertEquals(List.of(), said);
    }
}
