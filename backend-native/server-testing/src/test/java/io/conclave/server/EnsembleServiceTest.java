package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import java.io.IOException;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a server of an ensemble serves: cut off, deposed, without a leader, behind its client. */
@Timeout(300)
class EnsembleServiceTest extends EnsembleFixture {
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
        assertTrue(FourLetterWordsTest.ask(port(leader), "conf").contains("membership: \nserver.1=127.0.0.1:"));
    }

    @Test
    void leaderCountsTheMembersThatFollow() throws IOException {
        int leader = ensemble.awaitLeader();
        int follower = ensemble.follower();
        awaitMonitored(leader, "zk_learners\t2", "zk_followers\t2", "zk_synced_followers\t2");
        assertFalse(FourLetterWordsTest.ask(port(follower), "mntr").contains("zk_synced_followers"));
        ensemble.kill(follower);
        awaitMonitored(
                leader,
                "zk_learners\t1",
                "zk_followers\t1",
                "zk_synced_followers\t1",
                "zk_synced_non_voting_followers\t0",
                "zk_synced_observers\t0",
                "zk_quorum_size\t3");
    }

    private void awaitMonitored(int id, String... lines) {
        Awaitility.await().until(() -> FourLetterWordsTest.ask(port(id), "mntr")
                .lines()
                .toList()
                .containsAll(List.of(lines)));
    }

    @Test
    void featureLevelIsRaisedWhenAllMembersHaveNamedTheirs() {
        for (int id : ensemble.ids()) {
            Awaitility.await().until(() -> ensemble.server(id).state().featureLevel() == ConclaveServer.FEATURE_LEVEL);
        }
    }
}
