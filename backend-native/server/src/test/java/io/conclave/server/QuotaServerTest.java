package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Quotas as clients of a server meet them. */
class QuotaServerTest {
    private static final String QUOTA = "/zookeeper/quota/a";

    private static int error(RawClient client, RequestBody request) throws IOException {
        return client.call(request).header().err();
    }

    private static void quota(RawClient client, String limits) throws IOException {
        List<RequestBody> requests = List.of(
                Requests.create("/a"),
                Requests.create(QUOTA),
                Requests.create(QUOTA + "/zookeeper_limits"),
                Requests.set(QUOTA + "/zookeeper_limits", limits),
                Requests.create(QUOTA + "/zookeeper_stats"));
        for (RequestBody request : requests) {
            assertEquals(0, error(client, request), request.toString());
        }
    }

    private static long metric(ConclaveServer server, String name) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), TestServer.port(server))) {
            socket.getOutputStream().write("mntr".getBytes(StandardCharsets.US_ASCII));
            String lines = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return lines.lines()
                    .filter(line -> line.startsWith(name + "\t"))
                    .map(line -> Long.parseLong(line.substring(name.length() + 1)))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ConclaveServer server(boolean enforcesQuotas) {
        return TestServer.start(TestServer.config()
                .commandWhitelist(Set.of("mntr"))
                .enforcesQuotas(enforcesQuotas)
                .build());
    }

    @Test
    void hardLimitsAreEnforcedIfThatIsConfigured() throws IOException {
        try (ConclaveServer server = server(true);
                RawClient one = RawClient.attached(TestServer.port(server), 20_000);
                RawClient two = RawClient.attached(TestServer.port(server), 20_000)) {
            quota(one, "count=-1,bytes=-1=;countHardLimit=3");
            assertEquals(0, error(one, Requests.create("/a/1")));
            assertEquals(0, error(two, Requests.create("/a/2")));
            assertEquals(ErrorCode.QUOTA_EXCEEDED.code(), error(one, Requests.create("/a/3")));
            assertEquals(ErrorCode.NODE_EXISTS.code(), error(one, Requests.create("/a/2")));
            assertEquals(0, error(one, Requests.create("/b")));
            assertEquals(
                    0,
                    error(
                            two,
                            new RequestBody.Multi(
                                    OpCode.MULTI, List.of(Requests.delete("/a/1"), Requests.create("/a/3")))));
            one.call(new RequestBody.Multi(OpCode.MULTI, List.of(Requests.create("/c"), Requests.create("/a/4"))));
            assertEquals(ErrorCode.NO_NODE.code(), error(one, Requests.get("/c")), "all of the multi is refused");
            assertEquals(2, metric(server, "conclave_refused_quota"));
            assertEquals(0, metric(server, "conclave_quota_exceeded"));
        }
    }

    @Test
    void otherwiseTheyAreCountedAsSoftOnesAre() throws IOException {
        try (ConclaveServer server = server(false);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            quota(client, "count=2,bytes=-1=;countHardLimit=3");
            assertEquals(0, error(client, Requests.create("/a/1")));
            assertEquals(0, metric(server, "conclave_quota_exceeded"));
            assertEquals(0, error(client, Requests.create("/a/2")));
            assertEquals(
                    0,
                    error(
                            client,
                            new RequestBody.Multi(
                                    OpCode.MULTI, List.of(Requests.create("/c"), Requests.create("/a/3")))));
            assertEquals(0, error(client, Requests.delete("/a/3")));
            assertEquals(2, metric(server, "conclave_quota_exceeded"));
            assertEquals(0, metric(server, "conclave_refused_quota"));
        }
    }
}
