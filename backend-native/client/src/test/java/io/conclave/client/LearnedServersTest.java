package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.request.GetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What following the ensemble must not break. */
final class LearnedServersTest extends WireSessionFixture {
    private final ManualTimeSource time = new ManualTimeSource();
    private final AtomicInteger restarting = new AtomicInteger();
    private final Semaphore mayRestart = new Semaphore(0);

    private static FakeServer.Script served(String members) {
        return peer -> {
            peer.members = members;
            openAndServe(peer);
        };
    }

    private static FakeServer.Script silentAfterTheMembers(String members) {
        return peer -> {
            peer.members = members;
            peer.open(TIMEOUT_MS);
            peer.awaitQuestionForMembers();
            peer.ignore();
        };
    }

    /** Lets its client go when the test says so. */
    private FakeServer.Script restarts(String members) {
        return peer -> {
            peer.members = members;
            peer.open(TIMEOUT_MS);
            peer.awaitQuestionForMembers();
            restarting.incrementAndGet();
            mayRestart.acquire();
        };
    }

    /** Lets the client of a server go when its connection counts as a good one, which takes a second. */
    private void restart(int times) {
        Awaitility.await().until(() -> restarting.get() == times);
        time.advance(Duration.ofMillis(1500));
        mayRestart.release();
    }

    private FakeServer unreachable() {
        return server(FakeServer.Peer::ignore);
    }

    private static int accepted(FakeServer... servers) {
        return Stream.of(servers).mapToInt(FakeServer::accepted).sum();
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
        FakeServer.Script once = restarts(members); // whichever the session is on
        FakeServer first = server(once, served(members));
        FakeServer second = server(once, served(members));
        session("conclave://" + first.endpoint() + "," + second.endpoint(), time);

        restart(1);
        restart(2);
        Awaitility.await().until(() -> first.accepted() + second.accepted() == 3);

        assertEquals(0, accepted(internal));
    }

    /** As before, and the server does not go but hangs: the session must outlive that, as it does without members. */
    @Test
    void sessionOutlivesAServerThatHangsThoughMembersCannotBeReached() {
        FakeServer[] internal = {unreachable(), unreachable(), unreachable()};
        String members = members(internal);
        FakeServer.Script restart = restarts(members);
        // The session begins at one of them, which restarts; goes to the other, which hangs; the first is back.
        FakeServer[] both = new FakeServer[2];
        AtomicInteger opened = new AtomicInteger();
        FakeServer.Script script = peer -> {
            switch (opened.incrementAndGet()) {
                case 1 -> restart.run(peer);
                case 2 -> silentAfterTheMembers(members).run(peer);
                default -> served(members).run(peer);
            }
        };
        both[0] = server(script);
        both[1] = server(script);
        TestSession session = session("conclave://" + both[0].endpoint() + "," + both[1].endpoint(), time);

        restart(1);
        Awaitility.await().until(() -> session.states.size() == 3);
        while (session.session.state() == SessionState.CONNECTED && opened.get() == 2) {
            passTimer(time);
        }
        Awaitility.await().until(() -> opened.get() == 3 || accepted(internal) > 0);

        assertEquals(0, accepted(internal), "each of them takes as long as all that is left of the session");
        session.awaitState(SessionState.CONNECTED);
        assertFalse(session.states.contains(SessionState.LOST), session.states::toString);
    }

    /** What the class says of its order holds for sessions that are opened later, too, as after a loss. */
    @Test
    void laterSessionsTryTheServersOfTheConnectStringFirst() {
        FakeServer[] internal = {unreachable(), unreachable(), unreachable()};
        FakeServer first = server(served(members(internal)));
        FakeServer second = server(served(members(internal)));
        TestSession session = session("conclave://" + first.endpoint() + "," + second.endpoint(), time);
        session.awaitState(SessionState.CONNECTED);
        session.call(GetData.of(A)); // its answer comes after the members

        for (int i = 0; i < 10; i++) {
            CountDownLatch connected = new CountDownLatch(1);
            session.backend.openSession(state -> connected.countDown());
            Awaitility.await().until(() -> connected.getCount() == 0);
        }

        assertEquals(0, accepted(internal));
    }
}
