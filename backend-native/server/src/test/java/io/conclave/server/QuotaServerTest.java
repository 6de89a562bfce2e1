package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.connection.ClientLimit;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Quotas as clients of a server meet them. */
class QuotaServerTest {
    private static final String QUOTA = "/zookeeper/quota/a";

    private static void quota(RawClient client, String limits) throws IOException {
        List<RequestBody> requests = List.of(
                Requests.create("/a"),
                Requests.create(QUOTA),
                Requests.create(QUOTA + "/zookeeper_limits"),
                Requests.set(QUOTA + "/zookeeper_limits", limits),
                Requests.create(QUOTA + "/zookeeper_stats"));
        for (RequestBody request : requests) {
            assertEquals(0, client.error(request), request.toString());
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
            assertEquals(0, one.error(Requests.create("/a/1")));
            assertEquals(0, two.error(Requests.create("/a/2")));
            assertEquals(ErrorCode.QUOTA_EXCEEDED.code(), one.error(Requests.create("/a/3")));
            assertEquals(ErrorCode.NODE_EXISTS.code(), one.error(Requests.create("/a/2")));
            assertEquals(0, one.error(Requests.create("/b")));
            assertEquals(
                    0,
                    two.error(new RequestBody.Multi(
                            OpCode.MULTI, List.of(Requests.delete("/a/1"), Requests.create("/a/3")))));
            one.call(new RequestBody.Multi(OpCode.MULTI, List.of(Requests.create("/c"), Requests.create("/a/4"))));
            assertEquals(ErrorCode.NO_NODE.code(), one.error(Requests.get("/c")), "all of the multi is refused");
            assertEquals(2, TestServer.metric(server, "zk_conclave_refused_quota"));
            assertEquals(0, TestServer.metric(server, "zk_conclave_quota_exceeded"));
        }
    }

    @Test
    void otherwiseTheyAreCountedAsSoftOnesAre() throws IOException {
        try (ConclaveServer server = server(false);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            quota(client, "count=2,bytes=-1=;countHardLimit=3");
            assertEquals(0, client.error(Requests.create("/a/1")));
            assertEquals(0, TestServer.metric(server, "zk_conclave_quota_exceeded"));
            assertEquals(0, client.error(Requests.create("/a/2")));
            assertEquals(
                    0,
                    client.error(new RequestBody.Multi(
                            OpCode.MULTI, List.of(Requests.create("/c"), Requests.create("/a/3")))));
            assertEquals(0, client.error(Requests.delete("/a/3")));
            assertEquals(2, TestServer.metric(server, "zk_conclave_quota_exceeded"));
            assertEquals(0, TestServer.metric(server, "zk_conclave_refused_quota"));
        }
    }

    /** A count is one step of all members, and a stranger could ask for thousands of them in one request. */
    @Test
    void countsOfNewQuotasAreBounded() throws IOException {
        try (ConclaveServer server = TestServer.start(TestServer.config()
                        .commandWhitelist(Set.of("mntr"))
                        .clientLimit(ClientLimit.QUOTA_COUNTS, 1)
                        .build());
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            // so many that the time of this test does not make up for their count
            List<RequestBody> hundreds = IntStream.range(0, 300)
                    .<RequestBody>mapToObj(i -> Requests.create("/" + i))
                    .toList();
            client.call(new RequestBody.Multi(OpCode.MULTI, hundreds));
            quota(client, "count=2,bytes=-1");
            String stats = QUOTA + "/zookeeper_stats";
            client.call(new RequestBody.Multi(
                    OpCode.MULTI,
                    List.of(
                            Requests.delete(stats),
                            Requests.create(stats),
                            Requests.delete(stats),
                            Requests.create(stats))));
            assertEquals(1, TestServer.metric(server, "zk_conclave_refused_quota_counts"));
            assertEquals(
                    ErrorCode.THROTTLED.code(), client.error(Requests.create("/zookeeper/quota/b/zookeeper_stats")));
            assertEquals(0, client.error(Requests.create(QUOTA + "/zookeeper_stat")), "nothing is counted for it");
        }
    }
}
