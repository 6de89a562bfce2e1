package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ConnectRequest;
import java.io.IOException;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a server of an ensemble serves: deposed, behind its client; and what it says of the others. */
@Timeout(300)
class EnsembleServiceTest extends EnsembleFixture {
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
        Awaitility.await().until(() -> hasModesUnder(ensemble.awaitLeader()));
        assertTrue(FourLetterWordsTest.ask(port(1), "conf").contains("membership: \nserver.1=127.0.0.1:"));
    }

    /** False also if another one leads meanwhile, as may happen on a busy machine. */
    private boolean hasModesUnder(int leader) throws IOException {
        for (int id : ensemble.ids()) {
            String mode = id == leader ? "leader" : "follower";
            if (!FourLetterWordsTest.ask(port(id), "srvr").contains("\nMode: " + mode + "\n")
                    || !FourLetterWordsTest.ask(port(id), "mntr").contains("zk_server_state\t" + mode + "\n")) {
                return false;
            }
        }
        return true;
    }

    @Test
    void leaderCountsTheMembersThatFollow() throws IOException {
        awaitMonitoredAtTheLeader("zk_learners\t2", "zk_followers\t2", "zk_synced_followers\t2");
        Awaitility.await().until(() -> !monitored(ensemble.follower()).contains("zk_synced_followers"));
        ensemble.kill(ensemble.follower());
        awaitMonitoredAtTheLeader(
                "zk_learners\t1",
                "zk_followers\t1",
                "zk_synced_followers\t1",
                "zk_synced_non_voting_followers\t0",
                "zk_synced_observers\t0",
                "zk_quorum_size\t3");
    }

    private void awaitMonitoredAtTheLeader(String... lines) {
        Awaitility.await()
                .until(() -> monitored(ensemble.awaitLeader()).lines().toList().containsAll(List.of(lines)));
    }

    private String monitored(int id) throws IOException {
        return FourLetterWordsTest.ask(port(id), "mntr");
    }

    @Test
    void featureLevelIsRaisedWhenAllMembersHaveNamedTheirs() {
        for (int id : ensemble.ids()) {
            Awaitility.await().until(() -> ensemble.server(id).state().featureLevel() == ConclaveServer.FEATURE_LEVEL);
        }
    }
}
