package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.AuthRequest;
import io.conclave.protocol.CheckVersionRequest;
import io.conclave.protocol.Create2Reply;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.CreateReply;
import io.conclave.protocol.CreateRequest;
import io.conclave.protocol.EmptyRequest;
import io.conclave.protocol.ErrorReply;
import io.conclave.protocol.GetAclReply;
import io.conclave.protocol.GetAclRequest;
import io.conclave.protocol.GetAllChildrenNumberReply;
import io.conclave.protocol.GetAllChildrenNumberRequest;
import io.conclave.protocol.GetChildrenReply;
import io.conclave.protocol.GetChildrenRequest;
import io.conclave.protocol.GetDataReply;
import io.conclave.protocol.MultiReply;
import io.conclave.protocol.MultiRequest;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.Perms;
import io.conclave.protocol.ReconfigRequest;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.SaslReply;
import io.conclave.protocol.SaslRequest;
import io.conclave.protocol.WhoAmIReply;
import io.conclave.testkit.ManualTimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RequestTest {
    private static final String ADMIN_SECRET_DIGEST = "admin:fvr2cB/fjGeAiX8g1aGhUm3ZICk=";

    private ManualTimeSource time;
    private ConclaveServer server;
    private RawClient client;

    @BeforeEach
    void start() throws IOException {
        time = new ManualTimeSource();
        server = ConclaveServer.start(TestServer.config().build(), time, cause -> {});
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
        MultiReply reply = client.call(
                new MultiRequest(
                        OpCode.MULTI,
                        List.of(
                                Requests.create("/m"),
                                Requests.set("/m", "x"),
                                new CheckVersionRequest("/m", 1),
                                Requests.delete("/m"))),
                MultiReply.class);
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
        CreateRequest ttl = new CreateRequest(OpCode.CREATE_TTL, "/t", null, AclRecord.OPEN, 5, 1000);
        assertEquals(List.of(0, -6), codes(Requests.create("/m"), ttl));
    }

    private List<Integer> codes(RequestBody... parts) throws IOException {
        return client.call(new MultiRequest(OpCode.MULTI, List.of(parts)), MultiReply.class).results().stream()
                .map(result -> ((ErrorReply) result.body()).err())
                .toList();
    }

    @Test
    void aMultiOfReadsReportsErrorsOneByOne() throws IOException {
        MultiReply reply = client.call(
                new MultiRequest(
                        OpCode.MULTI_READ,
                        List.of(Requests.get("/"), Requests.get("/missing"), new GetChildrenRequest("/", false))),
                MultiReply.class);
        assertEquals(
                List.of(OpCode.GET_DATA, OpCode.ERROR, OpCode.GET_CHILDREN),
                reply.results().stream().map(result -> result.opCode()).toList());
    }

    @Test
    void containersAreMadeByTheirOwnRequestAndByFlagAndReapedWhenTheyHaveBecomeEmpty() throws IOException {
        client.call(
                new CreateRequest(OpCode.CREATE_CONTAINER, "/locks", new byte[0], AclRecord.OPEN, CreateFlag.CONTAINER),
                Create2Reply.class);
        client.call(Requests.create("/never-used", CreateFlag.CONTAINER), CreateReply.class);
        client.call(Requests.create("/locks/one"));
        time.advance(Duration.ofMillis(50_000));
        client.call(Requests.ping());
        time.advance(Duration.ofMillis(11_000));
        assertEquals(0, error(Requests.exists("/locks")));
        client.call(Requests.delete("/locks/one"));
        time.advanceUntil(Duration.ofSeconds(1), () -> error(Requests.exists("/locks")) == -101);
        assertEquals(0, error(Requests.exists("/never-used")));
    }

    @Test
    void nodesWithATimeToLiveAreUnimplementedAsInZooKeeperByDefault() throws IOException {
        assertEquals(-6, error(new CreateRequest(OpCode.CREATE_TTL, "/t", null, AclRecord.OPEN, 5, 1000)));
        assertEquals(-6, error(Requests.create("/t", CreateFlag.TTL)));
        assertEquals(-8, error(new CreateRequest(OpCode.CREATE, "/t", null, AclRecord.OPEN, 77, 0)));
        assertEquals(0, error(Requests.exists("/")));
    }

    @Test
    void digestProvesAnIdAndGetAclHidesItsDigestFromStrangers() throws IOException {
        assertEquals(0, error(Requests.digest("me:secret")));
        client.call(Requests.create("/mine", List.of(new AclRecord(Perms.ALL, "auth", ""))), CreateReply.class);
        client.call(Requests.create(
                "/shown", List.of(new AclRecord(Perms.ALL, "auth", ""), new AclRecord(Perms.READ, "world", "anyone"))));
        String own = client.call(new GetAclRequest("/mine"), GetAclReply.class)
                .acl()
                .get(0)
                .id();
        assertTrue(own.startsWith("me:") && own.length() > 20, own);
        assertEquals(
                List.of("ip", "digest"),
                client.call(new EmptyRequest(OpCode.WHO_AM_I), WhoAmIReply.class).clientInfo().stream()
                        .map(info -> info.scheme())
                        .toList());
        try (RawClient stranger = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(-102, stranger.call(Requests.get("/mine")).header().err());
            assertEquals(
                    "me:x",
                    stranger.call(new GetAclRequest("/shown"), GetAclReply.class)
                            .acl()
                            .get(0)
                            .id());
        }
    }

    @Test
    void whoseDigestTheConfigurationNamesIsSuperAndTheUserToo() throws IOException {
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

    private static ReconfigRequest joining(long expectedVersion) {
        return new ReconfigRequest("server.2=localhost:1:observer", "", null, expectedVersion);
    }

    @Test
    void anUnknownSchemeFailsAndEndsTheConnection() throws IOException {
        assertEquals(-115, error(new AuthRequest(0, "kerberos", Requests.bytes("x"))));
        assertTrue(client.isClosedByServer());
    }

    @Test
    void saslIsAnsweredAsByAServerWithoutIt() throws IOException {
        assertEquals(
                null, client.call(new SaslRequest(new byte[3]), SaslReply.class).token());
    }

    @Test
    void theReservedNodeTellsWhoTheClusterIsAndIsNoOrdinaryNode() throws IOException {
        String text = new String(
                client.call(Requests.get("/zookeeper/conclave"), GetDataReply.class)
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
                List.of(client.call(new GetChildrenRequest("/zookeeper", false), GetChildrenReply.class)
                        .children()
                        .contains("conclave")));
    }

    @Test
    void descendantsAreCounted() throws IOException {
        int before = client.call(new GetAllChildrenNumberRequest("/"), GetAllChildrenNumberReply.class)
                .totalNumber();
        client.call(Requests.create("/a"));
        client.call(Requests.create("/a/b"));
        assertEquals(
                before + 2,
                client.call(new GetAllChildrenNumberRequest("/"), GetAllChildrenNumberReply.class)
                        .totalNumber());
    }
}
