package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.CreateFlag;
import java.io.IOException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Sessions whose client, server and leader are not one. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class EnsembleSessionTest extends EnsembleFixture {
    private static final int TIMEOUT_MS = 12_000; // a busy machine may keep a client from its ping for seconds

    private boolean knows(int server, long sessionId) {
        return ensemble.server(server).state().session(sessionId).isPresent();
    }

    private void awaitEnd(int server, long sessionId) {
        Awaitility.await().until(() -> !knows(server, sessionId));
    }

    @Test
    void idsOfSessionsBeginWithTheNumberOfTheServerThatOpenedThem() throws IOException {
        for (int id : ensemble.ids()) {
            try (RawClient client = new RawClient(port(id))) {
                assertEquals(id, client.connect(TIMEOUT_MS).sessionId() >>> 56);
            }
        }
    }

    /** The silent session is the clock: it begins last, and the others are older than a timeout when it has ended. */
    @Test
    void sessionsOnAFollowerStayAliveByHeartbeatsOrReadsAndExpireEverywhereWithoutThem() throws IOException {
        int port = port(ensemble.follower());
        try (RawClient pinging = RawClient.attached(port, TIMEOUT_MS);
                RawClient reading = RawClient.attached(port, TIMEOUT_MS);
                RawClient silent = new RawClient(port)) {
            long ended = silent.connect(TIMEOUT_MS).sessionId();
            silent.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            Awaitility.await().pollInterval(Duration.ofMillis(TIMEOUT_MS / 20)).until(() -> {
                assertEquals(0, pinging.call(Requests.ping()).header().err());
                reading.call(Requests.exists("/nothing"));
                return ensemble.ids().stream().noneMatch(id -> knows(id, ended));
            });
            for (int id : ensemble.ids()) {
                assertTrue(ensemble.server(id).state().znode("/e").isEmpty());
            }
            assertTrue(silent.isClosedByServer());
            assertEquals(0, pinging.call(Requests.ping()).header().err());
            assertEquals(0, reading.call(Requests.exists("/")).header().err());
        }
    }

    @Test
    void sessionMovesToAnotherServerAndTheConnectionItHadIsClosed() throws IOException {
        try (RawClient before = new RawClient(port(1));
                RawClient after = new RawClient(port(2))) {
            ConnectResponse session = before.connect(30_000);
            long zxid = before.call(Requests.create("/e", CreateFlag.EPHEMERAL))
                    .header()
                    .zxid();
            ConnectResponse resumed = after.connect(resume(session, zxid));
            assertEquals(session.sessionId(), resumed.sessionId());
            assertTrue(before.isClosedByServer());
            assertEquals(0, after.call(Requests.exists("/e")).header().err());
        }
    }

    @Test
    void wrongPasswordIsRefusedOnEveryServer() throws IOException {
        try (RawClient client = new RawClient(port(1))) {
            ConnectResponse session = client.connect(30_000);
            for (int id : ensemble.ids()) {
                try (RawClient thief = new RawClient(port(id))) {
                    ConnectResponse refused = thief.connect(
                            new ConnectRequest(0, 0, 30_000, session.sessionId(), new byte[16], false, true));
                    assertEquals(0, refused.timeoutMs());
                }
            }
            assertEquals(0, client.call(Requests.exists("/")).header().err());
        }
    }

    @Test
    void sessionsSurviveTheDeathOfTheLeaderAndExpireUnderTheNextOne() throws IOException {
        int killed = ensemble.awaitLeader();
        int other = killed % 3 + 1; // whichever leads by now
        try (RawClient client = new RawClient(port(other))) {
            ConnectResponse session = client.connect(TIMEOUT_MS);
            client.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            ensemble.kill(killed);
            assertEquals(0, client.call(Requests.ping()).header().err(), "answered when there is a leader again");
            assertEquals(0, client.call(Requests.set("/e", "x")).header().err());
            int leader = ensemble.awaitLeader();
            assertNotEquals(killed, leader);
            assertTrue(knows(leader, session.sessionId()));
            awaitEnd(leader, session.sessionId());
        }
    }
}
