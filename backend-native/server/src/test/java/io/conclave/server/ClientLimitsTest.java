package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.ClientLimit;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.testkit.ManualTimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a client without credentials can make the server hold: no more than the limits say. */
class ClientLimitsTest {
    private static final int ALL = 31;

    private static ConclaveServer limited(ClientLimit limit, long most) {
        return TestServer.start(TestServer.config()
                .commandWhitelist(Set.of("mntr"))
                .clientLimit(limit, most)
                .build());
    }

    private static int error(RawClient client, RequestBody request) throws IOException {
        return client.call(request).header().err();
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
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aPathThatIsTooLongIsRefusedForEveryRequest() throws IOException {
        String path = "/" + "x".repeat(900_000);
        List<RequestBody> requests = List.of(
                Requests.existsAndWatch(path),
                Requests.getAndWatch(path),
                Requests.childrenAndWatch(path),
                Requests.create(path),
                Requests.set(path, "x"),
                Requests.delete(path),
                new RequestBody.SetAcl(path, AclRecord.OPEN, -1),
                new RequestBody.GetAcl(path),
                new RequestBody.Sync(path),
                new RequestBody.GetAllChildrenNumber(path),
                new RequestBody.GetEphemerals(path),
                new RequestBody.Multi(OpCode.MULTI, List.of(Requests.create("/a"), Requests.create(path))),
                new WatchRequest.AddWatch(path, 1),
                new WatchRequest.RemoveWatches(path, 3));
        try (ConclaveServer server = limited(ClientLimit.PATH_BYTES, 1000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            for (RequestBody request : requests) {
                assertEquals(
                        ErrorCode.BAD_ARGUMENTS.code(),
                        error(client, request),
                        request.opCode().name());
            }
            assertEquals(ErrorCode.NO_NODE.code(), error(client, Requests.get("/a")));
            assertEquals(0, metric(server, "conclave_watch_bytes"));
            assertEquals(requests.size(), metric(server, "conclave_refused_path_bytes"));
        }
    }

    @Test
    void aPathOfTheLengthAllowedIsCreatedAndOneWithItsNumberToo() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.PATH_BYTES, 100);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            assertEquals(0, error(client, Requests.create("/" + "x".repeat(99))));
            assertEquals(ErrorCode.BAD_ARGUMENTS.code(), error(client, Requests.create("/" + "x".repeat(100))));
            CreateFlag sequential = CreateFlag.PERSISTENT_SEQUENTIAL;
            assertEquals(0, error(client, Requests.create("/" + "y".repeat(88), sequential)));
            assertEquals(
                    ErrorCode.BAD_ARGUMENTS.code(), error(client, Requests.create("/" + "y".repeat(89), sequential)));
        }
    }

    /** Each ancestor of a znode is copied when that changes, so a deep tree makes each write in it slow. */
    @Test
    void theDepthOfTheTreeIsBounded() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.PATH_DEPTH, 20);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            StringBuilder path = new StringBuilder();
            for (int depth = 1; depth <= 20; depth++) {
                path.append("/d");
                assertEquals(0, error(client, Requests.create(path.toString())));
            }
            assertEquals(ErrorCode.BAD_ARGUMENTS.code(), error(client, Requests.create(path + "/d")));
        }
    }

    @Test
    void theWatchesOfAConnectionAreBoundedByTheirMemory() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.WATCH_BYTES_OF_CONNECTION, 100_000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000);
                RawClient other = RawClient.attached(TestServer.port(server), 20_000)) {
            String long10k = "x".repeat(10_000);
            for (int i = 0; i < 4; i++) {
                assertEquals(ErrorCode.NO_NODE.code(), error(client, Requests.existsAndWatch("/" + i + long10k)));
            }
            assertEquals(ErrorCode.THROTTLED.code(), error(client, Requests.existsAndWatch("/4" + long10k)));
            assertEquals(ErrorCode.THROTTLED.code(), error(client, new WatchRequest.AddWatch("/5" + long10k, 0)));
            assertEquals(ErrorCode.NO_NODE.code(), error(client, Requests.existsAndWatch("/3" + long10k)), "again");
            assertEquals(ErrorCode.NO_NODE.code(), error(other, Requests.existsAndWatch("/4" + long10k)));
            assertEquals(2, metric(server, "conclave_refused_watch_bytes_of_connection"));

            assertEquals(0, error(client, new WatchRequest.RemoveWatches("/3" + long10k, 3)));
            assertEquals(ErrorCode.NO_NODE.code(), error(client, Requests.existsAndWatch("/4" + long10k)));
        }
    }

    /** Else clients that watch a lot could keep a lock's contender from watching the one before it. */
    @Test
    void aConnectionHasSomeWatchesAlsoWhenOthersHaveAllThereIsRoomFor() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.WATCH_BYTES, 50_000);
                RawClient greedy = RawClient.attached(TestServer.port(server), 20_000);
                RawClient modest = RawClient.attached(TestServer.port(server), 20_000)) {
            assertTrue(watchUntilRefused(greedy) > 100);
            assertEquals(50_000, metric(server, "conclave_watch_bytes"), 1000);
            int some = watchUntilRefused(modest);
            assertTrue(some >= 30 && some < 100, "watches: " + some);
            greedy.close();
            await().until(() -> metric(server, "conclave_watch_bytes") < 20_000);
            assertTrue(watchUntilRefused(modest) > 100);
        }
    }

    private static int watchUntilRefused(RawClient client) throws IOException {
        int watches = 0;
        while (watches < 10_000
                && error(client, Requests.existsAndWatch("/watched-" + watches)) == ErrorCode.NO_NODE.code()) {
            watches++;
        }
        return watches;
    }

    /**
     * Clients do not look at the answer to setWatches: one that believes in watches that are not there waits forever.
     */
    @Test
    void aConnectionWhoseOldWatchesFindNoRoomIsClosed() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.WATCH_BYTES_OF_CONNECTION, 100_000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            List<String> paths = new ArrayList<>();
            for (int i = 0; i < 50_000; i++) {
                paths.add("/" + i);
            }
            client.send(new WatchRequest.SetWatches(
                    OpCode.SET_WATCHES, Long.MAX_VALUE, List.of(), paths, List.of(), List.of(), List.of()));
            assertTrue(client.isClosedByServer());
            await().until(() -> metric(server, "conclave_watch_bytes") == 0);
        }
    }

    @Test
    void aConnectionThatSetsAWatchAgainWhosePathIsTooLongIsClosed() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.PATH_BYTES, 1000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            client.send(new WatchRequest.SetWatches(
                    OpCode.SET_WATCHES,
                    Long.MAX_VALUE,
                    List.of(),
                    List.of("/" + "x".repeat(1000)),
                    List.of(),
                    List.of(),
                    List.of()));
            assertTrue(client.isClosedByServer());
        }
    }

    /** They ride in the log with each write of the connection. */
    @Test
    void theIdsOfAConnectionAreBoundedByTheirBytes() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.AUTH_BYTES, 1900);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            for (int i = 0; i < 300; i++) {
                assertEquals(0, error(client, Requests.digest("always-the-same:secret")));
            }
            String user = "u".repeat(900);
            assertEquals(0, error(client, Requests.digest(user + "1:secret")));
            assertEquals(ErrorCode.AUTH_FAILED.code(), error(client, Requests.digest(user + "2:secret")));
            assertTrue(client.isClosedByServer());
            assertEquals(1, metric(server, "conclave_refused_auth_bytes"));
        }
    }

    @Test
    void theAclOfAZnodeIsBoundedByItsBytes() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.ACL_BYTES, 2000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            List<AclRecord> acl = new ArrayList<>();
            for (int i = 0; i < 30_000; i++) {
                acl.add(new AclRecord(ALL, "ip", "10.0." + i / 256 + "." + i % 256));
            }
            assertEquals(0, error(client, Requests.create("/some", acl.subList(0, 50))));
            int invalid = ErrorCode.INVALID_ACL.code();
            assertEquals(invalid, error(client, Requests.create("/many", acl)));
            assertEquals(invalid, error(client, new RequestBody.SetAcl("/some", acl, -1)));
            assertEquals(3, 1 + metric(server, "conclave_refused_acl_bytes"));
        }
    }

    /** Each entry stands for all ids of the caller. */
    @Test
    void theAclIsBoundedByWhatTheSchemeAuthStandsFor() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.ACL_BYTES, 2000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            assertEquals(0, error(client, Requests.digest("u".repeat(900) + ":secret")));
            List<AclRecord> acl = new ArrayList<>();
            for (int permissions = 1; permissions <= 3; permissions++) {
                acl.add(new AclRecord(permissions, "auth", ""));
            }
            assertEquals(ErrorCode.INVALID_ACL.code(), error(client, Requests.create("/three", acl)));
            assertEquals(0, error(client, Requests.create("/two", acl.subList(0, 2))));
        }
    }

    /** As etcd's alarm: what makes room again goes on. */
    @Test
    void aFullStateTakesDeletionsAndNothingThatMakesItGrow() throws IOException {
        int full = ErrorCode.QUOTA_EXCEEDED.code();
        try (ConclaveServer server = limited(ClientLimit.STATE_BYTES, 100_000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            int created = 0;
            while (created < 1000
                    && error(client, Requests.create("/n" + created)) == 0
                    && error(client, new RequestBody.SetData("/n" + created, new byte[5000], -1)) == 0) {
                created++;
            }
            assertEquals(20, created, 3);
            assertEquals(1, metric(server, "conclave_state_full"));
            assertEquals(full, error(client, Requests.create("/more")));
            assertEquals(full, error(client, new RequestBody.SetData("/n0", new byte[5001], -1)));
            assertEquals(full, error(client, new RequestBody.SetAcl("/n0", AclRecord.OPEN, -1)));
            RequestBody.Multi moved =
                    new RequestBody.Multi(OpCode.MULTI, List.of(Requests.delete("/n0"), Requests.create("/more")));
            assertEquals(full, failedPart(client, moved, 1));

            assertEquals(0, error(client, new RequestBody.SetData("/n0", new byte[10], -1)));
            assertEquals(0, error(client, Requests.delete("/n0")));
            assertEquals(
                    0,
                    error(
                            client,
                            new RequestBody.Multi(
                                    OpCode.MULTI, List.of(Requests.delete("/n1"), Requests.delete("/n2")))));
            assertEquals(0, metric(server, "conclave_state_full"));
            assertEquals(0, error(client, Requests.create("/more")));
        }
    }

    private static int failedPart(RawClient client, RequestBody.Multi multi, int part) throws IOException {
        ReplyBody result =
                client.call(multi, ReplyBody.Multi.class).results().get(part).body();
        return ((ReplyBody.Err) result).err();
    }

    @Test
    void theEphemeralsOfASessionAreBoundedAlsoWhileTheyAreOnTheirWay() throws IOException {
        int full = ErrorCode.QUOTA_EXCEEDED.code();
        try (ConclaveServer server = limited(ClientLimit.EPHEMERALS_OF_SESSION, 10);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000);
                RawClient other = RawClient.attached(TestServer.port(server), 20_000)) {
            RequestBody[] creates = new RequestBody[30];
            for (int i = 0; i < creates.length; i++) {
                creates[i] = Requests.create("/e" + i, CreateFlag.EPHEMERAL);
            }
            client.send(creates);
            int created = 0;
            for (int i = 0; i < creates.length; i++) {
                int error = client.read().header().err();
                assertTrue(error == 0 || error == full, "error " + error);
                created += error == 0 ? 1 : 0;
            }
            assertEquals(10, created);
            assertEquals(full, error(client, Requests.create("/e", CreateFlag.EPHEMERAL_SEQUENTIAL)));
            assertEquals(0, error(client, Requests.create("/persistent")));
            assertEquals(0, error(other, Requests.create("/e", CreateFlag.EPHEMERAL)));
            assertEquals(0, error(client, Requests.delete("/e0")));
            assertEquals(0, error(client, Requests.create("/again", CreateFlag.EPHEMERAL)));
            List<RequestBody> many = new ArrayList<>();
            for (int i = 0; i < 11; i++) {
                many.add(Requests.create("/m" + i, CreateFlag.EPHEMERAL));
            }
            assertEquals(full, failedPart(other, new RequestBody.Multi(OpCode.MULTI, many), 9));
        }
    }

    /** A session outlives its connection, so the bound of an address's connections is none of its sessions. */
    @Test
    void theSessionsOfAnAddressAreBounded() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.SESSIONS_OF_ADDRESS, 5)) {
            for (int i = 0; i < 4; i++) {
                RawClient.attached(TestServer.port(server), 60_000).close();
            }
            RawClient last = RawClient.attached(TestServer.port(server), 60_000);
            assertRefused(server);
            assertEquals(1, metric(server, "conclave_refused_sessions_of_address"));
            assertEquals(0, error(last, Requests.closeSession()));
            await().until(() -> server.state().sessions().size() == 4);
            RawClient.attached(TestServer.port(server), 60_000).close();
        }
    }

    @Test
    void sessionsAreBoundedInAll() throws IOException {
        try (ConclaveServer server = limited(ClientLimit.SESSIONS, 3)) {
            for (int i = 0; i < 3; i++) {
                RawClient.attached(TestServer.port(server), 60_000).close();
            }
            assertRefused(server);
            assertEquals(1, metric(server, "conclave_refused_sessions"));
        }
    }

    private static void assertRefused(ConclaveServer server) throws IOException {
        try (RawClient oneTooMany = new RawClient(TestServer.port(server))) {
            oneTooMany.sendConnect(60_000);
            assertTrue(oneTooMany.isClosedByServer());
        }
    }

    /** Without turns, the loop would count all of them before it looks at anybody else. */
    @Test
    void othersHaveTheirTurnWhileAClientHasSubtreesCounted() throws Exception {
        int walks = 500;
        try (ConclaveServer server =
                        TestServer.start(TestServer.config().eventLoops(1).build());
                RawClient walker = RawClient.attached(TestServer.port(server), 60_000);
                RawClient other = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, error(walker, Requests.create("/top")));
            for (int part = 0; part < 10; part++) {
                List<RequestBody> creates = new ArrayList<>();
                for (int i = 0; i < 5_000; i++) {
                    creates.add(Requests.create("/top/" + part + "-" + i));
                }
                assertEquals(0, error(walker, new RequestBody.Multi(OpCode.MULTI, creates)));
            }
            RequestBody[] requests = new RequestBody[walks];
            Arrays.fill(requests, new RequestBody.GetAllChildrenNumber("/top"));
            walker.send(requests);
            AtomicInteger counted = new AtomicInteger();
            CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> {
                for (int i = 0; i < walks; i++) {
                    assertEquals(50_000, numberOf(walker));
                    counted.incrementAndGet();
                }
            });
            assertEquals(0, error(other, Requests.exists("/top")));
            assertTrue(counted.get() < walks, "walks before the other's turn: " + counted);
            reading.get(60, TimeUnit.SECONDS);
        }
    }

    private static int numberOf(RawClient client) {
        try {
            return ((ReplyBody.GetAllChildrenNumber) client.read().body().orElseThrow()).totalNumber();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
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
        try (ConclaveServer server = limited(ClientLimit.LARGE_REQUESTS_BYTES, 1_000_000);
                RawClient one = RawClient.attached(TestServer.port(server), 60_000);
                RawClient two = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, error(one, Requests.create("/n")));
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
            assertTrue(metric(server, "conclave_held_large_requests_bytes") > 0);
            await().until(() -> metric(server, "conclave_bytes_in_flight") == 0);
            assertEquals(0, error(two, writes[0]));
        }
    }

    private static void send(RawClient client, RequestBody... requests) {
        try {
            client.send(requests);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aConnectionThatHasTooManyBytesInFlightIsReadNoFurther() throws Exception {
        try (ConclaveServer server = limited(ClientLimit.BYTES_IN_FLIGHT_OF_CONNECTION, 10_000);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, error(client, Requests.create("/n")));
            RequestBody[] writes = new RequestBody[200];
            Arrays.fill(writes, new RequestBody.SetData("/n", new byte[9_000], -1));
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> send(client, writes));
            for (int i = 0; i < writes.length; i++) {
                assertEquals(2 + i, client.readHeader().xid());
            }
            sending.join();
            assertTrue(metric(server, "conclave_held_bytes_in_flight_of_connection") > 0);
        }
    }

    /** Its decoded paths are in memory until the last of them is set, long after the first turn. */
    @Test
    void aLongListOfOldWatchesKeepsItsRoomAmongTheLargeRequestsUntilItIsSet() throws Exception {
        ManualTimeSource time = new ManualTimeSource();
        List<String> gone = new ArrayList<>();
        for (int i = 0; i < 30_000; i++) {
            gone.add("/gone-" + i);
        }
        ServerConfig config = TestServer.config()
                .commandWhitelist(Set.of("mntr"))
                .ensemble(EnsembleConfig.alone(1).withSyncLimitTicks(1_000_000))
                .build();
        try (ConclaveServer server = ConclaveServer.start(config, time, cause -> {});
                RawClient one = RawClient.attached(TestServer.port(server), 60_000);
                RawClient two = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, error(two, Requests.create("/n")));
            one.send(new WatchRequest.SetWatches(
                    OpCode.SET_WATCHES, 0, gone, List.of(), List.of(), List.of(), List.of()));
            assertEquals("/gone-0", one.read().event().orElseThrow().path());
            two.send(new RequestBody.SetData("/n", new byte[100_000], -1));
            await().until(() -> metric(server, "conclave_held_large_requests_bytes") == 1);
            CompletableFuture<Integer> written = CompletableFuture.supplyAsync(() -> readError(two));
            time.advanceUntil(Duration.ofMillis(1), written::isDone);
            assertEquals(0, written.join());
            for (int i = 1; i < gone.size(); i++) {
                assertEquals(gone.get(i), one.read().event().orElseThrow().path());
            }
            assertEquals(0, one.read().header().err());
        }
    }

    private static int readError(RawClient client) {
        try {
            return client.read().header().err();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
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
