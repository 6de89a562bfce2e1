package io.conclave.client;

import io.conclave.node.NodePath;
import io.conclave.protocol.ReplyBody;
import io.conclave.request.GetData;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;

/** A session against servers that misbehave as their script says. */
abstract class WireSessionFixture {
    static final NodePath A = NodePath.of("/a");
    static final int TIMEOUT_MS = 30_000; // for a busy machine
    static final int STEP_MS = TIMEOUT_MS / 30;
    static final ReplyBody.Stat STAT = new ReplyBody.Stat(FakeServer.STAT);

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : open) {
            closeable.close();
        }
    }

    FakeServer server(FakeServer.Script... scripts) {
        FakeServer server = new FakeServer(scripts);
        open.add(server);
        return server;
    }

    TestSession session(String url, TimeSource time) {
        return session(url, time, 1000);
    }

    TestSession session(String url, TimeSource time, int maxQueued, Authentication... proofs) {
        TestSession session =
                new TestSession(url, TestSession.options(Duration.ofMillis(TIMEOUT_MS), time, maxQueued, proofs));
        // Sessions are closed before the servers, so that a closing session gets its answer.
        open.add(0, session);
        return session;
    }

    TestSession connected(FakeServer server, TimeSource time) {
        TestSession session = session(server.url(), time);
        session.awaitState(SessionState.CONNECTED);
        return session;
    }

    /**
     * Lets time pass by a step, and the session do what it does then. The answer to the read comes behind those to all
     * that the session has sent by now, pings among them.
     */
    static void pass(ManualTimeSource time, TestSession session) {
        time.advance(Duration.ofMillis(STEP_MS));
        session.call(GetData.of(A));
    }

    /**
     * Lets time pass until the session's next timer, and until it has done what it does then: it always has one timer,
     * and sets the next itself.
     */
    static void passTimer(ManualTimeSource time) {
        time.advance(time.untilNextTimer().orElseThrow());
        Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> time.pendingTimers() > 0);
    }

    /**
     * Lets time pass until the condition holds, from one timer to the next, where that is no further away than a pause
     * between attempts to connect. It stands while a server may answer, however long that takes.
     */
    static void passPauses(ManualTimeSource time, Duration longest, Callable<Boolean> condition) {
        Awaitility.await().until(() -> {
            if (!condition.call()) {
                time.untilNextTimer()
                        .filter(next -> next.compareTo(longest) <= 0)
                        .ifPresent(time::advance);
            }
            return condition.call();
        });
    }

    /** Answers every request as a set, close included. */
    static void serve(FakeServer.Peer peer) throws Exception {
        while (true) {
            FakeServer.Received request = peer.next();
            switch (request.opCode()) {
                case CLOSE_SESSION -> {
                    peer.reply(request, ReplyBody.Empty.INSTANCE);
                    return;
                }
                case GET_DATA -> peer.reply(request, new ReplyBody.GetData(new byte[] {1}, FakeServer.STAT));
                case SET_DATA, EXISTS -> peer.reply(request, STAT);
                case ADD_WATCH -> peer.reply(request, new ReplyBody.Err(0));
                default -> peer.reply(request, ReplyBody.Empty.INSTANCE);
            }
        }
    }

    static void openAndServe(FakeServer.Peer peer) throws Exception {
        peer.open(TIMEOUT_MS);
        serve(peer);
    }
}
