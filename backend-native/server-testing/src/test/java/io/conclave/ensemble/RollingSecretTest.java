package io.conclave.ensemble;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.server.LogMaintenance;
import io.conclave.server.PeerSecretFile;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A running ensemble gets a secret, or another one, as docs/operations.md says, while a client writes. */
@Timeout(300)
@Tag("proof")
class RollingSecretTest {
    private static final Set<Integer> ALL = Set.of(1, 2, 3);
    private static final NodePath PATH = NodePath.of("/a");
    private static final int STRANGER = 200;
    private static final String NONE = "peerAuthentication=none\n";
    private static final String OPTIONAL = "peerAuthentication=optional\n";
    private static final String REQUIRED = "";

    @TempDir
    private Path home;

    private final Map<Integer, ConclaveServer> servers = new TreeMap<>();
    private final Map<Integer, Integer> clientPorts = new TreeMap<>();
    private final StringBuilder lines = new StringBuilder();
    private Coordinator client;
    private int writes;

    @BeforeEach
    void choosePorts() {
        for (int id : new int[] {1, 2, 3}) {
            clientPorts.put(id, Ports.find());
            lines.append("server." + id + "=127.0.0.1:" + Ports.find() + "\n");
        }
    }

    @AfterEach
    void stop() throws Exception {
        if (client != null) {
            client.close();
        }
        servers.values().forEach(ConclaveServer::close);
    }

    private Path secret(int id) {
        return home.resolve("server-" + id).resolve("peer.secret");
    }

    private ServerConfig config(int id, String authentication) throws IOException {
        Path data = Files.createDirectories(home.resolve("server-" + id));
        Files.writeString(data.resolve("myid"), id + "\n");
        return ConfigFile.read(Files.writeString(
                home.resolve("server-" + id + ".cfg"),
                "dataDir=" + data + "\nclientPort=" + clientPorts.get(id) + "\nclientPortAddress=127.0.0.1\n"
                        + "tickTime=200\nsyncLimit=50\npreAllocSize=8192\n" + lines + authentication));
    }

    private void start(int id, String authentication) throws IOException {
        servers.put(id, ConclaveServer.start(config(id, authentication), TimeSource.system(), cause -> {}));
    }

    private void startAll(String authentication) throws Exception {
        Optional<Path> made = LogMaintenance.bootstrap(config(1, authentication), TimeSource.system());
        assertEquals(authentication.equals(NONE) ? Optional.empty() : Optional.of(secret(1)), made);
        if (made.isPresent()) {
            copySecret();
        }
        for (int id : clientPorts.keySet()) {
            start(id, authentication);
        }
        awaitAll();
        client = Coordinator.connect("conclave://127.0.0.1:" + clientPorts.get(1) + ",127.0.0.1:" + clientPorts.get(2)
                + ",127.0.0.1:" + clientPorts.get(3));
        client.execute(Create.of(PATH).withData(new byte[0]));
    }

    private void copySecret() throws IOException {
        for (int id : new int[] {2, 3}) {
            Files.createDirectories(secret(id).getParent());
            Files.copy(secret(1), secret(id), StandardCopyOption.COPY_ATTRIBUTES, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private void awaitAll() {
        await().until(() -> servers.values().stream()
                .allMatch(server -> server.isServing()
                        && server.logStatus().configuration().voters().equals(ALL)));
    }

    /** One after the other; each comes back to the others before the next one goes. */
    private void restartAll(String authentication) throws Exception {
        for (int id : clientPorts.keySet()) {
            servers.get(id).close();
            write();
            start(id, authentication);
            awaitAll();
            write();
        }
    }

    private void write() throws InterruptedException {
        byte[] data = ("write " + ++writes).getBytes(StandardCharsets.UTF_8);
        client.execute(SetData.of(PATH, data));
        assertArrayEquals(data, client.execute(GetData.of(PATH)).data());
    }

    /** A server without the secret, which asks one of these to which cluster it belongs. */
    private void askWithoutSecret() throws IOException {
        OfflineLog.requireNoCluster(config(1, NONE).ensemble().members(), 2, PeerSecrets.NONE, PeerTls.NONE, "");
    }

    private void assertStrangersAreToldNothing() {
        LogException refused = assertThrows(LogException.class, this::askWithoutSecret);
        assertTrue(
                refused.getMessage().contains("takes only members that prove that they have the cluster's secret"),
                refused.getMessage());
    }

    @Test
    void runningEnsembleWithoutASecretGetsOne() throws Exception {
        startAll(NONE);
        LogException told = assertThrows(LogException.class, this::askWithoutSecret);
        assertTrue(told.getMessage().contains("belongs to cluster"), told.getMessage());
        write();
        assertTrue(PeerSecretFile.of(config(1, OPTIONAL)).makeIfMissing());
        copySecret();
        restartAll(OPTIONAL);
        restartAll(REQUIRED);
        assertStrangersAreToldNothing();
    }

    @Test
    void runningEnsembleGetsAnotherSecret() throws Exception {
        startAll(REQUIRED);
        String before = Files.readString(secret(1));
        PeerSecretFile.of(config(1, REQUIRED)).addNew();
        copySecret();
        restartAll(REQUIRED);
        List<String> both = new ArrayList<>(Files.readAllLines(secret(1)));
        String old = both.remove(both.size() - 1);
        assertTrue(before.contains(old));
        Files.write(secret(1), both);
        copySecret();
        restartAll(REQUIRED);
        assertFalse(Files.readString(secret(3)).contains(old));
        assertStrangersAreToldNothing();
    }

    /** Whether a server takes another one that has the secret of this line only. */
    private boolean takes(int id, String secret) throws IOException {
        PeerSecrets secrets = PeerSecrets.of(
                PeerAuthentication.REQUIRED, List.of(Base64.getDecoder().decode(secret)));
        EnsembleMember asked =
                Objects.requireNonNull(config(id, REQUIRED).ensemble().members().get(id));
        LogException told = assertThrows(
                LogException.class,
                () -> OfflineLog.requireNoCluster(Map.of(id, asked), STRANGER, secrets, PeerTls.NONE, ""));
        boolean taken = told.getMessage().contains("belongs to cluster");
        assertTrue(
                taken || told.getMessage().endsWith("it has another cluster secret than this server"),
                told.getMessage());
        return taken;
    }

    private void awaitTaken(int id, String secret, boolean taken) {
        await().until(() -> takes(id, secret) == taken);
    }

    /** As operations.md has it: the file is copied to one server after the other, and none is restarted. */
    @Test
    void runningEnsembleGetsAnotherSecretWithoutARestart() throws Exception {
        startAll(REQUIRED);
        List<String> one = new ArrayList<>(Files.readAllLines(secret(1)));
        String old = one.get(one.size() - 1);
        PeerSecretFile.of(config(1, REQUIRED)).addNew();
        List<String> both = new ArrayList<>(Files.readAllLines(secret(1)));
        String added = both.get(both.size() - 2);
        awaitTaken(1, added, true);
        write();
        copySecret();
        for (int id : ALL) {
            awaitTaken(id, added, true);
            assertTrue(takes(id, old), "both count");
            write();
        }
        assertTrue(both.remove(old));
        for (int id : ALL) {
            Files.write(secret(id), both);
            awaitTaken(id, old, false);
            write();
        }
        Files.writeString(secret(2), "no secret at all");
        servers.get(3).close();
        write();
        start(3, REQUIRED);
        awaitAll();
        assertTrue(takes(2, added), "a file that may not be used changes nothing");
        write();
    }

    @Test
    void serverWithAnotherSecretDoesNotServeUntilItHasTheRightOne() throws Exception {
        startAll(REQUIRED);
        servers.get(3).close();
        Files.delete(secret(3));
        assertTrue(PeerSecretFile.of(config(3, REQUIRED)).makeIfMissing());
        start(3, REQUIRED);
        await().until(() -> servers.get(1).logStatus().leader() == 1
                || servers.get(2).logStatus().leader() == 2);
        for (int i = 0; i < 20; i++) {
            write();
        }
        assertFalse(servers.get(3).isServing());
        assertEquals(0, servers.get(3).logStatus().leader());
        servers.get(3).close();
        copySecret();
        start(3, REQUIRED);
        awaitAll();
        write();
    }
}
