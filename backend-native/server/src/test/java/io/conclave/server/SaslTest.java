package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.conclave.connection.ClientLimit;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.Perms;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.sasl.RealmCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** DIGEST-MD5 with a server, token by token. */
@ResourceLock("the JAAS configuration of the JVM")
class SaslTest {
    private static final String PASSWORD = "pw-of-bob-7351";

    @AfterAll
    static void removeSections() {
        JaasSections.clear();
    }

    @BeforeAll
    static void installSections() {
        JaasSections.set(Map.of(
                "Users",
                        JaasSections.section(
                                JaasSections.DIGEST_MODULE,
                                Map.of("user_bob", PASSWORD, "user_root", "pw-of-root-7351")),
                "Other", JaasSections.section("com.example.Module", Map.of("password", PASSWORD))));
    }

    private static ConclaveServer server(boolean keepsFailed, String... enforced) {
        return server("Users", keepsFailed, enforced);
    }

    private static ConclaveServer server(String section, boolean keepsFailed, String... enforced) {
        return TestServer.start(config(section, keepsFailed, enforced).build());
    }

    private static ServerConfig.Builder config(String section, boolean keepsFailed, String... enforced) {
        return TestServer.config()
                .clientAuth(new ClientAuthConfig(
                        "SHA1",
                        Set.of(enforced),
                        keepsFailed,
                        Set.of("root"),
                        Optional.of(section),
                        false,
                        false,
                        false,
                        ""));
    }

    private static SaslClient client(String user, String password) throws IOException {
        return Sasl.createSaslClient(
                new String[] {"DIGEST-MD5"}, null, "zookeeper", "zk-sasl-md5", Map.of(), callbacks -> {
                    for (Callback callback : callbacks) {
                        if (callback instanceof NameCallback name) {
                            name.setName(user);
                        } else if (callback instanceof PasswordCallback secret) {
                            secret.setPassword(password.toCharArray());
                        } else if (callback instanceof RealmCallback realm) {
                            realm.setText(realm.getDefaultText());
                        }
                    }
                });
    }

    /** Everything up to the client's last token, which is returned. */
    private static byte[] lastToken(RawClient client, SaslClient mechanism) throws IOException {
        ReplyBody.Sasl challenge = client.call(new ConnectionRequest.Sasl(new byte[0]), ReplyBody.Sasl.class);
        return mechanism.evaluateChallenge(challenge.token());
    }

    private static RawClient proved(ConclaveServer server, String user, String password) throws IOException {
        RawClient client = RawClient.attached(TestServer.port(server), 60_000);
        SaslClient mechanism = client(user, password);
        byte[] token = lastToken(client, mechanism);
        mechanism.evaluateChallenge(client.call(new ConnectionRequest.Sasl(token), ReplyBody.Sasl.class)
                .token());
        assertTrue(mechanism.isComplete());
        return client;
    }

    /** -115 with no token, as ZooKeeper answers, and the end of the connection. */
    private static void assertRefused(RawClient client, byte[] token) throws IOException {
        assertEquals(
                -115, client.call(new ConnectionRequest.Sasl(token)).header().err());
        assertTrue(client.isClosedByServer());
    }

    @Test
    void aUserWithItsPasswordHasTheIdOfItsName() throws IOException {
        try (ConclaveServer server = server(false);
                RawClient bob = proved(server, "bob", PASSWORD);
                RawClient root = proved(server, "root", "pw-of-root-7351");
                RawClient stranger = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(
                    0,
                    bob.call(Requests.create("/mine", List.of(new AclRecord(Perms.ALL, "auth", ""))))
                            .header()
                            .err());
            AclRecord entry = bob.call(new RequestBody.GetAcl("/mine"), ReplyBody.GetAcl.class)
                    .acl()
                    .get(0);
            assertEquals(new AclRecord(Perms.ALL, "sasl", "bob"), entry);
            assertEquals(-102, stranger.call(Requests.get("/mine")).header().err());
            assertEquals(0, root.call(Requests.get("/mine")).header().err());
            assertEquals(
                    List.of("ip", "sasl"),
                    bob.call(new ConnectionRequest.Empty(OpCode.WHO_AM_I), ReplyBody.WhoAmI.class).clientInfo().stream()
                            .map(info -> info.scheme())
                            .toList());
        }
    }

    @Test
    void requestsBehindATokenSeeWhatItHasProved() throws IOException {
        try (ConclaveServer server = server(false, "sasl");
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            SaslClient mechanism = client("bob", PASSWORD);
            byte[] token = lastToken(client, mechanism);
            client.send(new ConnectionRequest.Sasl(token), Requests.create("/a"), Requests.get("/a"));
            assertEquals(0, client.read().header().err());
            assertEquals(0, client.read().header().err());
            assertEquals(0, client.read().header().err());
        }
    }

    @Test
    void anExchangeMayComeAfterRequests() throws IOException {
        try (ConclaveServer server = server(false);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.create("/a"));
            byte[] token = lastToken(client, client("bob", PASSWORD));
            client.send(Requests.set("/a", "x"), new ConnectionRequest.Sasl(token), Requests.get("/a"));
            assertEquals(0, client.read().header().err());
            assertEquals(0, client.read().header().err());
            assertEquals(0, client.read().header().err());
        }
    }

    @Test
    void wrongPasswordsAndUnknownUsersAreRefusedAndNoSecretIsLogged() throws IOException {
        List<String> lines = new CopyOnWriteArrayList<>();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                lines.add(event.getThreadName() + " " + event.getFormattedMessage() + " "
                        + (event.getThrowableProxy() == null
                                ? ""
                                : event.getThrowableProxy().getMessage()));
            }
        };
        appender.start();
        Logger logger = (Logger) LoggerFactory.getLogger("io.conclave");
        Level before = logger.getLevel();
        logger.setLevel(Level.TRACE);
        logger.addAppender(appender);
        try (ConclaveServer server = server(false)) {
            for (String user : List.of("e".repeat(3_000), "bob", "eve\n13:00:00 INFO forged")) {
                try (RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
                    assertRefused(client, lastToken(client, client(user, "wrong-7351")));
                }
            }
            proved(server, "bob", PASSWORD).close();
        } finally {
            logger.detachAppender(appender);
            logger.setLevel(before);
        }
        assertTrue(lines.stream().noneMatch(line -> line.contains("\n13:00:00 INFO forged")), "a line of a stranger's");
        assertTrue(lines.stream().anyMatch(line -> line.contains("SASL has failed: ")), lines::toString);
        assertTrue(lines.stream().allMatch(line -> line.length() < 1_000), "a long name of a stranger's");
        assertFalse(lines.stream().anyMatch(line -> line.contains("7351")), lines::toString);
        assertFalse(
                new ClientAuthConfig("SHA1", Set.of(), false, Set.of(), Optional.of("Users"), false, false, false, "")
                        .toString()
                        .contains("7351"));
    }

    @Test
    void tokensThatAreHugeOrOutOfTurnAreRefused() throws IOException {
        try (ConclaveServer server = server(false)) {
            try (RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
                assertRefused(client, new byte[70_000]);
            }
            try (RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
                assertRefused(client, Requests.bytes("username=\"bob\""));
            }
            try (RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
                client.call(new ConnectionRequest.Sasl(new byte[0]));
                assertRefused(client, new byte[0]);
            }
            try (RawClient client = proved(server, "bob", PASSWORD)) {
                assertRefused(client, new byte[0]);
            }
        }
    }

    /** The proof is right: nothing but the bound refuses it. */
    @ParameterizedTest
    @CsvSource({
        "SASL_TOKEN_BYTES, 100, zk_conclave_refused_sasl_token_bytes",
        "SASL_STEPS, 1, zk_conclave_refused_sasl_steps"
    })
    void theBytesAndTheNumberOfTokensAreBounded(ClientLimit limit, long most, String metric) throws IOException {
        ServerConfig config = config("Users", false)
                .clientLimit(limit, most)
                .commandWhitelist(Set.of("mntr"))
                .build();
        try (ConclaveServer server = TestServer.start(config);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            assertRefused(client, lastToken(client, client("bob", PASSWORD)));
            assertEquals(1, TestServer.metric(server, metric));
        }
    }

    @Test
    void aClientThatHasFailedStaysIfThatIsConfigured() throws IOException {
        try (ConclaveServer server = server(true);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            byte[] token = lastToken(client, client("bob", "wrong"));
            assertNull(client.call(new ConnectionRequest.Sasl(token), ReplyBody.Sasl.class)
                    .token());
            assertEquals(
                    -114,
                    client.call(Requests.create("/mine", List.of(new AclRecord(Perms.ALL, "auth", ""))))
                            .header()
                            .err());
            assertEquals(0, client.call(Requests.create("/a")).header().err());
        }
    }

    @Test
    void whereSaslIsEnforcedAFailureSaysSo() throws IOException {
        try (ConclaveServer server = server(true, "sasl");
                RawClient client = RawClient.attached(TestServer.port(server), 60_000);
                RawClient digest = RawClient.attached(TestServer.port(server), 60_000)) {
            byte[] token = lastToken(client, client("bob", "wrong"));
            assertEquals(
                    -124,
                    client.call(new ConnectionRequest.Sasl(token)).header().err());
            assertTrue(client.isClosedByServer());
            digest.call(Requests.digest("bob:" + PASSWORD));
            assertEquals(-124, digest.call(Requests.get("/")).header().err());
        }
    }

    @Test
    void aSectionThatCannotBeUsedIsNamedAtTheStart() {
        String missing = assertThrows(ServerStartException.class, () -> server("Nothing", false))
                .getMessage();
        assertTrue(missing.contains("has no section Nothing"), missing);
        String other = assertThrows(ServerStartException.class, () -> server("Other", false))
                .getMessage();
        assertTrue(other.contains("com.example.Module") && !other.contains(PASSWORD), other);
    }

    @Test
    void idsOfPrincipalsLoseWhatIsConfigured() {
        Optional<String> own = Optional.of("HERE");
        PrincipalRules none = PrincipalRules.of("");
        PrincipalName bob = PrincipalName.of("bob/host@HERE");
        assertEquals("bob/host@HERE", bob.id(none, false, false, own));
        assertEquals("bob@HERE", bob.id(none, true, false, own));
        assertEquals("bob/host", bob.id(none, false, true, own));
        assertEquals("bob", bob.id(none, true, true, own));
        assertEquals("bob@THERE", PrincipalName.of("bob@THERE").id(none, true, true, own), "not the server's realm");
        assertThrows(IllegalArgumentException.class, () -> PrincipalName.of("a@b@c"));
    }
}
