package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions whose client, server and leader are not one. */
@Timeout(120)
class EnsembleSessionTest {
    private static final int TIMEOUT_MS = 5_000; // a busy machine may keep a client from its ping for seconds

    private ConclaveEnsemble ensemble;

    @BeforeEach
    void start() {
        ensemble = ConclaveEnsemble.builder()
                .readOnlyMode(true)
                .electionTimeoutMs(500)
                .syncLimitTicks(30)
                .start();
    }

    @AfterEach
    void stop() {
        ensemble.close();
    }

    private int port(int id) {
        return ensemble.server(id).clientPort().orElseThrow();
    }

    private static ConnectRequest resume(ConnectResponse session, long lastZxid) {
        return new ConnectRequest(
                0, lastZxid, session.timeoutMs(), session.sessionId(), session.password(), false, true);
    }

    private boolean knows(int server, long sessionId) {
        return ensemble.server(server).state().session(sessionId).isPresent();
    }

    private void awaitEnd(int server, long sessionId) {
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !knows(server, sessionId));
    }

    @Test
    void idsOfSessionsBeginWithTheNumberOfTheServerThatOpenedThem() throws IOException {
        for (int id : ensemble.ids()) {
            try (RawClient client = new RawClient(port(id))) {
                assertEquals(id, client.connect(TIMEOUT_MS).sessionId() >>> 56);
            }
        }
    }

    @Test
    void sessionOnAFollowerStaysAliveByHeartbeatsAndExpiresEverywhereWithoutThem() throws IOException {
        int follower = ensemble.follower();
        int leader = ensemble.awaitLeader();
        try (RawClient client = new RawClient(port(follower))) {
            ConnectResponse session = client.connect(TIMEOUT_MS);
            client.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS * 3 / 2);
            while (System.nanoTime() < end) {
                assertEquals(0, client.call(Requests.ping()).header().err());
                pause(TIMEOUT_MS / 10);
            }
            assertTrue(knows(leader, session.sessionId()));
            assertTrue(client.isClosedByServer(), "a client that says nothing more");
            for (int id : ensemble.ids()) {
                awaitEnd(id, session.sessionId());
                assertTrue(ensemble.server(id).state().znode("/e").isEmpty());
            }
        }
    }

    @Test
    void readsAloneKeepASessionAlive() throws IOException {
        int follower = ensemble.follower();
        try (RawClient client = RawClient.attached(port(follower), TIMEOUT_MS)) {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS * 3 / 2);
            while (System.nanoTime() < end) {
                client.call(Requests.exists("/nothing"));
                pause(TIMEOUT_MS / 10);
            }
        }
    }

    /** The tests' only way to be slow on purpose. */
    private static void pause(long ms) {
        Awaitility.await()
                .pollDelay(Duration.ofMillis(ms))
                .timeout(Duration.ofMillis(ms + 5_000))
                .until(() -> true);
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
        int follower = ensemble.follower();
        int killed = ensemble.awaitLeader();
        try (RawClient client = new RawClient(port(follower))) {
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

    @Test
    void serverThatIsCutOffAnswersNoPingAndSendsItsClientsAwayAtItsLimit() throws IOException {
        int follower = ensemble.follower();
        try (RawClient client = new RawClient(port(follower))) {
            ConnectResponse session = client.connect(30_000);
            ensemble.isolate(follower);
            client.send(Requests.ping());
            assertTrue(client.isClosedByServer());
            assertFalse(ensemble.server(follower).isServing());
            try (RawClient another = new RawClient(port(ensemble.awaitLeader()))) {
                assertEquals(
                        session.sessionId(), another.connect(resume(session, 0)).sessionId());
            }
        }
    }

    @Test
    void leaderThatIsDeposedAndFindsTheOthersInTimeKeepsItsClients() throws IOException {
        int deposed = ensemble.awaitLeader();
        try (RawClient client = RawClient.attached(port(deposed), 30_000)) {
            ensemble.isolate(deposed);
            client.send(Requests.create("/a"));
            Awaitility.await()
                    .until(() ->
                            ensemble.server(deposed).logStatus().role() == io.conclave.consensus.LogRole.FOLLOWING);
            Awaitility.await().until(() -> ensemble.awaitLeader() != deposed);
            ensemble.healAll();
            assertEquals(0, client.read().header().err());
            assertEquals(0, client.call(Requests.exists("/a")).header().err());
        }
    }

    @Test
    void serverWithoutALeaderServesReadsToClientsThatAskForThem() throws IOException {
        int follower = ensemble.follower();
        try (RawClient client = RawClient.attached(port(follower), 30_000)) {
            client.call(Requests.create("/a"));
            client.call(Requests.set("/a", "before"));
        }
        ensemble.isolate(follower);
        Awaitility.await()
                .until(() -> FourLetterWordsTest.ask(port(follower), "isro").equals("ro"));
        try (RawClient refused = new RawClient(port(follower))) {
            refused.sendConnect(30_000);
            assertTrue(refused.isClosedByServer());
        }
        try (RawClient reader = new RawClient(port(follower))) {
            ConnectResponse response = reader.connect(new ConnectRequest(0, 0, 30_000, 0, new byte[16], true, true));
            assertTrue(response.readOnly());
            ReplyBody.GetData data = reader.call(Requests.get("/a"), ReplyBody.GetData.class);
            assertEquals("before", new String(data.data(), java.nio.charset.StandardCharsets.UTF_8));
            assertEquals(0, reader.call(Requests.ping()).header().err());
            assertEquals(
                    ErrorCode.NOT_READ_ONLY.code(),
                    reader.call(Requests.set("/a", "now")).header().err());
            ensemble.healAll();
            assertTrue(reader.isClosedByServer(), "it can have all again");
        }
        ensemble.awaitServing(follower);
    }

    @Test
    void clientThatHasSeenMoreIsServedWhenItsNextServerHasCaughtUp() throws IOException {
        int leader = ensemble.awaitLeader();
        try (RawClient writer = RawClient.attached(port(leader), 30_000)) {
            for (int i = 0; i < 20; i++) {
                long zxid = writer.call(Requests.create("/n" + i)).header().zxid();
                for (int id : ensemble.ids()) {
                    try (RawClient next = new RawClient(port(id))) {
                        next.connect(new ConnectRequest(0, zxid, 30_000, 0, new byte[16], false, true));
                        assertEquals(
                                0, next.call(Requests.exists("/n" + i)).header().err());
                    }
                }
            }
        }
    }

    @Test
    void modesAreThoseOfZooKeeper() throws IOException {
        int leader = ensemble.awaitLeader();
        for (int id : ensemble.ids()) {
            String mode = id == leader ? "leader" : "follower";
            assertTrue(FourLetterWordsTest.ask(port(id), "srvr").contains("\nMode: " + mode + "\n"));
            assertTrue(FourLetterWordsTest.ask(port(id), "mntr").contains("zk_server_state\t" + mode + "\n"));
        }
        assertTrue(FourLetterWordsTest.ask(port(leader), "mntr").contains("zk_followers\t2\n"));
        assertTrue(FourLetterWordsTest.ask(port(leader), "conf").contains("membership: \nserver.1=127.0.0.1:"));
    }

    @Test
    void featureLevelIsRaisedWhenAllMembersHaveNamedTheirs() {
        for (int id : ensemble.ids()) {
            Awaitility.await().until(() -> ensemble.server(id).state().featureLevel() == ConclaveServer.FEATURE_LEVEL);
        }
    }
}
