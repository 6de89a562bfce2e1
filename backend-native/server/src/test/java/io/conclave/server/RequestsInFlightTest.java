package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.ClientLimit;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What one client has the server do at once keeps within limits, and others have their turn meanwhile. */
class RequestsInFlightTest {
    /** Without turns, the loop would count all of them before it looks at anybody else. */
    @Test
    void othersHaveTheirTurnWhileAClientHasSubtreesCounted() throws Exception {
        int walks = 100;
        try (ConclaveServer server =
                        TestServer.start(TestServer.config().eventLoops(1).build());
                RawClient walker = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, walker.error(Requests.create("/top")));
            for (int part = 0; part < 10; part++) {
                List<RequestBody> creates = new ArrayList<>();
                for (int i = 0; i < 5_000; i++) {
                    creates.add(Requests.create("/top/" + part + "-" + i));
                }
                assertEquals(0, walker.error(new RequestBody.Multi(OpCode.MULTI, creates)));
            }
            RequestBody[] requests = new RequestBody[walks];
            Arrays.fill(requests, new RequestBody.GetAllChildrenNumber("/top"));
            // on a busy machine it may ask when all is done
            await().until(() -> answersBeforeTheTurnOfAnother(walker, TestServer.port(server), requests) < walks);
        }
    }

    /** By the server's own word, which is what the other one asks for. */
    private static long answersBeforeTheTurnOfAnother(RawClient walker, int port, RequestBody... requests)
            throws IOException {
        long before = answers(port);
        walker.send(requests);
        long then = answers(port);
        for (int i = 0; i < requests.length; i++) {
            assertEquals(50_000, numberOf(walker));
        }
        return then - before;
    }

    private static long answers(int port) throws IOException {
        String report = FourLetterWordsTest.ask(port, "srvr");
        return report.lines()
                .filter(line -> line.startsWith("Sent: "))
                .mapToLong(line -> Long.parseLong(line.substring("Sent: ".length())))
                .findFirst()
                .orElseThrow(() -> new AssertionError(report));
    }

    private static int numberOf(RawClient client) {
        try {
            return ((ReplyBody.GetAllChildrenNumber) client.read().body().orElseThrow()).totalNumber();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aWalkCountsWhatWasThereBehindTheOwnWritesBeforeIt() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.send(
                    Requests.create("/top"),
                    Requests.create("/top/a"),
                    new RequestBody.GetAllChildrenNumber("/top"),
                    Requests.create("/top/b"),
                    new RequestBody.GetAllChildrenNumber("/top"),
                    new RequestBody.GetAllChildrenNumber("/none"),
                    Requests.exists("/top"));
            assertEquals(0, client.read().header().err());
            assertEquals(0, client.read().header().err());
            assertEquals(1, numberOf(client));
            assertEquals(0, client.read().header().err());
            assertEquals(2, numberOf(client));
            assertEquals(ErrorCode.NO_NODE.code(), client.read().header().err());
            assertEquals(0, client.read().header().err());
        }
    }

    /** They wait in the sockets and are answered in order; a connection that ends leaves its room to others. */
    @Test
    void largeRequestsAreInTheServerFewAtATime() throws Exception {
        try (ConclaveServer server = TestServer.limited(ClientLimit.LARGE_REQUESTS_BYTES, 1_000_000);
                RawClient one = RawClient.attached(TestServer.port(server), 60_000);
                RawClient two = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, one.error(Requests.create("/n")));
            RequestBody[] writes = new RequestBody[20];
            Arrays.fill(writes, new RequestBody.SetData("/n", new byte[900_000], -1));
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> send(one, writes));
            try (RawClient leaver = RawClient.attached(TestServer.port(server), 60_000)) {
                leaver.send(writes[0], writes[0], writes[0]);
            }
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> send(two, writes));
            for (int i = 0; i < writes.length; i++) {
                assertEquals(2 + i, one.readHeader().xid());
                assertEquals(1 + i, two.readHeader().xid());
            }
            sending.join();
            other.join();
            assertTrue(TestServer.metric(server, "zk_conclave_held_large_requests_bytes") > 0);
            await().until(() -> TestServer.metric(server, "zk_conclave_bytes_in_flight") == 0);
            assertEquals(0, two.error(writes[0]));
        }
    }

    private static void send(RawClient client, RequestBody... requests) {
        try {
            client.send(requests);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aConnectionThatHasTooManyBytesInFlightIsReadNoFurther() throws Exception {
        try (ConclaveServer server = TestServer.limited(ClientLimit.BYTES_IN_FLIGHT_OF_CONNECTION, 10_000);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, client.error(Requests.create("/n")));
            RequestBody[] writes = new RequestBody[200];
            Arrays.fill(writes, new RequestBody.SetData("/n", new byte[9_000], -1));
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> send(client, writes));
            for (int i = 0; i < writes.length; i++) {
                assertEquals(2 + i, client.readHeader().xid());
            }
            sending.join();
            assertTrue(TestServer.metric(server, "zk_conclave_held_bytes_in_flight_of_connection") > 0);
        }
    }

    /** They are set in several turns of the loop; what changes in between is told, and nothing is told twice. */
    @Test
    void aLongListOfOldWatchesIsSetCompletely() throws IOException {
        int count = 10_000;
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            List<String> paths = new ArrayList<>();
            List<RequestBody> creates = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                paths.add("/old-" + i);
                creates.add(Requests.create("/old-" + i));
            }
            client.send(
                    new WatchRequest.SetWatches(
                            OpCode.SET_WATCHES, Long.MAX_VALUE, List.of(), paths, List.of(), List.of(), List.of()),
                    Requests.exists("/none"),
                    new RequestBody.Multi(OpCode.MULTI, creates));
            assertEquals(0, client.read().header().err());
            assertEquals(ErrorCode.NO_NODE.code(), client.read().header().err());
            Set<String> told = new HashSet<>();
            for (int i = 0; i < count; i++) {
                assertTrue(told.add(client.read().event().orElseThrow().path()));
            }
            assertEquals(new HashSet<>(paths), told);
            assertEquals(0, client.read().header().err());
        }
    }
}
