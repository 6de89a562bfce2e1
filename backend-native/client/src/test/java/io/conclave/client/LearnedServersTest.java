package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.request.GetData;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What following the ensemble must not break. */
final class LearnedServersTest extends WireSessionFixture {
    /** A third of it is left when a silent server is given up: enough on a busy machine. */
    private static final int LONG_MS = 9000;

    private static FakeServer.Script served(String members) {
        return peer -> {
            peer.members = members;
            openAndServe(peer);
        };
    }

    private static FakeServer.Script silentAfterTheMembers(String members, int timeoutMs) {
        return peer -> {
            peer.members = members;
            peer.open(timeoutMs);
            peer.awaitQuestionForMembers();
            peer.ignore();
        };
    }

    /** Lets its client go when the connection counts as a good one, which takes a second. */
    private static FakeServer.Script restartsSoon(String members, int timeoutMs) {
        return peer -> {
            peer.members = members;
            peer.open(timeoutMs);
            peer.awaitQuestionForMembers();
            Thread.sleep(1500);
        };
    }

    private FakeServer unreachable() {
        return server(FakeServer.Peer::ignore);
    }

    private static String members(FakeServer... servers) {
        return Stream.of(servers)
                .map(server -> "server.1=internal.example:2888:3888:participant;" + server.endpoint())
                .collect(Collectors.joining("\n"));
    }

    /** Members that say "every address" on both sides of the line, as the ZooKeeper image's own entry does. */
    @Test
    void everyAddressIsNoAddressOfAMember() {
        assertEquals(
                List.of(),
                EnsembleFollower.parse("server.1=0.0.0.0:2888:3888:participant;0.0.0.0:2181\n"
                        + "server.2=0.0.0.0:2888:3888:participant;2182\n"
                        + "server.3=[::]:2888:3888:participant;2183"));
    }

    /** On the client's own machine another ensemble answers at that port. */
    @Test
    void sessionDoesNotGoToAnotherEnsembleOnTheClientsMachine() throws Exception {
        try (ServerSocket other = new ServerSocket(0)) { // at every address, as a server does
            String own = "server.1=0.0.0.0:2888:3888:participant;0.0.0.0:" + other.getLocalPort();
            FakeServer first = server(served(own));
            FakeServer second = server(served(own));
            TestSession session =
                    session("conclave://" + first.endpoint() + "," + second.endpoint(), TimeSource.system());
            session.awaitState(SessionState.CONNECTED);
            session.call(GetData.of(A)); // its answer comes after the members

            first.close();
            second.close();
            other.setSoTimeout(4000);
            assertThrows(SocketTimeoutException.class, other::accept);
        }
    }

    /** The members' addresses are internal, and cannot be reached from the client. The connect string's can. */
    @Test
    void serversOfTheConnectStringAreTriedBeforeThoseThatTheEnsembleNamed() throws Exception {
        FakeServer[] internal = {unreachable(), unreachable(), unreachable()};
        String members = members(internal);
        FakeServer.Script once = restartsSoon(members, TIMEOUT_MS); // whichever the session is on
        FakeServer first = server(once, served(members));
        FakeServer second = server(once, served(members));
        TestSession session = session("conclave://" + first.endpoint() + "," + second.endpoint(), TimeSource.system());
        session.awaitState(SessionState.CONNECTED);

        Awaitility.await().until(() -> first.accepted() + second.accepted() >= 3);

        assertEquals(0, Stream.of(internal).mapToInt(FakeServer::accepted).sum());
    }

    /** As before, and the server does not go but hangs: the session must outlive that, as it does without members. */
    @Test
    void sessionOutlivesAServerThatHangsThoughMembersCannotBeReached() {
        String members = members(unreachable(), unreachable(), unreachable());
        FakeServer.Script restart = restartsSoon(members, LONG_MS);
        // The session begins at one of them, which restarts; goes to the other, which hangs; the first is back.
        FakeServer[] both = new FakeServer[2];
        AtomicInteger opened = new AtomicInteger();
        FakeServer.Script script = peer -> {
            switch (opened.incrementAndGet()) {
                case 1 -> restart.run(peer);
                case 2 -> silentAfterTheMembers(members, LONG_MS).run(peer);
                default -> served(members).run(peer);
            }
        };
        both[0] = server(script);
        both[1] = server(script);
        TestSession session =
                session("conclave://" + both[0].endpoint() + "," + both[1].endpoint(), TimeSource.system());
        session.awaitState(SessionState.CONNECTED);

        Awaitility.await().until(() -> opened.get() >= 3 || session.states.contains(SessionState.LOST));
        Awaitility.await().until(() -> session.states.get(session.states.size() - 1) != SessionState.SUSPENDED);

        assertFalse(session.states.contains(SessionState.LOST), session.states::toString);
    }

    /** What the class says of its order holds for sessions that are opened later, too, as after a loss. */
    @Test
    void laterSessionsTryTheServersOfTheConnectStringFirst() {
        FakeServer[] internal = {unreachable(), unreachable(), unreachable()};
        FakeServer first = server(served(members(internal)));
        FakeServer second = server(served(members(internal)));
        TestSession session = session("conclave://" + first.endpoint() + "," + second.endpoint(), TimeSource.system());
        session.awaitState(SessionState.CONNECTED);
        session.call(GetData.of(A)); // its answer comes after the members

        for (int i = 0; i < 10; i++) {
            CountDownLatch connected = new CountDownLatch(1);
            session.backend.openSession(state -> connected.countDown());
            Awaitility.await().until(() -> connected.getCount() == 0);
        }

        assertEquals(0, Stream.of(internal).mapToInt(FakeServer::accepted).sum());
    }
}
