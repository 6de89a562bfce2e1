package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.EventType;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.request.AddWatch;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A connection whose answers take long, as over a slow link: a ping's answer comes behind those before it. */
final class BusyConnectionTest extends WireSessionFixture {
    private static final int STEP_MS = 100;

    private final ManualTimeSource time = new ManualTimeSource();
    private final CompletableFuture<FakeServer.Peer> connected = new CompletableFuture<>();
    /** What came over the link; it waits for its answer. */
    private final BlockingQueue<FakeServer.Received> link = new LinkedBlockingQueue<>();

    private final FakeServer slow = server(
            peer -> {
                peer.open(TIMEOUT_MS);
                peer.showsPings = true;
                connected.complete(peer);
                takeAll(peer);
            },
            WireSessionFixture::openAndServe);

    private void takeAll(FakeServer.Peer peer) throws Exception {
        while (true) {
            FakeServer.Received request = peer.next();
            if (request.opCode() == OpCode.CLOSE_SESSION) {
                return; // it is sent again over the next connection
            }
            link.add(request);
        }
    }

    /** Lets time pass, in steps that the session sees one by one: it always has one timer, and sets the next itself. */
    private void pass(int ms) {
        for (int passed = 0; passed < ms; passed += STEP_MS) {
            time.advance(Duration.ofMillis(STEP_MS));
            if (time.pendingTimers() == 0) {
                Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> time.pendingTimers() > 0);
            }
        }
    }

    private void answer(OpCode expected) throws Exception {
        FakeServer.Received next = link.poll(120, TimeUnit.SECONDS);
        assertEquals(expected, next.opCode());
        FakeServer.Peer peer = connected.get(120, TimeUnit.SECONDS);
        peer.reply(
                next,
                expected == OpCode.GET_DATA
                        ? new ReplyBody.GetData(new byte[] {1}, FakeServer.STAT)
                        : ReplyBody.Empty.INSTANCE);
    }

    private void awaitOnTheLink(int requests) {
        Awaitility.await().until(() -> link.size() == requests);
    }

    private static void awaitRemaining(TestSession session, int moreThanMs) {
        Awaitility.await().until(() -> session.session.remaining().toMillis() > moreThanMs);
    }

    @Test
    void aConnectionThatStillAnswersWhatWasAskedBeforeThePingIsKept() throws Exception {
        TestSession session = connected(slow, time);
        List<CompletableFuture<?>> reads =
                List.of(session.submit(GetData.of(A)), session.submit(GetData.of(A)), session.submit(GetData.of(A)));
        answer(OpCode.GET_DATA);
        TestSession.join(reads.get(0));
        awaitOnTheLink(2);
        pass(TIMEOUT_MS / 2);
        awaitOnTheLink(3);
        answer(OpCode.GET_DATA);
        TestSession.join(reads.get(1));
        pass(TIMEOUT_MS / 5);
        assertEquals(List.of(SessionState.CONNECTED), session.states);
        awaitOnTheLink(3);
        answer(OpCode.GET_DATA);
        answer(OpCode.PING);
        TestSession.join(reads.get(2));
        awaitRemaining(session, TIMEOUT_MS / 2);
        assertTrue(session.session.remaining().toMillis() < TIMEOUT_MS * 7 / 10, "counts from the first ping");
        answer(OpCode.PING);
        awaitRemaining(session, TIMEOUT_MS * 9 / 10);
        assertEquals(List.of(SessionState.CONNECTED), session.states);
        assertEquals(1, slow.accepted());
    }

    /** Each answer takes half of the session's timeout. */
    @Test
    void aSessionOutlivesAConstantBacklog() throws Exception {
        TestSession session = connected(slow, time);
        for (int i = 0; i < 3; i++) {
            session.submit(GetData.of(A));
        }
        awaitOnTheLink(3);
        for (int i = 0; i < 30; i++) {
            pass(TIMEOUT_MS / 6);
            CompletableFuture<?> next = session.submit(GetData.of(A));
            while (link.peek().opCode() == OpCode.PING) {
                answer(OpCode.PING);
            }
            answer(OpCode.GET_DATA);
            Awaitility.await()
                    .until(() -> link.stream()
                                    .filter(request -> request.opCode() == OpCode.GET_DATA)
                                    .count()
                            == 3);
            assertFalse(next.isDone());
            assertEquals(List.of(SessionState.CONNECTED), session.states, "after " + i + " steps");
        }
        assertEquals(1, slow.accepted());
    }

    /** As those behind the watches that are set again on a new connection. */
    @Test
    void aConnectionOverWhichEventsComeIsKept() throws Exception {
        TestSession session = connected(slow, time);
        FakeServer.Peer peer = connected.get(120, TimeUnit.SECONDS);
        CompletableFuture<?> added = session.submit(new AddWatch(A, false, session.watcher()));
        peer.reply(link.poll(120, TimeUnit.SECONDS), new ReplyBody.Err(0));
        TestSession.join(added);
        for (int i = 1; i <= 8; i++) {
            pass(TIMEOUT_MS / 10);
            assertEquals(List.of(SessionState.CONNECTED), session.states, "before event " + i);
            peer.event(EventType.NODE_DATA_CHANGED, "/a", i);
            int events = i;
            Awaitility.await().until(() -> session.events().size() == events);
        }
        assertEquals(1, slow.accepted());
    }

    /** A follower that is cut off from its leader answers so. */
    @Test
    void aServerThatAnswersReadsAndNoPingsIsGivenUpAfterTwoThirdsOfTheTimeout() {
        FakeServer cutOff = server(
                peer -> {
                    peer.answersPings = false;
                    openAndServe(peer);
                },
                WireSessionFixture::openAndServe);
        TestSession session = connected(cutOff, time);
        for (int i = 0; i < 6; i++) {
            pass(TIMEOUT_MS / 10);
            session.call(GetData.of(A));
            assertEquals(List.of(SessionState.CONNECTED), session.states);
        }
        pass(TIMEOUT_MS / 10);
        Awaitility.await().until(() -> session.states.contains(SessionState.SUSPENDED));
        Awaitility.await().until(() -> session.session.connectionNumber() == 2);
    }

    /** It may wait for a connection, or until the socket takes it. */
    @Test
    void theAnswerToAWriteProvesFromWhenTheWriteWasSent() {
        CountDownLatch greet = new CountDownLatch(1);
        FakeServer server = server(peer -> {
            greet.await();
            peer.answersPings = false;
            openAndServe(peer);
        });
        TestSession session = session(server.url(), time);
        CompletableFuture<?> write = session.submit(SetData.of(A, new byte[0]));
        Awaitility.await().until(() -> server.accepted() == 1);
        pass(TIMEOUT_MS / 2);
        greet.countDown();
        TestSession.join(write);
        awaitRemaining(session, TIMEOUT_MS * 9 / 10);
    }
}
