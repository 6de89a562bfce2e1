package io.conclave.client;

import io.conclave.node.NodePath;
import io.conclave.protocol.ReplyBody;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** A session against servers that misbehave as their script says. */
abstract class WireSessionFixture {
    static final NodePath A = NodePath.of("/a");
    static final int TIMEOUT_MS = 30_000; // for a busy machine
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
