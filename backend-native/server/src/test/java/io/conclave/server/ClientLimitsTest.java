package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.ClientLimit;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.testkit.ManualTimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a client without credentials can make the server hold: no more than the limits say. */
class ClientLimitsTest {
    private static final int ALL = 31;

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
        try (ConclaveServer server = TestServer.limited(ClientLimit.PATH_BYTES, 1000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            for (RequestBody request : requests) {
                assertEquals(
                        ErrorCode.BAD_ARGUMENTS.code(),
                        client.error(request),
                        request.opCode().name());
            }
            assertEquals(ErrorCode.NO_NODE.code(), client.error(Requests.get("/a")));
            assertEquals(0, TestServer.metric(server, "zk_conclave_watch_bytes"));
            assertEquals(requests.size(), TestServer.metric(server, "zk_conclave_refused_path_bytes"));
        }
    }

    @Test
    void aPathOfTheLengthAllowedIsCreatedAndOneWithItsNumberToo() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.PATH_BYTES, 100);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            assertEquals(0, client.error(Requests.create("/" + "x".repeat(99))));
            assertEquals(ErrorCode.BAD_ARGUMENTS.code(), client.error(Requests.create("/" + "x".repeat(100))));
            CreateFlag sequential = CreateFlag.PERSISTENT_SEQUENTIAL;
            assertEquals(0, client.error(Requests.create("/" + "y".repeat(88), sequential)));
            assertEquals(
                    ErrorCode.BAD_ARGUMENTS.code(), client.error(Requests.create("/" + "y".repeat(89), sequential)));
        }
    }

    /** Each ancestor of a znode is copied when that changes, so a deep tree makes each write in it slow. */
    @Test
    void theDepthOfTheTreeIsBounded() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.PATH_DEPTH, 20);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            StringBuilder path = new StringBuilder();
            for (int depth = 1; depth <= 20; depth++) {
                path.append("/d");
                assertEquals(0, client.error(Requests.create(path.toString())));
            }
            assertEquals(ErrorCode.BAD_ARGUMENTS.code(), client.error(Requests.create(path + "/d")));
        }
    }

    @Test
    void theWatchesOfAConnectionAreBoundedByTheirMemory() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.WATCH_BYTES_OF_CONNECTION, 100_000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000);
                RawClient other = RawClient.attached(TestServer.port(server), 20_000)) {
            String long10k = "x".repeat(10_000);
            for (int i = 0; i < 4; i++) {
                assertEquals(ErrorCode.NO_NODE.code(), client.error(Requests.existsAndWatch("/" + i + long10k)));
            }
            assertEquals(ErrorCode.THROTTLED.code(), client.error(Requests.existsAndWatch("/4" + long10k)));
            assertEquals(ErrorCode.THROTTLED.code(), client.error(new WatchRequest.AddWatch("/5" + long10k, 0)));
            assertEquals(ErrorCode.NO_NODE.code(), client.error(Requests.existsAndWatch("/3" + long10k)), "again");
            assertEquals(ErrorCode.NO_NODE.code(), other.error(Requests.existsAndWatch("/4" + long10k)));
            assertEquals(2, TestServer.metric(server, "zk_conclave_refused_watch_bytes_of_connection"));

            assertEquals(0, client.error(new WatchRequest.RemoveWatches("/3" + long10k, 3)));
            assertEquals(ErrorCode.NO_NODE.code(), client.error(Requests.existsAndWatch("/4" + long10k)));
        }
    }

    /** Else clients that watch a lot could keep a lock's contender from watching the one before it. */
    @Test
    void aConnectionHasSomeWatchesAlsoWhenOthersHaveAllThereIsRoomFor() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.WATCH_BYTES, 50_000);
                RawClient greedy = RawClient.attached(TestServer.port(server), 20_000);
                RawClient modest = RawClient.attached(TestServer.port(server), 20_000)) {
            assertTrue(watchUntilRefused(greedy) > 100);
            assertEquals(50_000, TestServer.metric(server, "zk_conclave_watch_bytes"), 1000);
            int some = watchUntilRefused(modest);
            assertTrue(some >= 30 && some < 100, "watches: " + some);
            greedy.close();
            await().until(() -> TestServer.metric(server, "zk_conclave_watch_bytes") < 20_000);
            assertTrue(watchUntilRefused(modest) > 100);
        }
    }

    private static int watchUntilRefused(RawClient client) throws IOException {
        int watches = 0;
        while (watches < 10_000
                && client.error(Requests.existsAndWatch("/watched-" + watches)) == ErrorCode.NO_NODE.code()) {
            watches++;
        }
        return watches;
    }

    /**
     * Clients do not look at the answer to setWatches: one that believes in watches that are not there waits forever.
     */
    @Test
    void aConnectionWhoseOldWatchesFindNoRoomIsClosed() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.WATCH_BYTES_OF_CONNECTION, 100_000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            List<String> paths = new ArrayList<>();
            for (int i = 0; i < 50_000; i++) {
                paths.add("/" + i);
            }
            client.send(new WatchRequest.SetWatches(
                    OpCode.SET_WATCHES, Long.MAX_VALUE, List.of(), paths, List.of(), List.of(), List.of()));
            assertTrue(client.isClosedByServer());
            await().until(() -> TestServer.metric(server, "zk_conclave_watch_bytes") == 0);
        }
    }

    @Test
    void aConnectionThatSetsAWatchAgainWhosePathIsTooLongIsClosed() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.PATH_BYTES, 1000);
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
        try (ConclaveServer server = TestServer.limited(ClientLimit.AUTH_BYTES, 1900);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            for (int i = 0; i < 300; i++) {
                assertEquals(0, client.error(Requests.digest("always-the-same:secret")));
            }
            String user = "u".repeat(900);
            assertEquals(0, client.error(Requests.digest(user + "1:secret")));
            assertEquals(ErrorCode.AUTH_FAILED.code(), client.error(Requests.digest(user + "2:secret")));
            assertTrue(client.isClosedByServer());
            assertEquals(1, TestServer.metric(server, "zk_conclave_refused_auth_bytes"));
        }
    }

    @Test
    void theAclOfAZnodeIsBoundedByItsBytes() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.ACL_BYTES, 2000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            List<AclRecord> acl = new ArrayList<>();
            for (int i = 0; i < 30_000; i++) {
                acl.add(new AclRecord(ALL, "ip", "10.0." + i / 256 + "." + i % 256));
            }
            assertEquals(0, client.error(Requests.create("/some", acl.subList(0, 50))));
            int invalid = ErrorCode.INVALID_ACL.code();
            assertEquals(invalid, client.error(Requests.create("/many", acl)));
            assertEquals(invalid, client.error(new RequestBody.SetAcl("/some", acl, -1)));
            assertEquals(3, 1 + TestServer.metric(server, "zk_conclave_refused_acl_bytes"));
        }
    }

    /** Each entry stands for all ids of the caller. */
    @Test
    void theAclIsBoundedByWhatTheSchemeAuthStandsFor() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.ACL_BYTES, 2000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            assertEquals(0, client.error(Requests.digest("u".repeat(900) + ":secret")));
            List<AclRecord> acl = new ArrayList<>();
            for (int permissions = 1; permissions <= 3; permissions++) {
                acl.add(new AclRecord(permissions, "auth", ""));
            }
            assertEquals(ErrorCode.INVALID_ACL.code(), client.error(Requests.create("/three", acl)));
            assertEquals(0, client.error(Requests.create("/two", acl.subList(0, 2))));
        }
    }

    /** Else a request of a megabyte becomes hundreds of them in the state. */
    @Test
    void whatTheSchemeAuthStandsForIsBoundedInAllPartsOfAMultiTogether() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.ACL_BYTES, 2000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            assertEquals(0, client.error(Requests.digest("u".repeat(900) + ":secret")));
            List<RequestBody> same = new ArrayList<>();
            List<RequestBody> different = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                same.add(Requests.create("/s" + i, List.of(new AclRecord(ALL, "auth", ""))));
                different.add(Requests.create("/d" + i, List.of(new AclRecord(i, "auth", ""))));
            }
            assertEquals(0, client.error(new RequestBody.Multi(OpCode.MULTI, same)));
            ReplyBody.Multi refused =
                    client.call(new RequestBody.Multi(OpCode.MULTI, different), ReplyBody.Multi.class);
            assertTrue(refused.results().stream()
                    .anyMatch(result -> result.body().equals(new ReplyBody.Err(ErrorCode.INVALID_ACL.code()))));
            assertEquals(1, TestServer.metric(server, "zk_conclave_refused_acl_bytes"));
            assertEquals(0, client.error(new RequestBody.Multi(OpCode.MULTI, different.subList(0, 250))));
        }
    }

    /** As etcd's alarm: what makes room again goes on. */
    @Test
    void aFullStateTakesDeletionsAndNothingThatMakesItGrow() throws IOException {
        int full = ErrorCode.QUOTA_EXCEEDED.code();
        try (ConclaveServer server = TestServer.limited(ClientLimit.STATE_BYTES, 100_000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            int created = 0;
            while (created < 1000
                    && client.error(Requests.create("/n" + created)) == 0
                    && client.error(new RequestBody.SetData("/n" + created, new byte[5000], -1)) == 0) {
                created++;
            }
            assertEquals(20, created, 3);
            assertEquals(1, TestServer.metric(server, "zk_conclave_state_full"));
            assertEquals(full, client.error(Requests.create("/more")));
            assertEquals(full, client.error(new RequestBody.SetData("/n0", new byte[5001], -1)));
            assertEquals(full, client.error(new RequestBody.SetAcl("/n0", AclRecord.OPEN, -1)));
            RequestBody.Multi moved =
                    new RequestBody.Multi(OpCode.MULTI, List.of(Requests.delete("/n0"), Requests.create("/more")));
            assertEquals(full, failedPart(client, moved, 1));

            assertEquals(0, client.error(new RequestBody.SetData("/n0", new byte[4999], -1)));
            assertEquals(0, client.error(new RequestBody.SetData("/n0", new byte[10], -1)));
            assertEquals(0, client.error(Requests.delete("/n0")));
            assertEquals(
                    0,
                    client.error(new RequestBody.Multi(
                            OpCode.MULTI, List.of(Requests.delete("/n1"), Requests.delete("/n2")))));
            assertEquals(0, TestServer.metric(server, "zk_conclave_state_full"));
            assertEquals(0, client.error(Requests.create("/more")));
        }
    }

    /** What ends with its session is how others empty a full state: places in line, claims and marks of consumers. */
    @Test
    void aFullStateHasRoomForWhatGoesByItself() throws IOException {
        int full = ErrorCode.QUOTA_EXCEEDED.code();
        try (ConclaveServer server = TestServer.limited(ClientLimit.STATE_BYTES, 100_000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            client.error(Requests.create("/item"));
            while (client.error(Requests.create("/n", CreateFlag.PERSISTENT_SEQUENTIAL)) == 0) {
                // until it is full
            }
            assertEquals(0, client.error(Requests.create("/places", CreateFlag.CONTAINER)));
            assertEquals(0, client.error(Requests.create("/places/p", CreateFlag.EPHEMERAL_SEQUENTIAL)));
            RequestBody.Multi take = new RequestBody.Multi(
                    OpCode.MULTI,
                    List.of(
                            Requests.create("/mark", CreateFlag.EPHEMERAL),
                            Requests.create("/claim", CreateFlag.EPHEMERAL),
                            Requests.delete("/claim"),
                            Requests.delete("/item")));
            assertTrue(
                    client.call(take, ReplyBody.Multi.class).results().stream()
                            .noneMatch(result -> result.body() instanceof ReplyBody.Err),
                    "the header of a transaction's answer has no error");
            assertEquals(0, client.error(Requests.create("/e", CreateFlag.EPHEMERAL)));
            assertEquals(full, client.error(Requests.create("/places/more")));

            while (client.error(Requests.create("/e", CreateFlag.EPHEMERAL_SEQUENTIAL)) == 0) {
                // until that room is used up, too
            }
            assertEquals(106_250, TestServer.metric(server, "zk_conclave_state_bytes"), 1_000);
            assertEquals(full, client.error(Requests.create("/f", CreateFlag.EPHEMERAL)));
            assertEquals(full, client.error(Requests.create("/f", CreateFlag.CONTAINER)));
            assertEquals(0, client.error(Requests.delete("/e")));
        }
    }

    /** A container that never has a child stays when its client has gone. */
    @Test
    void containersLeaveRoomInAFullStateForThoseWhoHaveASession() throws IOException {
        int full = ErrorCode.QUOTA_EXCEEDED.code();
        try (ConclaveServer server = TestServer.limited(ClientLimit.STATE_BYTES, 100_000);
                RawClient client = RawClient.attached(TestServer.port(server), 20_000)) {
            while (client.error(Requests.create("/n", CreateFlag.PERSISTENT_SEQUENTIAL)) == 0) {
                // until it is full
            }
            int containers = 0;
            while (client.error(Requests.create("/c" + containers, CreateFlag.CONTAINER)) == 0) {
                containers++;
            }
            assertTrue(containers > 0);
            assertEquals(103_125, TestServer.metric(server, "zk_conclave_state_bytes"), 1_000);
            assertEquals(full, client.error(Requests.create("/c", CreateFlag.CONTAINER)));
            assertEquals(0, client.error(Requests.create("/c0/place", CreateFlag.EPHEMERAL_SEQUENTIAL)));
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
        try (ConclaveServer server = TestServer.limited(ClientLimit.EPHEMERALS_OF_SESSION, 10);
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
            assertEquals(full, client.error(Requests.create("/e", CreateFlag.EPHEMERAL_SEQUENTIAL)));
            assertEquals(0, client.error(Requests.create("/persistent")));
            assertEquals(0, other.error(Requests.create("/e", CreateFlag.EPHEMERAL)));
            assertEquals(0, client.error(Requests.delete("/e0")));
            assertEquals(0, client.error(Requests.create("/again", CreateFlag.EPHEMERAL)));
            List<RequestBody> many = new ArrayList<>();
            for (int i = 0; i < 11; i++) {
                many.add(Requests.create("/m" + i, CreateFlag.EPHEMERAL));
            }
            assertEquals(full, failedPart(other, new RequestBody.Multi(OpCode.MULTI, many), 9));
        }
    }

    @Test
    void connectionsThatAreRefusedOrLateAreCounted() throws IOException {
        ManualTimeSource time = new ManualTimeSource();
        ServerConfig config = TestServer.config()
                .ensemble(EnsembleConfig.alone(1).withSyncLimitTicks(1_000_000))
                .commandWhitelist(Set.of("mntr"))
                .maxConnectionsPerAddress(2)
                .eventLoops(1)
                .build();
        try (ConclaveServer server = ConclaveServer.start(config, time, cause -> {})) {
            try (RawClient silent = new RawClient(TestServer.port(server));
                    RawClient alsoSilent = new RawClient(TestServer.port(server));
                    RawClient oneTooMany = new RawClient(TestServer.port(server))) {
                assertTrue(oneTooMany.isClosedByServer());
                time.advance(Duration.ofSeconds(11));
                assertTrue(silent.isClosedByServer());
                assertTrue(alsoSilent.isClosedByServer());
            }
            assertEquals(1, TestServer.metric(server, "zk_connection_rejected"));
            assertEquals(2, TestServer.metric(server, "zk_conclave_late_handshakes"));
        }
    }

    /** A session outlives its connection, so the bound of an address's connections is none of its sessions. */
    @Test
    void theSessionsOfAnAddressAreBounded() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.SESSIONS_OF_ADDRESS, 5)) {
            for (int i = 0; i < 4; i++) {
                RawClient.attached(TestServer.port(server), 60_000).close();
            }
            RawClient last = RawClient.attached(TestServer.port(server), 60_000);
            assertRefused(server);
            assertEquals(1, TestServer.metric(server, "zk_conclave_refused_sessions_of_address"));
            assertEquals(0, last.error(Requests.closeSession()));
            await().until(() -> server.state().sessions().size() == 4);
            RawClient.attached(TestServer.port(server), 60_000).close();
        }
    }

    @Test
    void sessionsAreBoundedInAll() throws IOException {
        try (ConclaveServer server = TestServer.limited(ClientLimit.SESSIONS, 3)) {
            for (int i = 0; i < 3; i++) {
                RawClient.attached(TestServer.port(server), 60_000).close();
            }
            assertRefused(server);
            assertEquals(1, TestServer.metric(server, "zk_conclave_refused_sessions"));
        }
    }

    /** Each would be an entry of the log. Clients that have a session come back to it at any rate. */
    @Test
    void resumesOfUnknownSessionsCountAsOpeningsAndThoseOfKnownOnesDoNot() throws IOException {
        ServerConfig config = TestServer.config()
                .ensemble(EnsembleConfig.alone(1).withSyncLimitTicks(1_000_000))
                .clientLimit(ClientLimit.SESSIONS_PER_SECOND, 6)
                .build();
        try (ConclaveServer server = ConclaveServer.start(config, new ManualTimeSource(), cause -> {})) {
            ConnectResponse session;
            try (RawClient client = new RawClient(TestServer.port(server))) {
                session = client.connect(60_000);
            }
            ConnectRequest right =
                    new ConnectRequest(0, 0, 60_000, session.sessionId(), session.password(), false, true);
            ConnectRequest wrong = new ConnectRequest(0, 0, 60_000, session.sessionId(), new byte[16], false, true);
            for (int i = 0; i < 10; i++) {
                assertEquals(session.sessionId(), resumed(server, right));
            }
            for (int i = 0; i < 2; i++) {
                assertEquals(0, resumed(server, wrong), "it counts as expired");
            }
            long before = server.state().lastZxid();
            try (RawClient oneTooMany = new RawClient(TestServer.port(server))) {
                oneTooMany.sendConnect(wrong);
                assertTrue(oneTooMany.isClosedByServer());
            }
            assertEquals(before, server.state().lastZxid());
            assertEquals(session.sessionId(), resumed(server, right));
        }
    }

    private static long resumed(ConclaveServer server, ConnectRequest request) throws IOException {
        try (RawClient client = new RawClient(TestServer.port(server))) {
            return client.connect(request).sessionId();
        }
    }

    private static void assertRefused(ConclaveServer server) throws IOException {
        try (RawClient oneTooMany = new RawClient(TestServer.port(server))) {
            oneTooMany.sendConnect(60_000);
            assertTrue(oneTooMany.isClosedByServer());
        }
    }
}
