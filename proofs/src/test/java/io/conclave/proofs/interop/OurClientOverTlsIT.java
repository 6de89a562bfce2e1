package io.conclave.proofs.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConnectException;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencedGrant;
import io.conclave.locks.DistributedLock;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.session.TlsOptions;
import io.conclave.testkit.tls.CertificateAuthority;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.auth.X509AuthenticationProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Our client at the secure port of Apache ZooKeeper 3.9.5. */
@Isolated("sets ZooKeeper's properties of the JVM")
@Timeout(300)
class OurClientOverTlsIT {
    private static final String PASSWORD = "of a store";
    private static final String X509 = "zookeeper.authProvider.x509";

    @TempDir
    private Path home;

    private final CertificateAuthority authority = new CertificateAuthority("CN=Authority");
    private final Map<String, String> before = new TreeMap<>();
    private ZooKeeperServer server;
    private ServerCnxnFactory connections;
    private Path trust;

    @BeforeEach
    void start() throws Exception {
        trust = authority.writePem(home.resolve("trust.pem"));
        Path own = authority.issue("CN=server", "localhost").writeStore(home.resolve("own.p12"), "PKCS12", PASSWORD);
        ApacheZooKeeper.prepareJvm();
        set("zookeeper.serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
        set("zookeeper.ssl.keyStore.location", own.toString());
        set("zookeeper.ssl.keyStore.password", PASSWORD);
        set("zookeeper.ssl.trustStore.location", trust.toString());
        set("zookeeper.ssl.clientHostnameVerification", "false");
        set(X509, X509AuthenticationProvider.class.getName());
        ProviderRegistry.addOrUpdateProvider(X509); // another server of this JVM may have read them before
        Path data = home.resolve("data");
        server = new ZooKeeperServer(data.toFile(), data.toFile(), 1000);
        connections = ServerCnxnFactory.createFactory();
        connections.configure(new InetSocketAddress(InetAddress.getByName("localhost"), 0), 0, -1, true);
        connections.startup(server);
    }

    private void set(String key, String value) {
        before.put(key, System.getProperty(key, ""));
        System.setProperty(key, value);
    }

    @AfterEach
    void stop() {
        connections.shutdown();
        server.shutdown(true);
        before.forEach((key, value) -> {
            if (value.isEmpty()) {
                System.clearProperty(key);
            } else {
                System.setProperty(key, value);
            }
        });
    }

    private Coordinator connect(TlsOptions options, Duration timeout) {
        return Coordinator.builder("zookeeper://localhost:" + connections.getLocalPort())
                .sessionTimeout(Duration.ofSeconds(20))
                .connectTimeout(timeout)
                .tls(options)
                .connect();
    }

    private TlsOptions as(String subject) {
        return TlsOptions.trusting(trust)
                .keyStore(authority.issue(subject).writePem(home.resolve(subject.substring(3) + ".pem")));
    }

    @Test
    void itsCertificateIsAnIdAndItsLocksHold() throws Exception {
        Duration patience = Duration.ofSeconds(60);
        try (Coordinator bob = connect(as("CN=bob"), patience);
                Coordinator eve = connect(as("CN=eve"), patience)) {
            NodePath path = NodePath.of("/bobs");
            bob.execute(Create.of(path).withAcl(Acl.CREATOR_ONLY));
            assertEquals(0, bob.execute(GetData.of(path)).stat().version());
            assertThrows(RefusedException.class, () -> eve.execute(GetData.of(path)));
            DistributedLock first = DistributedLock.at(bob, "/lock");
            DistributedLock second = DistributedLock.at(eve, "/lock");
            try (FencedGrant held = first.acquire()) {
                assertTrue(second.tryAcquire().isEmpty());
                assertTrue(held.isHeld());
            }
            try (FencedGrant held = second.acquire(patience)) {
                assertTrue(held.isHeld());
            }
        }
    }

    @Test
    void settingsOfItsOwnClientAreTaken() {
        Path store = authority.issue("CN=bob").writeStore(home.resolve("bob.jks"), "JKS", PASSWORD);
        Properties settings = new Properties();
        settings.setProperty("zookeeper.client.secure", "true");
        settings.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        settings.setProperty("zookeeper.ssl.trustStore.location", trust.toString());
        settings.setProperty("zookeeper.ssl.keyStore.location", store.toString());
        settings.setProperty("zookeeper.ssl.keyStore.password", PASSWORD);
        connect(TlsOptions.fromProperties(settings), Duration.ofSeconds(60)).close();
    }

    @Test
    void whyItIsRefusedIsSaid() {
        Duration some = Duration.ofSeconds(15);
        assertRefused(TlsOptions.trusting(trust), some, "certificate of the client, and this client has none");
        Path other = new CertificateAuthority("CN=Other").writePem(home.resolve("other.pem"));
        assertRefused(as("CN=bob").trustStore(other), some, "the certificate CN=server (issued by CN=Authority");
    }

    private void assertRefused(TlsOptions options, Duration timeout, String reason) {
        String message = String.valueOf(assertThrows(ConnectException.class, () -> connect(options, timeout))
                .getMessage());
        assertTrue(message.contains(reason), message);
    }
}
