package io.conclave.proofs.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.conclave.connection.AuditLog;
import io.conclave.server.ClientAuthConfig;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.audit.Slf4jAuditLogger;
import org.apache.zookeeper.audit.ZKAuditProvider;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/**
 * The same operations of the official client leave the same lines in the audit logs of Apache ZooKeeper and of ours.
 */
@Isolated("has Apache ZooKeeper write its audit log, for all servers of the JVM")
class AuditComparisonIT {
    private static final byte[] DATA = "x".getBytes(StandardCharsets.UTF_8);
    private static final int TIMEOUT_MS = 30_000;
    private static final String END = "/end";

    /**
     * Apache ZooKeeper's own name in its lines is that of the last server of the JVM that logged in at a KDC, if any.
     */
    private static final String SERVER_USER = System.getProperty("user.name");

    /** The lines of one logger while this is open. */
    private static final class Lines implements AutoCloseable {
        private final List<String> lines = new CopyOnWriteArrayList<>();
        private final Logger logger;
        private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                lines.add(event.getFormattedMessage());
            }
        };

        Lines(String name) {
            logger = (Logger) LoggerFactory.getLogger(name);
            logger.setLevel(Level.INFO);
            appender.start();
            logger.addAppender(appender);
        }

        /** Those up to the last operation, with what differs from run to run replaced. */
        List<String> comparable(List<String> sessions) {
            await().until(() -> lines.stream().anyMatch(line -> line.contains("znode=" + END + "\t")));
            List<String> result = new ArrayList<>();
            for (String line : lines) {
                String text = withSortedUsers(line)
                        .replace("user=" + ZKAuditProvider.getZKUser() + "\t", "user=" + SERVER_USER + "\t");
                for (int i = 0; i < sessions.size(); i++) {
                    text = text.replace("session=" + sessions.get(i) + "\t", "session=#" + i + "\t");
                }
                if (!text.contains("operation=serverSt")) {
                    result.add(text);
                }
                if (text.contains("znode=" + END + "\t")) {
                    break; // the order of the ephemerals of one session is open
                }
            }
            return result;
        }

        /** Apache ZooKeeper keeps the ids of a connection in a hash table. */
        private static String withSortedUsers(String line) {
            return Arrays.stream(line.split("\t"))
                    .map(pair -> pair.startsWith("user=")
                            ? Arrays.stream(pair.substring("user=".length()).split(","))
                                    .sorted()
                                    .collect(Collectors.joining(",", "user=", ""))
                            : pair)
                    .collect(Collectors.joining("\t"));
        }

        @Override
        public void close() {
            logger.detachAppender(appender);
        }
    }

    private interface Operation {
        void run() throws Exception;
    }

    /** The operations, and what the client was told of each. */
    private static final class Scenario {
        private final List<String> outcomes = new ArrayList<>();
        private final List<String> sessions = new ArrayList<>();
        private final String hostPort;

        Scenario(int port) {
            hostPort = "127.0.0.1:" + port;
        }

        private ZooKeeper connect() throws Exception {
            ZooKeeper client = new ZooKeeperAdmin(hostPort, TIMEOUT_MS, event -> {});
            await().until(() -> client.getState().isConnected());
            sessions.add("0x" + Long.toHexString(client.getSessionId()));
            return client;
        }

        private void attempt(Operation operation) throws Exception {
            try {
                operation.run();
                outcomes.add("done");
            } catch (KeeperException e) {
                outcomes.add(e.code().toString());
            }
        }

        /** The official client looks for null in it, which lists of List.of do not take. */
        private static List<ACL> acl(ACL... entries) {
            return new ArrayList<>(Arrays.asList(entries));
        }

        private void creations(ZooKeeper client) throws Exception {
            for (CreateMode mode : CreateMode.values()) {
                if (mode.isTTL()) {
                    attempt(() -> client.create(
                            "/made-" + mode.toFlag(), DATA, Ids.OPEN_ACL_UNSAFE, mode, new Stat(), 60_000));
                } else {
                    attempt(() -> client.create("/made-" + mode.toFlag(), DATA, Ids.OPEN_ACL_UNSAFE, mode));
                    attempt(() -> client.create("/stat-" + mode.toFlag(), DATA, Ids.OPEN_ACL_UNSAFE, mode, new Stat()));
                }
            }
            attempt(() -> client.create("/made-0", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            attempt(() -> client.create("/no/parent", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            attempt(() -> client.create("/made-1/child", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            attempt(() -> client.create(
                    "/acl", DATA, acl(new ACL(Perms.ALL, new Id("nobody", "knows"))), CreateMode.PERSISTENT));
            attempt(() -> client.create("/acl", DATA, acl(), CreateMode.PERSISTENT));
        }

        private void changes(ZooKeeper client) throws Exception {
            attempt(() -> client.setData("/made-0", DATA, -1));
            attempt(() -> client.setData("/made-0", DATA, 77));
            attempt(() -> client.setData("/nothing", DATA, -1));
            attempt(() -> client.setACL(
                    "/made-0",
                    acl(
                            new ACL(Perms.READ | Perms.ADMIN, new Id("world", "anyone")),
                            new ACL(Perms.ALL, new Id("auth", ""))),
                    -1));
            attempt(() -> client.setACL("/made-0", Ids.OPEN_ACL_UNSAFE, 77));
            attempt(() -> client.setACL("/nothing", Ids.READ_ACL_UNSAFE, -1));
            attempt(() -> client.setACL("/made-0", acl(new ACL(Perms.ALL, new Id("ip", "no address"))), -1));
            attempt(() -> client.create("/p", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            attempt(() -> client.create("/p/c", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            attempt(() -> client.delete("/p", -1));
            attempt(() -> client.delete("/p/c", 77));
            attempt(() -> client.delete("/p/c", -1));
            attempt(() -> client.delete("/p/c", -1));
        }

        private void transactions(ZooKeeper client) throws Exception {
            attempt(() -> client.multi(List.of(
                    Op.check("/p", -1),
                    Op.create("/m", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                    Op.create("/m/e", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL),
                    Op.create("/c", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER),
                    Op.setData("/m", DATA, -1),
                    Op.delete("/m/e", -1),
                    Op.delete("/m", -1))));
            attempt(() -> client.multi(List.of(
                    Op.create("/n", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT), Op.delete("/nothing", -1))));
            attempt(() -> client.multi(List.of(Op.check("/nothing", 3))));
            attempt(() -> client.multi(List.of(Op.check("/p", -1))));
            attempt(() -> client.multi(List.of(Op.getData("/p"), Op.getChildren("/nothing"))));
        }

        private void readsAndMembers(ZooKeeper client) throws Exception {
            attempt(() -> client.getData("/p", false, new Stat()));
            attempt(() -> client.getData("/nothing", false, new Stat()));
            attempt(() -> client.addWatch("/p", AddWatchMode.PERSISTENT));
            attempt(() ->
                    ((ZooKeeperAdmin) client).reconfigure("server.9=127.0.0.1:1:2;3", null, null, -1, new Stat()));
            outcomes.remove(outcomes.size() - 1); // RECONFIGDISABLED and NOAUTH
        }

        void run() throws Exception {
            ZooKeeper client = connect();
            creations(client);
            client.addAuthInfo("digest", "bob:secret".getBytes(StandardCharsets.UTF_8));
            client.addAuthInfo("digest", "carol:secret".getBytes(StandardCharsets.UTF_8));
            changes(client);
            transactions(client);
            readsAndMembers(client);
            ZooKeeper stranger = connect();
            attempt(() -> stranger.setData("/made-0", DATA, -1));
            attempt(() -> stranger.delete("/stat-1", -1));
            attempt(() -> stranger.create("/made-0/child", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            attempt(() -> stranger.create("/gone", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL));
            stranger.close();
            attempt(() -> client.create(END, DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            client.close();
        }
    }

    private static void haveApacheAudit(boolean on) throws Exception {
        System.setProperty("zookeeper.audit.enable", String.valueOf(on));
        Field logger = ZKAuditProvider.class.getDeclaredField("auditLogger");
        logger.setAccessible(true);
        logger.set(null, new Slf4jAuditLogger());
        Field enabled = ZKAuditProvider.class.getDeclaredField("auditEnabled"); // read once for the JVM
        enabled.setAccessible(true);
        enabled.set(null, on);
        System.clearProperty("zookeeper.audit.enable");
    }

    private static List<String> linesOfApache(Scenario[] used) throws Exception {
        haveApacheAudit(true);
        try (Lines lines = new Lines(Slf4jAuditLogger.class.getName());
                ApacheZooKeeper server = new ApacheZooKeeper()) {
            used[0] = new Scenario(server.port());
            used[0].run();
            return lines.comparable(used[0].sessions);
        } finally {
            haveApacheAudit(false);
        }
    }

    private static List<String> linesOfOurs(Scenario[] used) throws Exception {
        ServerConfig config = ServerConfig.builder()
                .clientPort(0)
                .clientPortAddress("127.0.0.1")
                .tickTimeMs(100)
                .maxSessionTimeoutMs(60_000)
                .clientAuth(new ClientAuthConfig(
                        "SHA1", Set.of(), false, Set.of(), Optional.empty(), false, false, true, ""))
                .build();
        try (Lines lines = new Lines(AuditLog.LOGGER);
                ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), cause -> {})) {
            used[0] = new Scenario(server.clientPort().orElseThrow());
            used[0].run();
            return lines.comparable(used[0].sessions);
        }
    }

    @Test
    void theSameOperationsLeaveTheSameLines() throws Exception {
        Scenario[] apache = new Scenario[1];
        Scenario[] ours = new Scenario[1];
        List<String> expected = linesOfApache(apache);
        List<String> actual = linesOfOurs(ours);
        assertTrue(expected.size() > 30, expected::toString);
        assertEquals(String.join("\n", apache[0].outcomes), String.join("\n", ours[0].outcomes));
        assertEquals(String.join("\n", expected), String.join("\n", actual));
    }
}
