package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.EventType;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.request.AddWatch;
import io.conclave.request.Done;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A server says that it is about to stop, and the session goes to another one. */
final class GoodbyeTest extends WireSessionFixture {
    private static final String OURS = "clusterId=00\ngeneration=1\nfeatureLevel=1\n";
    private static final int SECONDS = 120;

    /** The first one is shorter, and that after which a client is told of its move is longer. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final ManualTimeSource time = new ManualTimeSource();
    private final AtomicInteger connections = new AtomicInteger();
    private final CountDownLatch said = new CountDownLatch(1);
    private final CountDownLatch mayAnswer = new CountDownLatch(1);
    private final LinkedBlockingQueue<FakeServer.Received> served = new LinkedBlockingQueue<>();

    /** Two servers, of which the first to be asked does the first script, and so on; the last one is repeated. */
    private String servers(FakeServer.Script... scripts) {
        FakeServer.Script next = peer -> {
            int number = connections.getAndIncrement();
            scripts[Math.min(number, scripts.length - 1)].run(peer);
        };
        return "conclave://" + server(next).endpoint() + "," + server(next).endpoint();
    }

    private static void openOurs(FakeServer.Peer peer) throws Exception {
        peer.accept(peer.readGreeting(), TIMEOUT_MS);
        peer.answerIdentity(OURS);
        peer.awaitQuestionForMembers(); // nothing of the client's own may be in flight when a script says goodbye
    }

    private void sayGoodbye(FakeServer.Peer peer) throws Exception {
        peer.event(EventType.NODE_DATA_CHANGED, ServerIdentity.PATH, -1);
        said.countDown();
    }

    private void await(CountDownLatch latch) throws InterruptedException {
        assertTrue(latch.await(SECONDS, TimeUnit.SECONDS));
    }

    /**
     * Reads so many requests, says goodbye, answers the first, which proves that the goodbye was read, and the others
     * when it may.
     */
    private FakeServer.Script leaveWith(int inFlight) {
        return peer -> {
            openOurs(peer);
            List<FakeServer.Received> requests = new ArrayList<>();
            for (int i = 0; i < inFlight; i++) {
                requests.add(peer.next());
            }
            sayGoodbye(peer);
            for (FakeServer.Received request : requests) {
                peer.reply(request, STAT);
                if (request == requests.get(0)) {
                    await(mayAnswer);
                }
            }
            peer.ignore();
        };
    }

    private void serveAll(FakeServer.Peer peer) throws Exception {
        openOurs(peer);
        while (true) {
            FakeServer.Received request = peer.next();
            served.add(request);
            switch (request.opCode()) {
                case CLOSE_SESSION -> {
                    peer.reply(request, ReplyBody.Empty.INSTANCE);
                    return;
                }
                case GET_DATA -> peer.reply(request, new ReplyBody.GetData(new byte[] {1}, FakeServer.STAT));
                case SET_DATA -> peer.reply(request, STAT);
                case ADD_WATCH -> peer.reply(request, new ReplyBody.Err(0));
                default -> peer.reply(request, ReplyBody.Empty.INSTANCE);
            }
        }
    }

    private TestSession connected(String url) {
        TestSession session = session(url, time);
        session.awaitState(SessionState.CONNECTED);
        return session;
    }

    private static List<CompletableFuture<?>> sets(TestSession session, int count) {
        List<CompletableFuture<?>> sets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sets.add(session.submit(SetData.of(A, new byte[0])));
        }
        return sets;
    }

    @Test
    void hundredRequestsInFlightAreAnsweredAndLaterOnesGoToTheNextServerUnnoticed() throws Exception {
        TestSession session = connected(servers(leaveWith(100), this::serveAll));
        List<CompletableFuture<?>> inFlight = sets(session, 100);
        TestSession.join(inFlight.get(0));
        List<CompletableFuture<?>> later = sets(session, 10);
        mayAnswer.countDown();
        inFlight.forEach(TestSession::join);
        later.forEach(TestSession::join);
        assertEquals(2, connections.get());
        assertEquals(List.of(SessionState.CONNECTED), session.states);
        assertEquals(2, session.session.connectionNumber(), "the order of events of two connections is not one");
        assertEquals(10, served.size());
        assertEquals(FakeServer.SESSION, session.session.id());
    }

    @Test
    void sessionWithoutRequestsMovesAtOnce() throws Exception {
        TestSession session = connected(servers(leaveWith(0), this::serveAll));
        Awaitility.await().until(() -> connections.get() == 2);
        session.call(SetData.of(A, new byte[0]));
        assertEquals(List.of(SessionState.CONNECTED), session.states);
    }

    @Test
    void sessionWithOneServerDoesNotWatchTheClusterNodeAndGoesOn() throws Exception {
        FakeServer only = server(peer -> {
            peer.accept(peer.readGreeting(), TIMEOUT_MS);
            FakeServer.Received question = peer.next();
            assertEquals(new RequestBody.GetData(ServerIdentity.PATH, false), question.body());
            peer.reply(question, new ReplyBody.GetData(OURS.getBytes(), FakeServer.STAT));
            sayGoodbye(peer);
            serve(peer);
        });
        TestSession session = connected(only, time);
        await(said);
        session.call(SetData.of(A, new byte[0]));
        assertEquals(1, only.accepted());
        assertEquals(List.of(SessionState.CONNECTED), session.delivered);
    }

    @Test
    void serverKilledDuringItsGoodbyeLosesOnlyTheRequestsInFlight() throws Exception {
        FakeServer.Script killed = peer -> {
            openOurs(peer);
            FakeServer.Received first = peer.next();
            peer.next();
            sayGoodbye(peer);
            peer.reply(first, STAT);
            await(mayAnswer);
        };
        TestSession session = connected(servers(killed, this::serveAll));
        List<CompletableFuture<?>> inFlight = sets(session, 2);
        TestSession.join(inFlight.get(0));
        List<CompletableFuture<?>> queued = sets(session, 1);
        mayAnswer.countDown();
        assertThrows(OutcomeUnknownException.class, () -> TestSession.join(inFlight.get(1)));
        queued.forEach(TestSession::join);
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED), session.states);
    }

    @Test
    void withoutAnotherServerInReachTheSessionIsSuspendedAndLosesNothingThatWasQueued() throws Exception {
        CountDownLatch back = new CountDownLatch(1);
        FakeServer.Script away = peer -> {
            if (back.getCount() == 0) {
                serveAll(peer);
            }
        };
        TestSession session = connected(servers(leaveWith(1), away));
        List<CompletableFuture<?>> inFlight = sets(session, 1);
        mayAnswer.countDown();
        inFlight.forEach(TestSession::join);
        List<CompletableFuture<?>> queued = sets(session, 10);
        time.advanceUntil(Duration.ofMillis(10), () -> session.states.contains(SessionState.SUSPENDED));
        back.countDown();
        time.advanceUntil(Duration.ofMillis(1), () -> queued.stream().allMatch(CompletableFuture::isDone));
        queued.forEach(TestSession::join);
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED), session.states);
    }

    @Test
    void twoServersSayGoodbyeOneAfterTheOther() throws Exception {
        TestSession session = connected(servers(leaveWith(1), leaveWith(1), this::serveAll));
        List<CompletableFuture<?>> inFlight = sets(session, 1);
        mayAnswer.countDown();
        inFlight.forEach(TestSession::join);
        session.call(SetData.of(A, new byte[0]));
        CompletableFuture<?> atTheThird = session.submit(SetData.of(A, new byte[0]));
        passPauses(time, LONGEST_PAUSE, atTheThird::isDone);
        TestSession.join(atTheThird);
        assertEquals(3, connections.get());
        assertEquals(List.of(SessionState.CONNECTED), session.states);
    }

    /**
     * The second server has answered a question when it says goodbye, but has not sent the events that the watches have
     * missed.
     */
    @Test
    void eventsMissedDuringAMoveAreReportedByTheServerThatTakesTheSession() throws Exception {
        FakeServer.Script first = peer -> {
            openOurs(peer);
            FakeServer.Received watch = peer.next();
            peer.reply(watch.xid(), 7, ErrorCode.OK, new ReplyBody.GetData(new byte[] {1}, FakeServer.STAT));
            sayGoodbye(peer);
            peer.ignore();
        };
        FakeServer.Script second = peer -> {
            peer.accept(peer.readGreeting(), TIMEOUT_MS);
            FakeServer.Received question = peer.next();
            peer.reply(question.xid(), 50, ErrorCode.OK, new ReplyBody.GetData(OURS.getBytes(), FakeServer.STAT));
            peer.awaitQuestionForMembers();
            sayGoodbye(peer);
            peer.ignore();
        };
        LinkedBlockingQueue<WatchRequest.SetWatches> again = new LinkedBlockingQueue<>();
        FakeServer.Script third = peer -> {
            openOurs(peer);
            FakeServer.Received request = peer.next();
            assertEquals(OpCode.SET_WATCHES, request.opCode());
            again.add((WatchRequest.SetWatches) request.body());
            peer.event(EventType.NODE_DATA_CHANGED, "/a", -1);
            peer.reply(request, ReplyBody.Empty.INSTANCE);
            serve(peer);
        };
        TestSession session = connected(servers(first, second, third));
        session.call(GetData.of(A).withWatcher(session.watcher()));
        passPauses(time, LONGEST_PAUSE, () -> !again.isEmpty());
        WatchRequest.SetWatches set = again.remove();
        assertEquals(List.of("/a"), set.dataWatches());
        assertEquals(7, set.relativeZxid());
        Awaitility.await()
                .until(() -> session.events().equals(List.of(new NodeEvent(NodeEvent.Type.DATA_CHANGED, A, -1))));
        assertEquals(List.of(SessionState.CONNECTED), session.states);
    }

    @Test
    void persistentWatcherIsNotifiedOfTheInterruption() throws Exception {
        FakeServer.Script first = peer -> {
            openOurs(peer);
            peer.reply(peer.next(), new ReplyBody.Err(0));
            sayGoodbye(peer);
            peer.ignore();
        };
        TestSession session = connected(servers(first, this::serveAll));
        assertEquals(Done.DONE, session.call(new AddWatch(NodePath.of("/a"), true, session.watcher())));
        Awaitility.await().until(() -> session.states.size() == 3);
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED), session.states);
    }

    @Test
    void sessionThatIsClosedMeanwhileIsClosedAtTheServerThatLeaves() throws Exception {
        FakeServer.Script leaving = peer -> {
            openOurs(peer);
            FakeServer.Received first = peer.next();
            FakeServer.Received request = peer.next();
            sayGoodbye(peer);
            peer.reply(first, STAT);
            FakeServer.Received close = peer.next();
            served.add(close);
            peer.reply(request, STAT);
            peer.reply(close, ReplyBody.Empty.INSTANCE);
        };
        TestSession session = connected(servers(leaving, this::serveAll));
        List<CompletableFuture<?>> inFlight = sets(session, 2);
        TestSession.join(inFlight.get(0));
        session.session.closeAsync().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
        inFlight.forEach(TestSession::join);
        assertEquals(OpCode.CLOSE_SESSION, served.take().opCode());
        assertEquals(1, connections.get());
    }
}
