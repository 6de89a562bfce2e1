package io.conclave.proofs.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/** The official clients of one test that prove by SASL who they are, each with its section of the JAAS file. */
final class SaslClients implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int TIMEOUT_MS = 20_000;

    private final ServerUnderTest server;
    private final Map<String, String> properties;
    private final List<ZooKeeper> clients = new ArrayList<>();

    /** What the clients were told, in order. */
    private final List<KeeperState> states = new CopyOnWriteArrayList<>();

    SaslClients(ServerUnderTest server, Map<String, String> properties) {
        this.server = server;
        this.properties = properties;
    }

    /** A client that begins to connect. */
    ZooKeeper begin(String section) throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "true");
        config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, section);
        config.setProperty("zookeeper.fips-mode", "false");
        properties.forEach(config::setProperty);
        return add(config);
    }

    /** A client that has proved its id. */
    ZooKeeper proved(String section) throws Exception {
        int before = count(KeeperState.SaslAuthenticated);
        ZooKeeper client = begin(section);
        await().atMost(PATIENCE).until(() -> count(KeeperState.SaslAuthenticated) > before);
        return client;
    }

    /** A client that proves nothing. */
    ZooKeeper stranger() throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
        ZooKeeper client = add(config);
        await().atMost(PATIENCE).until(() -> client.getState().isConnected());
        return client;
    }

    private ZooKeeper add(ZKClientConfig config) throws Exception {
        ZooKeeper client = new ZooKeeper(server.hostPort(), TIMEOUT_MS, event -> states.add(event.getState()), config);
        clients.add(client);
        return client;
    }

    int count(KeeperState state) {
        return (int) states.stream().filter(state::equals).count();
    }

    /** The client owns what it creates for itself alone, under this id. */
    void assertOwns(ZooKeeper client, String path, String id) throws Exception {
        client.create(path, new byte[0], Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        assertEquals("sasl", client.getACL(path, null).get(0).getId().getScheme());
        assertEquals(id, client.getACL(path, null).get(0).getId().getId());
        ZooKeeper stranger = stranger();
        assertThrows(KeeperException.NoAuthException.class, () -> stranger.getData(path, false, null));
    }

    /** The client is told that it was refused. */
    void assertRefused(String section) throws Exception {
        ZooKeeper client = begin(section);
        await().atMost(PATIENCE).until(() -> client.getState() == ZooKeeper.States.AUTH_FAILED);
        assertThrows(KeeperException.class, () -> client.getData("/", false, null));
    }

    @Override
    public void close() throws Exception {
        for (ZooKeeper client : clients) {
            client.close();
        }
    }
}
