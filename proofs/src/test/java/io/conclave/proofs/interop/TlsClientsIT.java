package io.conclave.proofs.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.server.ServerConfig;
import io.conclave.server.ServerStartException;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.testkit.tls.TestCertificate;
import io.conclave.time.TimeSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The official client 3.9.5, Curator and kazoo on our server with TLS, with and without certificates of their own. */
@Timeout(300)
class TlsClientsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int TIMEOUT_MS = 20_000;
    private static final String PASSWORD = "of a store";

    @TempDir
    private Path home;

    private final CertificateAuthority authority = new CertificateAuthority("CN=Authority");
    private final List<AutoCloseable> opened = new ArrayList<>();
    private Path trust;
    private Path own;
    private ConclaveServer server;

    @BeforeEach
    void makeCertificates() {
        trust = authority.writeStore(home.resolve("trust.p12"), "PKCS12", PASSWORD);
        own = authority.issue("CN=server", "localhost", "127.0.0.1").writePem(home.resolve("server.pem"));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened) {
            one.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private void start(String... lines) throws IOException {
        List<String> all = new ArrayList<>(List.of(
                "dataDir=" + home.resolve("data"),
                "clientPort=0",
                "clientPortAddress=localhost",
                "4lw.commands.whitelist=*",
                "preAllocSize=64",
                "ssl.keyStore.location=" + own,
                "ssl.trustStore.location=" + trust,
                "ssl.trustStore.password=" + PASSWORD));
        all.addAll(List.of(lines));
        ServerConfig config = ConfigFile.read(Files.write(home.resolve("zoo.cfg"), all));
        server = ConclaveServer.start(config, TimeSource.system(), cause -> {});
    }

    private int securePort() {
        return server.secureClientPort().orElseThrow();
    }

    private static ZKClientConfig plain() {
        return new ZKClientConfig();
    }

    private ZKClientConfig secure() {
        return trusting(trust);
    }

    private static ZKClientConfig trusting(Path store) {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty("zookeeper.client.secure", "true");
        config.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        config.setProperty("zookeeper.ssl.trustStore.location", store.toString());
        config.setProperty("zookeeper.ssl.trustStore.password", PASSWORD);
        return config;
    }

    private ZKClientConfig with(TestCertificate certificate) {
        Path store = certificate.writeStore(
                home.resolve(certificate.subject().replace('=', '-') + ".p12"), "PKCS12", PASSWORD);
        ZKClientConfig config = secure();
        config.setProperty("zookeeper.ssl.keyStore.location", store.toString());
        config.setProperty("zookeeper.ssl.keyStore.password", PASSWORD);
        return config;
    }

    private ZooKeeper open(int port, ZKClientConfig config, CountDownLatch connected) throws IOException {
        ZooKeeper client = new ZooKeeper(
                "localhost:" + port,
                TIMEOUT_MS,
                event -> {
                    if (event.getState() == KeeperState.SyncConnected) {
                        connected.countDown();
                    }
                },
                config);
        opened.add(client);
        return client;
    }

    private ZooKeeper connected(int port, ZKClientConfig config) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = open(port, config, connected);
        assertTrue(connected.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS), "not connected");
        return client;
    }

    private void assertRefused(int port, ZKClientConfig config) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = open(port, config, connected);
        assertTrue(!connected.await(4, TimeUnit.SECONDS), "connected");
        client.close();
    }

    @Test
    void aCertificateIsAnIdThatOwnsWhatItCreates() throws Exception {
        start("secureClientPort=0");
        ZooKeeper bob = connected(securePort(), with(authority.issue("CN=bob")));
        ZooKeeper eve = connected(securePort(), with(authority.issue("CN=eve")));
        bob.create("/bobs", new byte[] {1}, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        assertEquals("x509", bob.getACL("/bobs", null).get(0).getId().getScheme());
        assertEquals("CN=bob", bob.getACL("/bobs", null).get(0).getId().getId());
        assertArrayEquals(new byte[] {1}, bob.getData("/bobs", false, null));
        assertThrows(KeeperException.NoAuthException.class, () -> eve.getData("/bobs", false, null));
    }

    @Test
    void theSuperUserIsToldByItsCertificate() throws Exception {
        start("secureClientPort=0", "X509AuthenticationProvider.superUser=CN=root");
        ZooKeeper bob = connected(securePort(), with(authority.issue("CN=bob")));
        bob.create("/bobs", new byte[] {1}, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        ZooKeeper root = connected(securePort(), with(authority.issue("CN=root")));
        assertArrayEquals(new byte[] {1}, root.getData("/bobs", false, null));
    }

    @Test
    void withoutACertificateOneIsRefusedOrHasNoId() throws Exception {
        start("secureClientPort=0");
        assertRefused(securePort(), secure());
        server.close();
        start("secureClientPort=0", "ssl.clientAuth=want");
        ZooKeeper nobody = connected(securePort(), secure());
        nobody.create("/open", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        assertThrows(
                KeeperException.InvalidACLException.class,
                () -> nobody.create("/mine", new byte[0], Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT));
    }

    @Test
    void kazooConnectsWithAndWithoutACertificate() throws Exception {
        start("secureClientPort=0", "ssl.clientAuth=want");
        Path others = new CertificateAuthority("CN=Others").writePem(home.resolve("others.pem"));
        Process kazoo = Kazoo.start(
                "kazoo_tls_check.py",
                "localhost:" + securePort(),
                authority.writePem(home.resolve("trust.pem")).toString(),
                authority.issue("CN=bob").writePem(home.resolve("bob.pem")).toString(),
                others.toString());
        try (BufferedReader answers = kazoo.inputReader(StandardCharsets.UTF_8)) {
            List<String> lines = answers.lines().toList();
            assertTrue(lines.stream().allMatch(line -> line.startsWith("ok ")), lines::toString);
            assertEquals(4, lines.size());
        } finally {
            kazoo.destroyForcibly();
        }
    }

    @Test
    void onePortTakesBothAndOthersTakeOne() throws Exception {
        start("secureClientPort=0", "client.portUnification=true", "ssl.clientAuth=none");
        int both = server.clientPort().orElseThrow();
        ZooKeeper plain = connected(both, plain());
        ZooKeeper secure = connected(both, secure());
        plain.create("/x", new byte[] {7}, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        secure.sync("/", (rc, path, ctx) -> {}, null);
        await().atMost(PATIENCE).until(() -> secure.exists("/x", false) != null);
        assertRefused(securePort(), plain());
        server.close();
        start("secureClientPort=0", "ssl.clientAuth=none");
        assertRefused(server.clientPort().orElseThrow(), secure());
        connected(server.clientPort().orElseThrow(), plain());
    }

    @Test
    void aClientRefusesAServerThatItCannotTrust() throws Exception {
        start("secureClientPort=0", "ssl.clientAuth=none");
        Path others = new CertificateAuthority("CN=Other").writeStore(home.resolve("others.p12"), "PKCS12", PASSWORD);
        assertRefused(securePort(), trusting(others));
        server.close();
        own = authority.issue("CN=server", "elsewhere").writePem(home.resolve("elsewhere.pem"));
        start("secureClientPort=0", "ssl.clientAuth=none");
        assertRefused(securePort(), secure());
    }

    @Test
    void aCertificateThatIsReplacedIsUsedWithoutARestart() throws Exception {
        start("secureClientPort=0", "ssl.clientAuth=none", "client.certReload=true");
        ZooKeeper before = connected(securePort(), secure());
        CertificateAuthority next = new CertificateAuthority("CN=Next");
        Path trustsNext = next.writeStore(home.resolve("next.p12"), "PKCS12", PASSWORD);
        Path file = next.issue("CN=server", "localhost").writePem(home.resolve("new.pem"));
        Files.move(file, own, StandardCopyOption.REPLACE_EXISTING);
        connected(securePort(), trusting(trustsNext));
        before.create("/still", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        assertRefused(securePort(), secure());
    }

    @Test
    void muchGoesThroughBothWays() throws Exception {
        start("secureClientPort=0", "ssl.clientAuth=none");
        ZooKeeper client = connected(securePort(), secure());
        byte[] large = new byte[900_000];
        new Random(1).nextBytes(large);
        client.create("/large", large, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        CountDownLatch read = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            client.getData(
                    "/large",
                    false,
                    (rc, path, ctx, data, stat) -> {
                        if (rc == 0 && java.util.Arrays.equals(large, data)) {
                            read.countDown();
                        }
                    },
                    null);
        }
        assertTrue(read.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS), read + " are missing");
        CountDownLatch written = new CountDownLatch(5_000);
        for (int i = 0; i < 5_000; i++) {
            client.setData(
                    "/large",
                    new byte[] {(byte) i},
                    -1,
                    (rc, path, ctx, stat) -> {
                        if (rc == 0) {
                            written.countDown();
                        }
                    },
                    null);
        }
        assertTrue(written.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS), written + " are missing");
    }

    @Test
    void curatorConnectsWithACertificate() throws Exception {
        start("secureClientPort=0");
        try (CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString("localhost:" + securePort())
                .retryPolicy(new RetryOneTime(100))
                .zkClientConfig(with(authority.issue("CN=bob")))
                .build()) {
            curator.start();
            assertTrue(curator.blockUntilConnected(60, TimeUnit.SECONDS));
            curator.create().withACL(Ids.CREATOR_ALL_ACL).forPath("/curator", new byte[] {1});
            assertArrayEquals(new byte[] {1}, curator.getData().forPath("/curator"));
        }
    }

    /**
     * A server takes a client that is slow to begin for as long as a handshake may take, and no word of it costs more.
     */
    @Test
    void aStrangerThatSaysNothingIsSentAway() throws Exception {
        start("secureClientPort=0");
        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), securePort())) {
            silent.setSoTimeout(60_000);
            silent.getOutputStream().write("ruok".getBytes(StandardCharsets.US_ASCII));
            assertEquals(-1, silent.getInputStream().read(), "a word without TLS");
        }
        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), securePort())) {
            silent.setSoTimeout(60_000);
            silent.getOutputStream().write(0x16);
            assertEquals(-1, silent.getInputStream().read(), "a handshake that does not go on");
        }
    }

    @Test
    void wordsAreAnsweredOverTls() throws Exception {
        start("secureClientPort=0", "ssl.clientAuth=none");
        KeyStore store = KeyStore.getInstance(trust.toFile(), PASSWORD.toCharArray());
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, managers.getTrustManagers(), null);
        for (String word : List.of("ruok", "srvr", "mntr")) {
            try (Socket socket = tls.getSocketFactory().createSocket("localhost", securePort())) {
                socket.setSoTimeout(60_000);
                socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
                String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertTrue(answer.equals("imok") || answer.contains("onclave"), answer);
            }
        }
    }

    @Test
    void aStoreThatCannotBeUsedStopsTheStart() throws Exception {
        own = home.resolve("missing.pem");
        ServerStartException e = assertThrows(ServerStartException.class, () -> start("secureClientPort=0"));
        assertTrue(String.valueOf(e.getMessage()).contains("ssl.keyStore.location"), e.getMessage());
        assertTrue(String.valueOf(e.getMessage()).contains("missing.pem"), e.getMessage());
        assertEquals(Optional.empty(), Optional.ofNullable(server));
    }
}
