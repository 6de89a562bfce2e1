package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.CreateReply;
import io.conclave.protocol.EventType;
import io.conclave.protocol.GetDataReply;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class FirstLineTest {
    @Test
    void aClientConnectsWritesReadsWatchesPingsAndLeaves() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 5000)) {
            assertEquals(
                    "/a", client.call(Requests.create("/a"), CreateReply.class).path());
            assertArrayEquals(
                    Requests.bytes("data"),
                    client.call(Requests.getAndWatch("/a"), GetDataReply.class).data());
            client.send(Requests.set("/a", "new"));
            assertEquals(
                    EventType.NODE_DATA_CHANGED.code(),
                    client.read().event().orElseThrow().type());
            assertEquals(0, client.read().header().err());
            assertEquals(-2, client.call(Requests.ping()).header().xid());
            assertEquals(0, client.call(Requests.closeSession()).header().err());
            assertTrue(client.isClosedByServer());
        }
    }
}
