package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.Perms;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.testkit.ManualTimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

@ResourceLock(value = "the JAAS configuration of the JVM", mode = ResourceAccessMode.READ)
class RequestTest {
    private static final String ADMIN_SECRET_DIGEST = "admin:fvr2cB/fjGeAiX8g1aGhUm3ZICk=";

    private ManualTimeSource time;
    private ConclaveServer server;
    private RawClient client;

    @BeforeEach
    void start() throws IOException {
        time = new ManualTimeSource();
        server = TestServer.start(time);
        client = RawClient.attached(TestServer.port(server), 60_000);
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    private int error(RequestBody body) throws IOException {
        return client.call(body).header().err();
    }

    @Test
    void aMultiIsDoneAsAWhole() throws IOException {
        ReplyBody.Multi reply = client.call(
                new RequestBody.Multi(
                        OpCode.MULTI,
                        List.of(
                                Requests.create("/m"),
                                Requests.set("/m", "x"),
                                new RequestBody.CheckVersion("/m", 1),
                                Requests.delete("/m"))),
                ReplyBody.Multi.class);
        assertEquals(
                List.of(OpCode.CREATE, OpCode.SET_DATA, OpCode.CHECK, OpCode.DELETE),
                reply.results().stream().map(result -> result.opCode()).toList());
        assertEquals(-101, error(Requests.exists("/m")));
    }

    @Test
    void aFailedMultiDoesNothingAndTellsWhichPartFailed() throws IOException {
        assertEquals(
                List.of(0, -101, -2),
                codes(Requests.create("/m"), Requests.set("/missing", "x"), Requests.delete("/m")));
        assertEquals(-101, error(Requests.exists("/m")));
        RequestBody.Create ttl = new RequestBody.Create(OpCode.CREATE_TTL, "/t", null, AclRecord.OPEN, 5, 0);
        assertEquals(List.of(0, -8), codes(Requests.create("/m"), ttl));
    }

    private List<Integer> codes(RequestBody... parts) throws IOException {
        return client
                .call(new RequestBody.Multi(OpCode.MULTI, List.of(parts)), ReplyBody.Multi.class)
                .results()
                .stream()
                .map(result -> ((ReplyBody.Err) result.body()).err())
                .toList();
    }

    @Test
    void aMultiOfReadsReportsErrorsOneByOne() throws IOException {
        ReplyBody.Multi reply = client.call(
                new RequestBody.Multi(
                        OpCode.MULTI_READ,
                        List.of(Requests.get("/"), Requests.get("/missing"), new RequestBody.GetChildren("/", false))),
                ReplyBody.Multi.class);
        assertEquals(
                List.of(OpCode.GET_DATA, OpCode.ERROR, OpCode.GET_CHILDREN),
                reply.results().stream().map(result -> result.opCode()).toList());
    }

    @Test
    void containersAreMadeByTheirOwnRequestAndReapedWhenTheyHaveBecomeEmpty() throws IOException {
        client.call(container(OpCode.CREATE_CONTAINER, "/locks"), ReplyBody.Create2.class);
        client.call(container(OpCode.CREATE_CONTAINER, "/never-used"), ReplyBody.Create2.class);
        client.call(Requests.create("/locks/one"));
        time.advance(Duration.ofMillis(50_000));
        client.call(Requests.ping());
        time.advance(Duration.ofMillis(11_000));
        assertEquals(0, error(Requests.exists("/locks")));
        client.call(Requests.delete("/locks/one"));
        time.advanceUntil(Duration.ofSeconds(1), () -> error(Requests.exists("/locks")) == -101);
        assertEquals(0, error(Requests.exists("/never-used")));
    }

    /** Clients of other languages send the flag with the plain operation, to ZooKeeper in vain. */
    @Test
    void theFlagOfAPlainCreateMakesAContainerInAMultiOnly() throws IOException {
        client.call(container(OpCode.CREATE, "/plain"), ReplyBody.Create.class);
        client.call(container(OpCode.CREATE2, "/plain2"), ReplyBody.Create2.class);
        client.call(
                new RequestBody.Multi(OpCode.MULTI, List.of(container(OpCode.CREATE, "/z-in-multi"))),
                ReplyBody.Multi.class);
        for (String path : List.of("/plain", "/plain2", "/z-in-multi")) {
            client.call(Requests.create(path + "/one"));
            client.call(Requests.delete(path + "/one"));
        }
        time.advanceUntil(Duration.ofSeconds(1), () -> error(Requests.exists("/z-in-multi")) == -101);
        assertEquals(0, error(Requests.exists("/plain")));
        assertEquals(0, error(Requests.exists("/plain2")));
    }

    private static RequestBody.Create container(OpCode opCode, String path) {
        return new RequestBody.Create(opCode, path, new byte[0], AclRecord.OPEN, CreateFlag.CONTAINER);
    }

    /**
     * On real clocks: a manual one that is moved for minutes makes the server's watchdog take a busy machine for a hung
     * log.
     */
    @Test
    void nodesWithATimeToLiveGoWhenTheyHaveNoChildrenAndWereNotChangedForIt() throws IOException {
        ServerConfig config = TestServer.config().containerCheckIntervalMs(100).build();
        try (ConclaveServer real = TestServer.start(config);
                RawClient its = RawClient.attached(TestServer.port(real), 60_000)) {
            ReplyBody.Create2 created = its.call(ttl("/t", 5, 36_000_000), ReplyBody.Create2.class);
            assertEquals("/t", created.path());
            assertEquals(0, created.stat().ephemeralOwner());
            RequestBody.Multi parent = new RequestBody.Multi(
                    OpCode.MULTI, List.of(ttl("/parent", 5, 1), Requests.create("/parent/child")));
            its.call(parent, ReplyBody.Multi.class);
            assertEquals(
                    "/s-0000000002",
                    its.call(ttl("/s-", 6, 1), ReplyBody.Create2.class).path());
            awaitGone(its, "/s-0000000002");
            assertEquals(0, its.call(Requests.exists("/t")).header().err());
            assertEquals(0, its.call(Requests.exists("/parent")).header().err());
            its.call(Requests.delete("/parent/child"));
            awaitGone(its, "/parent");
            assertEquals(0, its.call(Requests.exists("/t")).header().err());
        }
    }

    private static void awaitGone(RawClient client, String path) {
        await().until(() -> client.call(Requests.exists(path)).header().err() == -101);
    }

    @Test
    void aServerOnWhichTimesToLiveAreSwitchedOffSaysSo() throws IOException {
        try (ConclaveServer without =
                        TestServer.start(TestServer.config().offersTtl(false).build());
                RawClient its = RawClient.attached(TestServer.port(without), 60_000)) {
            assertEquals(-6, its.call(ttl("/t", 5, 1000)).header().err());
            assertEquals(-6, its.call(ttl("/t", 6, 0)).header().err());
            assertEquals(0, its.call(ttl("/plain", 0, -1)).header().err());
        }
    }

    @Test
    void aTimeToLiveOutOfItsBoundsIsABadArgument() throws IOException {
        for (long ttlMs : new long[] {0, -1, 1L << 40, Long.MAX_VALUE}) {
            assertEquals(-8, error(ttl("/t", 5, ttlMs)), () -> ttlMs + " ms");
        }
        assertEquals(-8, error(Requests.create("/t", CreateFlag.TTL)));
        assertEquals(-8, error(ttl("/t", 7, 1000)));
        assertEquals(-8, error(new RequestBody.Create(OpCode.CREATE, "/t", null, AclRecord.OPEN, 77, 0)));
        assertEquals(-8, error(ttl("/plain", 0, 1000)));
        assertEquals(-8, error(ttl("/plain", 0, 0)));
        assertEquals(0, error(ttl("/plain", 0, -5)));
        assertEquals(0, error(ttl("/t", 5, (1L << 40) - 1)));
    }

    @Test
    void theReapersOperationIsRefusedFromClients() throws IOException {
        client.call(ttl("/t", 5, 1), ReplyBody.Create2.class);
        byte[] path = {0, 0, 0, 2, '/', 't'};
        assertEquals(-6, error(new RequestBody.Opaque(OpCode.DELETE_CONTAINER, path)));
        try (RawClient other = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, other.call(Requests.exists("/t")).header().err());
        }
    }

    private static RequestBody.Create ttl(String path, int flags, long ttlMs) {
        return new RequestBody.Create(OpCode.CREATE_TTL, path, null, AclRecord.OPEN, flags, ttlMs);
    }

    @Test
    void digestProvesAnIdAndGetAclHidesItsDigestFromOtherClients() throws IOException {
        assertEquals(0, error(Requests.digest("me:secret")));
        client.call(Requests.create("/mine", List.of(new AclRecord(Perms.ALL, "auth", ""))), ReplyBody.Create.class);
        client.call(Requests.create(
                "/shown", List.of(new AclRecord(Perms.ALL, "auth", ""), new AclRecord(Perms.READ, "world", "anyone"))));
        String own = client.call(new RequestBody.GetAcl("/mine"), ReplyBody.GetAcl.class)
                .acl()
                .get(0)
                .id();
        assertTrue(own.startsWith("me:") && own.length() > 20, own);
        assertEquals(
                List.of("ip", "digest"),
                client.call(new ConnectionRequest.Empty(OpCode.WHO_AM_I), ReplyBody.WhoAmI.class).clientInfo().stream()
                        .map(info -> info.scheme())
                        .toList());
        try (RawClient stranger = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(-102, stranger.call(Requests.get("/mine")).header().err());
            assertEquals(
                    "me:x",
                    stranger.call(new RequestBody.GetAcl("/shown"), ReplyBody.GetAcl.class)
                            .acl()
                            .get(0)
                            .id());
        }
    }

    @Test
    void theClientWithTheConfiguredDigestIsSuperAndItsOwnUserToo() throws IOException {
        ServerConfig config = TestServer.config()
                .superDigest(Optional.of(ADMIN_SECRET_DIGEST))
                .build();
        AclRecord auth = new AclRecord(Perms.ALL, "auth", "");
        try (ConclaveServer other = TestServer.start(config);
                RawClient owner = RawClient.attached(TestServer.port(other), 60_000);
                RawClient admin = RawClient.attached(TestServer.port(other), 60_000)) {
            owner.call(Requests.digest("me:secret"));
            owner.call(Requests.create("/mine", List.of(auth)));
            admin.call(Requests.digest("admin:other"));
            assertEquals(-102, admin.call(Requests.get("/mine")).header().err());
            admin.call(Requests.digest("admin:secret"));
            assertEquals(0, admin.call(Requests.get("/mine")).header().err());
            assertEquals(
                    0,
                    admin.call(Requests.create("/admins", List.of(auth)))
                            .header()
                            .err());
        }
    }

    @Test
    void membersAreNotChangedIfTheyHaveChangedSinceTheClientLooked() throws IOException {
        ServerConfig config = TestServer.config()
                .superDigest(Optional.of(ADMIN_SECRET_DIGEST))
                .build();
        try (ConclaveServer other = TestServer.start(config);
                RawClient admin = RawClient.attached(TestServer.port(other), 60_000)) {
            admin.call(Requests.digest("admin:secret"));
            assertEquals(-103, admin.call(joining(77)).header().err());
            assertTrue(admin.call(joining(0)).header().err() != -103, "the version of a list that never changed");
        }
    }

    private static RequestBody.Reconfig joining(long expectedVersion) {
        return new RequestBody.Reconfig("server.2=localhost:1:observer", "", null, expectedVersion);
    }

    /** A client that comes again may take this zxid for what it has seen, before it sets its watches again. */
    @Test
    void anAnswerToCredentialsHasNoZxid() throws IOException {
        assertTrue(client.call(Requests.create("/zxid")).header().zxid() > 0);
        assertEquals(0, client.call(Requests.digest("bob:pw")).header().zxid());
        assertEquals(
                0,
                client.call(new ConnectionRequest.Auth(0, "kerberos", Requests.bytes("x")))
                        .header()
                        .zxid());
    }

    @Test
    void anUnknownSchemeFailsAndEndsTheConnection() throws IOException {
        assertEquals(-115, error(new ConnectionRequest.Auth(0, "kerberos", Requests.bytes("x"))));
        assertTrue(client.isClosedByServer());
    }

    @Test
    void saslIsAnsweredAsByAServerWithoutIt() throws IOException {
        assertEquals(
                null,
                client.call(new ConnectionRequest.Sasl(new byte[3]), ReplyBody.Sasl.class)
                        .token());
    }

    @Test
    void theReservedNodeIdentifiesTheClusterAndIsNoOrdinaryNode() throws IOException {
        String text = new String(
                client.call(Requests.get("/zookeeper/conclave"), ReplyBody.GetData.class)
                        .data(),
                StandardCharsets.UTF_8);
        assertTrue(
                text.matches("clusterId=(?!0{32})[0-9a-f]{32}\ngeneration=[1-9][0-9]*\nfeatureLevel=[0-9]+\n"),
                "\"" + text + "\"");
        assertEquals(
                String.valueOf(server.state().generation()), text.split("\n")[1].split("=")[1]);
        assertEquals(0, error(Requests.exists("/zookeeper/conclave")));
        assertEquals(-8, error(Requests.create("/zookeeper/conclave")));
        assertEquals(-101, error(Requests.delete("/zookeeper/conclave")));
        assertEquals(
                List.of(false),
                List.of(client.call(new RequestBody.GetChildren("/zookeeper", false), ReplyBody.GetChildren.class)
                        .children()
                        .contains("conclave")));
    }

    @Test
    void descendantsAreCounted() throws IOException {
        int before = client.call(new RequestBody.GetAllChildrenNumber("/"), ReplyBody.GetAllChildrenNumber.class)
                .totalNumber();
        client.call(Requests.create("/a"));
        client.call(Requests.create("/a/b"));
        assertEquals(
                before + 2,
                client.call(new RequestBody.GetAllChildrenNumber("/"), ReplyBody.GetAllChildrenNumber.class)
                        .totalNumber());
    }
}
