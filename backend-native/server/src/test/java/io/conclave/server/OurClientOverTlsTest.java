package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.client.WireBackend;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConnectException;
import io.conclave.error.RefusedException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.session.SessionState;
import io.conclave.session.TlsOptions;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.testkit.tls.TestCertificate;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.LoggerFactory;

/** Our client with TLS at our server: what connects, and why the rest does not. */
@ResourceLock("the level at which refusals are logged")
@Timeout(300)
class OurClientOverTlsTest {
    private static final String PASSWORD = "of a store";
    private static final NodePath NODE = NodePath.of("/x");

    @TempDir
    private Path home;

    private final CertificateAuthority authority = new CertificateAuthority("CN=Authority");
    private final List<AutoCloseable> opened = new ArrayList<>();
    private Path trust;
    private Path own;

    @BeforeEach
    void makeCertificates() {
        trust = authority.writePem(home.resolve("trust.pem"));
        own = authority.issue("CN=server", "localhost", "127.0.0.1").writePem(home.resolve("server.pem"));
    }

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    private ConclaveServer start(String... lines) throws IOException {
        List<String> all = new ArrayList<>(List.of(
                "dataDir=" + home.resolve("data" + opened.size()),
                "clientPort=0",
                "clientPortAddress=localhost",
                "tickTime=1000",
                "preAllocSize=64",
                "secureClientPort=0",
                "ssl.keyStore.location=" + own,
                "ssl.trustStore.location=" + trust));
        all.addAll(List.of(lines));
        ServerConfig config = ConfigFile.read(Files.write(home.resolve("zoo.cfg"), all));
        ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), cause -> {});
        opened.add(server);
        return server;
    }

    private static int securePort(ConclaveServer server) {
        return server.secureClientPort().orElseThrow();
    }

    private Path store(TestCertificate certificate) {
        return certificate.writePem(home.resolve(certificate.subject().replace('=', '-') + ".pem"));
    }

    private Coordinator connect(String address, TlsOptions options) {
        Coordinator client = Coordinator.builder("conclave://" + address)
                .sessionTimeout(Duration.ofSeconds(20))
                .connectTimeout(Duration.ofSeconds(60))
                .tls(options)
                .connect();
        opened.add(client);
        return client;
    }

    private Coordinator connect(int port, TlsOptions options) {
        return connect("localhost:" + port, options);
    }

    /** A session that tries to connect. */
    private static final class Session implements AutoCloseable {
        private final List<SessionState> states = new CopyOnWriteArrayList<>();
        private final WireBackend backend;
        private final BackendSession session;

        Session(String address, Duration timeout, Optional<TlsOptions> options) {
            backend = WireBackend.open(
                    ConnectString.parse("conclave://" + address),
                    new BackendOptions(
                            timeout,
                            TimeSource.system(),
                            task -> new Thread(task).start(),
                            List.of(),
                            Acl.OPEN,
                            100,
                            MetricsHook.NONE,
                            true,
                            options));
            session = backend.openSession(states::add);
        }

        Session(String address, TlsOptions options) {
            this(address, Duration.ofSeconds(20), Optional.of(options));
        }

        /** The reason of the last attempt. */
        String failure() {
            return session.connectFailure()
                    .map(cause -> String.valueOf(cause.getMessage()))
                    .orElse("");
        }

        void awaitFailure(String part) {
            await().until(this::failure, text -> text.contains(part));
        }

        @Override
        public void close() {
            backend.close();
        }
    }

    /** Why a session does not connect. */
    private String refusal(String address, Duration timeout, Optional<TlsOptions> options) {
        try (Session session = new Session(address, timeout, options)) {
            await().until(() -> !session.failure().isEmpty());
            assertFalse(session.states.contains(SessionState.CONNECTED), session.states::toString);
            return session.failure();
        }
    }

    private String refusal(String address, TlsOptions options) {
        return refusal(address, Duration.ofSeconds(20), Optional.of(options));
    }

    private String refusal(int port, TlsOptions options) {
        return refusal("localhost:" + port, options);
    }

    private static void assertNames(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), text + " does not have: " + part);
        }
    }

    @Test
    void withoutACertificateAClientConnectsWhereNoneIsAskedFor() throws Exception {
        ConclaveServer server = start("ssl.clientAuth=none");
        Coordinator client = connect(securePort(server), TlsOptions.trusting(trust));
        byte[] large = new byte[900_000];
        new Random(1).nextBytes(large);
        client.execute(Create.of(NODE).withData(large));
        for (int i = 0; i < 20; i++) {
            assertArrayEquals(large, client.execute(GetData.of(NODE)).data());
        }
    }

    @Test
    void aCertificateIsAnIdThatOwnsWhatItCreates() throws Exception {
        int port = securePort(start());
        TlsOptions trusting = TlsOptions.trusting(trust);
        Path file = authority.issue("CN=bob").writeStore(home.resolve("bob.p12"), "PKCS12", PASSWORD);
        Coordinator bob = connect(port, trusting.keyStore(file, PASSWORD));
        Coordinator eve = connect(port, trusting.keyStore(store(authority.issue("CN=eve"))));
        bob.execute(Create.of(NODE).withAcl(Acl.CREATOR_ONLY));
        assertEquals(0, bob.execute(GetData.of(NODE)).stat().version());
        assertThrows(RefusedException.class, () -> eve.execute(GetData.of(NODE)));
    }

    @Test
    void whatTheServerWantsIsSaidIfTheCertificateIsNotShown() throws Exception {
        int port = securePort(start());
        assertNames(
                refusal(port, TlsOptions.trusting(trust)),
                "localhost:" + port,
                "the server wants a certificate of the client, and this client has none");
        TestCertificate foreign = new CertificateAuthority("CN=Other").issue("CN=stranger");
        assertNames(
                refusal(port, TlsOptions.trusting(trust).keyStore(store(foreign))),
                "the server wants a certificate of an authority that it trusts",
                "CN=stranger (issued by CN=Other");
    }

    @Test
    void onePortTakesClientsWithAndWithoutTls() throws Exception {
        int port = start("ssl.clientAuth=none", "client.portUnification=true")
                .clientPort()
                .orElseThrow();
        Coordinator secure = connect(port, TlsOptions.trusting(trust));
        Coordinator plain = Coordinator.builder("conclave://localhost:" + port).connect();
        opened.add(plain);
        plain.execute(Create.of(NODE));
        assertEquals(0, secure.execute(GetData.of(NODE).linearizable()).stat().version());
    }

    @Test
    void aServerThatCannotBeTrustedIsNamedWithTheReason() throws Exception {
        int port = securePort(start("ssl.clientAuth=none"));
        Path other = new CertificateAuthority("CN=Other").writePem(home.resolve("other.pem"));
        assertNames(
                refusal(port, TlsOptions.trusting(other)),
                "the certificate CN=server (issued by CN=Authority",
                "is not signed by any of the 1 authority in the trust store " + other);
        assertNames(
                refusal(port, TlsOptions.defaults()),
                "the certificate CN=server",
                "the trust store of this Java, since ssl.trustStore.location is not set");
    }

    @Test
    void anExpiredCertificateIsNamedWithTheDay() throws Exception {
        Instant now = Instant.now();
        own = authority
                .issue("CN=server", now.minus(Duration.ofDays(9)), now.minus(Duration.ofDays(2)), "localhost")
                .writePem(home.resolve("expired.pem"));
        int port = securePort(start("ssl.clientAuth=none"));
        assertNames(refusal(port, TlsOptions.trusting(trust)), "the certificate CN=server", "expired on ");
    }

    @Test
    void theNameOfTheServerIsVerifiedUnlessThatIsSwitchedOff() throws Exception {
        own = authority.issue("CN=server", "elsewhere.example").writePem(home.resolve("elsewhere.pem"));
        int port = securePort(start("ssl.clientAuth=none"));
        TlsOptions trusting = TlsOptions.trusting(trust);
        assertNames(refusal(port, trusting), "is for elsewhere.example, not for localhost");
        assertNames(refusal("127.0.0.1:" + port, trusting), "is for elsewhere.example, not for 127.0.0.1");
        connect(port, trusting.verifyHostnames(false));
    }

    @Test
    void aPortWithoutTlsIsToldAndNeverSpokenToWithoutIt() throws Exception {
        int plain = start("ssl.clientAuth=none").clientPort().orElseThrow();
        assertNames(refusal(plain, TlsOptions.trusting(trust)), "localhost:" + plain, "may not speak TLS on this port");
        try (ServerSocket other = new ServerSocket(0, 5, InetAddress.getByName("localhost"))) {
            Thread greeter = new Thread(() -> greet(other));
            greeter.start();
            assertNames(
                    refusal(other.getLocalPort(), TlsOptions.trusting(trust)),
                    "the server does not speak TLS on this port");
            greeter.join();
        }
    }

    private static void greet(ServerSocket other) {
        try (Socket socket = other.accept()) {
            socket.getOutputStream().write("SSH-2.0-server\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().readAllBytes();
        } catch (IOException e) {
            // the client has reset the connection
        }
    }

    @Test
    void aServerThatSaysNothingIsGivenUp() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getByName("localhost"))) {
            assertNames(
                    refusal(
                            "localhost:" + silent.getLocalPort(),
                            Duration.ofSeconds(4),
                            Optional.of(TlsOptions.trusting(trust))),
                    "no answer within 4000 ms: the handshake of TLS is not complete");
        }
    }

    @Test
    void aPlainClientAtASecurePortIsRefused() throws Exception {
        int port = securePort(start("ssl.clientAuth=none"));
        assertNames(
                refusal("localhost:" + port, Duration.ofSeconds(20), Optional.empty()),
                "localhost:" + port,
                "the server closed the connection before it answered: it does not serve now, or it wants TLS on this "
                        + "port");
    }

    @Test
    void filesThatAreReplacedAreUsedByTheNextConnection() throws Exception {
        int port = securePort(start());
        Path trusted = new CertificateAuthority("CN=Other").writePem(home.resolve("trusted.pem"));
        Path shown = new CertificateAuthority("CN=Other").issue("CN=bob").writePem(home.resolve("shown.pem"));
        try (Session session =
                new Session("localhost:" + port, TlsOptions.trusting(trusted).keyStore(shown))) {
            session.awaitFailure("is not signed by any");
            authority.writePem(trusted);
            session.awaitFailure("the server wants a certificate of an authority that it trusts");
            authority.issue("CN=bob").writePem(shown);
            await().until(() -> session.states.contains(SessionState.CONNECTED));
        }
    }

    @Test
    void aServerWhoseCertificateIsRevokedIsRefused() throws Exception {
        CertificateAuthority strict = new CertificateAuthority("CN=Strict", home.resolve("revoked.pem"));
        strict.revoke(strict.issue("CN=another"));
        TestCertificate certificate = strict.issue("CN=server", "localhost");
        own = certificate.writePem(home.resolve("own.pem"));
        Properties lines = new Properties();
        lines.setProperty(
                "ssl.trustStore.location",
                strict.writePem(home.resolve("strict.pem")).toString());
        TlsOptions lenient = TlsOptions.fromProperties(lines);
        lines.setProperty("ssl.crl", "true");
        TlsOptions options = TlsOptions.fromProperties(lines);
        int port = securePort(start("ssl.clientAuth=none"));
        connect(port, options);
        CertificateAuthority without = new CertificateAuthority("CN=Without", home.resolve("missing.pem"));
        own = without.issue("CN=server", "localhost").writePem(home.resolve("own.pem"));
        lines.setProperty(
                "ssl.trustStore.location",
                without.writePem(home.resolve("without.pem")).toString());
        String unknown = refusal(securePort(start("ssl.clientAuth=none")), TlsOptions.fromProperties(lines));
        assertNames(unknown, "CN=server"); // Java names the missing list at its first look at it only
        assertTrue(unknown.contains("missing.pem") || unknown.contains("revocation status"), unknown);
        CertificateAuthority other = new CertificateAuthority("CN=Strict", home.resolve("revoked too.pem"));
        TestCertificate revoked = other.issue("CN=server", "localhost");
        other.revoke(revoked);
        own = revoked.writePem(home.resolve("own.pem"));
        lines.setProperty(
                "ssl.trustStore.location",
                other.writePem(home.resolve("other.pem")).toString());
        int another = securePort(start("ssl.clientAuth=none"));
        assertNames(refusal(another, TlsOptions.fromProperties(lines)), "CN=server", "has been revoked");
        connect(port, lenient);
    }

    @Test
    void aClientWhoseCertificateIsRevokedIsRefused() throws Exception {
        CertificateAuthority strict = new CertificateAuthority("CN=Strict", home.resolve("revoked.pem"));
        TestCertificate good = strict.issue("CN=good");
        TestCertificate revoked = strict.issue("CN=revoked");
        strict.revoke(revoked);
        TlsOptions trusting = TlsOptions.trusting(trust);
        trust = strict.writePem(home.resolve("strict.pem"));
        int port = securePort(start("ssl.crl=true"));
        connect(port, trusting.keyStore(store(good)));
        Logger logger = (Logger) LoggerFactory.getLogger("io.conclave.connection.Refusals");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.list = new CopyOnWriteArrayList<>();
        log.start();
        logger.setLevel(Level.WARN); // simulations in this JVM turn all off
        logger.addAppender(log);
        try {
            assertNames(refusal(port, trusting.keyStore(store(revoked))), "the server refused", "CN=revoked");
            await().until(() -> log.list.stream()
                    .map(ILoggingEvent::getFormattedMessage)
                    .anyMatch(line -> line.contains("CN=revoked") && line.contains("has been revoked")));
        } finally {
            logger.detachAppender(log);
            logger.setLevel(null);
        }
    }

    private static String ask(int port, String word) throws IOException {
        try (Socket socket = new Socket(InetAddress.getByName("localhost"), port)) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void wordsTellOfConnectionsWithTls() throws Exception {
        ConclaveServer server = start("ssl.clientAuth=none", "4lw.commands.whitelist=*");
        int plain = server.clientPort().orElseThrow();
        Coordinator client = connect(securePort(server), TlsOptions.trusting(trust));
        assertNames(ask(plain, "mntr"), "zk_conclave_secure_connections\t1\n");
        long before = TestServer.metric(
                server, "zk_unsuccessful_handshake"); // more than none if the first attempt of the client took too long
        assertTrue(ask(plain, "cons").lines().anyMatch(line -> line.contains("sid=0x")));
        refusal("localhost:" + securePort(server), Duration.ofSeconds(20), Optional.empty());
        await().until(() -> TestServer.metric(server, "zk_unsuccessful_handshake") > before);
        try (Socket silent = new Socket(InetAddress.getByName("localhost"), securePort(server))) {
            await().until(() -> ask(plain, "mntr"), text -> text.contains("zk_outstanding_tls_handshake\t1\n"));
        }
        client.close();
        await().until(
                        () -> ask(plain, "mntr"),
                        text -> text.contains("zk_conclave_secure_connections\t0\n")
                                && text.contains("zk_outstanding_tls_handshake\t0\n"));
        assertNames(ask(plain, "conf"), "secureClientPort=0\n");
    }

    @Test
    void filesThatCannotBeUsedAreNamedAtOnce() {
        Path missing = home.resolve("missing.pem");
        assertNames(
                message(TlsOptions.trusting(missing)),
                "Cannot use TLS: ssl.trustStore.location " + missing,
                "there is no such file");
        assertNames(message(TlsOptions.trusting(home.resolve("trust"))), "its type is not known");
        Path jks = authority.writeStore(home.resolve("t.jks"), "JKS", PASSWORD);
        assertNames(message(TlsOptions.defaults().trustStore(jks, "wrong")), jks.toString(), "its password is wrong");
        Properties properties = new Properties();
        properties.setProperty("zookeeper.ssl.enabledProtocols", "TLSv9");
        assertNames(message(TlsOptions.fromProperties(properties)), "ssl.enabledProtocols", "TLSv9");
    }

    private String message(TlsOptions options) {
        return String.valueOf(
                assertThrows(ConnectException.class, () -> connect(1, options)).getMessage());
    }
}
