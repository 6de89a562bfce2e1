package io.conclave.ensemble;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.server.LogMaintenance;
import io.conclave.server.ServerConfig;
import io.conclave.server.faults.ServerFaults;
import io.conclave.session.SessionState;
import io.conclave.session.TlsOptions;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A client with TLS at three servers, of which its own is killed. */
@Timeout(300)
@Tag("proof")
class ClientMovesOverTlsTest {
    private static final Set<Integer> ALL = Set.of(1, 2, 3);

    @TempDir
    private Path home;

    private final CertificateAuthority authority = new CertificateAuthority("CN=our authority");
    private final Map<Integer, Integer> plainPorts = new TreeMap<>();
    private final Map<Integer, Integer> securePorts = new TreeMap<>();
    private final Map<Integer, ConclaveServer> servers = new TreeMap<>();

    @AfterEach
    void stop() {
        servers.values().forEach(ConclaveServer::close);
    }

    private Path directory(int id) {
        return home.resolve("server-" + id);
    }

    private ServerConfig config(int id, String members) throws IOException {
        Path data = directory(id);
        Files.writeString(data.resolve("myid"), id + "\n");
        Path own = authority.issue("CN=server " + id, "localhost").writePem(data.resolve("own.pem"));
        return ConfigFile.read(Files.writeString(
                home.resolve("server-" + id + ".cfg"),
                "dataDir=" + data + "\nclientPort=" + plainPorts.get(id) + "\nclientPortAddress=127.0.0.1\n"
                        + "secureClientPort=" + securePorts.get(id) + "\nsecureClientPortAddress=127.0.0.1\n"
                        + "ssl.keyStore.location=" + own + "\nssl.trustStore.location=" + home.resolve("trust.pem")
                        + "\n4lw.commands.whitelist=*\ntickTime=1000\nsyncLimit=50\npreAllocSize=8192\n" + members));
    }

    private void startAll() throws Exception {
        authority.writePem(home.resolve("trust.pem"));
        StringBuilder members = new StringBuilder();
        for (int id : ALL) {
            plainPorts.put(id, Ports.find());
            securePorts.put(id, Ports.find());
            members.append("server." + id + "=127.0.0.1:" + Ports.find() + "\n");
            Files.createDirectories(directory(id));
        }
        Path secret = LogMaintenance.bootstrap(config(1, members.toString()), TimeSource.system())
                .orElseThrow();
        for (int id : ALL) {
            if (id != 1) {
                Files.copy(secret, directory(id).resolve("peer.secret"), StandardCopyOption.COPY_ATTRIBUTES);
            }
            servers.put(id, ConclaveServer.start(config(id, members.toString()), TimeSource.system(), cause -> {}));
        }
        await().until(() -> servers.values().stream()
                .allMatch(server -> server.isServing()
                        && server.logStatus().configuration().voters().equals(ALL)));
    }

    private String monitoring(int id) {
        try (Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), plainPorts.get(id))) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write("mntr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }

    /** The server that the only client is connected to. */
    private int connectedServer() {
        return servers.keySet().stream()
                .filter(id -> monitoring(id).contains("zk_conclave_secure_connections\t1\n"))
                .findFirst()
                .orElse(0);
    }

    @Test
    void theSessionSurvivesTheKillOfItsServer() throws Exception {
        startAll();
        Path own = authority.issue("CN=client").writePem(home.resolve("client.pem"));
        List<SessionState> states = new CopyOnWriteArrayList<>();
        try (Coordinator client = Coordinator.builder("conclave://localhost:" + securePorts.get(1) + ",localhost:"
                        + securePorts.get(2) + ",localhost:" + securePorts.get(3))
                .sessionTimeout(Duration.ofSeconds(20))
                .connectTimeout(Duration.ofSeconds(60))
                .tls(TlsOptions.trusting(home.resolve("trust.pem")).keyStore(own))
                .connect()) {
            client.onStateChange(states::add);
            NodePath ephemeral = NodePath.of("/ephemeral");
            client.execute(Create.of(ephemeral).withMode(CreateMode.EPHEMERAL));
            await().until(() -> connectedServer() != 0);
            int first = connectedServer();
            ServerFaults.of(servers.remove(first)).kill(() -> {});
            await().until(() -> connectedServer() != 0 && connectedServer() != first);
            await().until(() -> client.state() == SessionState.CONNECTED);
            assertTrue(client.execute(Exists.of(ephemeral)).isPresent());
            assertFalse(states.contains(SessionState.LOST), states::toString);
            assertEquals(2, servers.size());
        }
    }
}
