package io.conclave.ensemble;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.consensus.LogException;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConclaveException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.server.LogMaintenance;
import io.conclave.server.ServerConfig;
import io.conclave.server.ServerStartException;
import io.conclave.server.faults.ServerFaults;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.testkit.tls.TestCertificate;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** Three servers whose members speak TLS, as docs/operations.md says, while a client writes. */
@Timeout(300)
@Tag("proof")
@Isolated("reads lines of the log")
class MembersWithTlsTest {
    private static final Set<Integer> ALL = Set.of(1, 2, 3);
    private static final String PLAIN = "";
    private static final String FIRST = "sslQuorum=false\nportUnification=true\n";
    private static final String SECOND = "sslQuorum=true\nportUnification=true\n";
    private static final String THIRD = "sslQuorum=true\nportUnification=false\n";

    @TempDir
    private Path home;

    private final CertificateAuthority authority = new CertificateAuthority("CN=our authority");
    private final Map<Integer, ConclaveServer> servers = new TreeMap<>();
    private final Map<Integer, Integer> clientPorts = new TreeMap<>();
    private final StringBuilder lines = new StringBuilder();
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.conclave");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void prepare() throws IOException {
        log.list = new CopyOnWriteArrayList<>();
        log.start();
        logger.addAppender(log);
        logger.setLevel(ch.qos.logback.classic.Level.INFO);
        for (int id : ALL) {
            clientPorts.put(id, Ports.find());
            lines.append("server." + id + "=127.0.0.1:" + Ports.find() + "\n");
            Files.createDirectories(directory(id));
            certificate(id, authority.issue("CN=server " + id, "127.0.0.1"), authority);
        }
    }

    @AfterEach
    void stop() {
        servers.values().forEach(ConclaveServer::close);
        logger.detachAppender(log);
        logger.setLevel(null);
    }

    private Path directory(int id) {
        return home.resolve("server-" + id);
    }

    private void certificate(int id, TestCertificate own, CertificateAuthority trusted) {
        own.writePem(directory(id).resolve("own.pem"));
        trusted.writeStore(directory(id).resolve("trust.p12"), "PKCS12", "changeit");
    }

    private ServerConfig config(int id, String form) throws IOException {
        Path data = directory(id);
        Files.writeString(data.resolve("myid"), id + "\n");
        return ConfigFile.read(Files.writeString(
                home.resolve("server-" + id + ".cfg"),
                "dataDir=" + data + "\nclientPort=" + clientPorts.get(id) + "\nclientPortAddress=127.0.0.1\n"
                        + "tickTime=200\nsyncLimit=50\npreAllocSize=8192\n" + lines + form
                        + "ssl.quorum.keyStore.location=" + data.resolve("own.pem") + "\n"
                        + "ssl.quorum.trustStore.location=" + data.resolve("trust.p12") + "\n"
                        + "ssl.quorum.trustStore.password=changeit\n"));
    }

    private void start(int id, String form) throws IOException {
        servers.put(id, ConclaveServer.start(config(id, form), TimeSource.system(), cause -> {}));
    }

    private Coordinator startAll(String form) throws Exception {
        Path secret =
                LogMaintenance.bootstrap(config(1, form), TimeSource.system()).orElseThrow();
        for (int id : ALL) {
            if (id != 1) {
                Files.copy(secret, directory(id).resolve("peer.secret"), StandardCopyOption.COPY_ATTRIBUTES);
            }
            start(id, form);
        }
        awaitAll();
        return Coordinator.connect("conclave://127.0.0.1:" + clientPorts.get(1) + ",127.0.0.1:" + clientPorts.get(2)
                + ",127.0.0.1:" + clientPorts.get(3));
    }

    private void awaitAll() {
        await().until(() -> servers.values().stream()
                .allMatch(server -> server.isServing()
                        && server.logStatus().configuration().voters().equals(ALL)));
    }

    /** One after the other; each comes back to the others before the next one goes. */
    private void restartAll(String form) throws Exception {
        for (int id : ALL) {
            servers.get(id).close();
            start(id, form);
            awaitAll();
        }
    }

    private long logged(String text) {
        return log.list.stream()
                .filter(event -> event.getFormattedMessage().contains(text))
                .count();
    }

    private void awaitLogged(String text) {
        await(text).until(() -> logged(text) > 0);
    }

    /** Writes until it is told to end, and remembers what was acknowledged. */
    private static final class Writer extends Thread {
        private final Coordinator client;
        private final Queue<Integer> acknowledged = new ConcurrentLinkedQueue<>();
        private volatile boolean over;

        Writer(Coordinator client) {
            super("writer");
            this.client = client;
        }

        @Override
        public void run() {
            for (int i = 0; !over; i++) {
                try {
                    client.execute(Create.of(NodePath.of("/w" + i)).withData(data(i)));
                    acknowledged.add(i);
                } catch (ConclaveException e) {
                    // not acknowledged; the next one follows
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        static byte[] data(int i) {
            return ("write " + i).getBytes(StandardCharsets.UTF_8);
        }

        void awaitMore() {
            int before = acknowledged.size();
            await().until(() -> acknowledged.size() > before + 20);
        }

        void endAndCheck() throws Exception {
            over = true;
            join();
            for (int i : acknowledged) {
                assertArrayEquals(
                        data(i),
                        client.execute(GetData.of(NodePath.of("/w" + i)).linearizable())
                                .data());
            }
        }
    }

    @Test
    void runningEnsembleMovesToTlsAndLosesNoAcknowledgedWrite() throws Exception {
        try (Coordinator client = startAll(PLAIN)) {
            Writer writer = new Writer(client);
            writer.start();
            for (String form : List.of(FIRST, SECOND, THIRD)) {
                writer.awaitMore();
                if (form.equals(SECOND)) {
                    assertEquals(0, logged(", with TLS"), "no one is called with it before all take it");
                }
                restartAll(form);
            }
            writer.awaitMore();
            writer.endAndCheck();
            assertEquals(0, logged("speaks TLS, and this member does not"));
            assertEquals(0, logged("takes only members that speak TLS"));
            assertTrue(logged(", with TLS") >= 6);
        }
    }

    @Test
    void ensembleWithTlsSurvivesTheEndOfLeaders() throws Exception {
        try (Coordinator client = startAll(THIRD)) {
            Writer writer = new Writer(client);
            writer.start();
            for (int round = 0; round < 3; round++) {
                writer.awaitMore();
                int leader = servers.get(1).logStatus().leader();
                ServerFaults.of(servers.get(leader)).kill(() -> {});
                writer.awaitMore();
                start(leader, THIRD);
                awaitAll();
            }
            writer.endAndCheck();
        }
    }

    /** The authority stays; the servers read the files without a restart, and one is restarted to make links anew. */
    @Test
    void certificatesAreReplacedWhileTheEnsembleServes() throws Exception {
        try (Coordinator client = startAll(THIRD)) {
            Writer writer = new Writer(client);
            writer.start();
            for (int id : ALL) {
                certificate(id, authority.issue("CN=renewed " + id, "127.0.0.1"), authority);
                awaitLogged("Read the certificates of TLS again (ssl.quorum.*): the certificate CN=renewed " + id);
            }
            writer.awaitMore();
            certificate(2, authority.issueExpired("CN=too late", "127.0.0.1"), authority);
            awaitLogged("CN=too late (issued by CN=our authority");
            writer.awaitMore();
            servers.get(2).close();
            start(2, THIRD);
            awaitLogged("TLS: the certificate CN=too late");
            assertFalse(servers.get(2).isServing());
            certificate(2, authority.issue("CN=in time", "127.0.0.1"), authority);
            awaitAll();
            writer.awaitMore();
            writer.endAndCheck();
        }
    }

    @Test
    void commandsSpeakTlsToTheServersThatRun() throws Exception {
        startAll(THIRD).close();
        servers.remove(3).close();
        for (String name : List.of("log", "peer.secret")) {
            Files.move(directory(3).resolve(name), directory(3).resolve("away-" + name));
        }
        Files.copy(
                directory(1).resolve("peer.secret"),
                directory(3).resolve("peer.secret"),
                StandardCopyOption.COPY_ATTRIBUTES);
        LogException belongs =
                assertThrows(LogException.class, () -> LogMaintenance.bootstrap(config(3, THIRD), TimeSource.system()));
        assertTrue(belongs.getMessage().contains("belongs to cluster"), belongs.getMessage());
        LogException plain =
                assertThrows(LogException.class, () -> LogMaintenance.bootstrap(config(3, FIRST), TimeSource.system()));
        assertTrue(
                plain.getMessage().contains("takes only members that speak TLS (sslQuorum=true)"), plain.getMessage());
    }

    /** Each costs the server a key exchange and a signature, and the stranger nothing. */
    @Test
    void strangersThatBeginHandshakesDoNotStopTheCluster() throws Exception {
        try (Coordinator client = startAll(THIRD)) {
            int leader = servers.get(1).logStatus().leader();
            int port = servers.get(leader)
                    .logStatus()
                    .configuration()
                    .members()
                    .get(leader)
                    .peerPort();
            byte[] begin = beginOfHandshake();
            Writer writer = new Writer(client);
            writer.start();
            int made = 0;
            List<Socket> open = new ArrayList<>();
            while (made < 3000) {
                Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port);
                stranger.getOutputStream().write(begin);
                open.add(stranger);
                made++;
                if (made % 100 == 0) {
                    writer.awaitMore();
                }
            }
            writer.awaitMore();
            for (Socket stranger : open) {
                stranger.close();
            }
            awaitAll();
            writer.endAndCheck();
        }
    }

    private static byte[] beginOfHandshake() throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), out);
        return Arrays.copyOf(out.array(), out.position());
    }

    @Test
    void serverWithoutItsFilesSaysWhichOneIsMissing() throws Exception {
        startAll(THIRD).close();
        servers.remove(3).close();
        Path own = directory(3).resolve("own.pem");
        Files.delete(own);
        ServerStartException refused = assertThrows(ServerStartException.class, () -> start(3, THIRD));
        assertEquals(
                "TLS between members cannot be used: ssl.quorum.keyStore.location " + own
                        + ": it cannot be read: there is no such file",
                refused.getMessage());
    }
}
