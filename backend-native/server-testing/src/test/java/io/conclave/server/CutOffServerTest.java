package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import java.io.IOException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a server serves that has had no leader for so long that it sends its clients away. */
@Timeout(300)
class CutOffServerTest extends EnsembleFixture {
    @Override
    int syncLimitTicks() {
        return 30;
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
}
