package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Configuration files that were written for ZooKeeper, by images, packages and charts. */
class ZooKeeperFilesTest {
    @TempDir
    private Path directory;

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private ServerConfig read(String text) throws IOException {
        Files.writeString(directory.resolve("myid"), "1");
        return ConfigFile.read(write("zoo.cfg", text.replace("DIR", directory.toString())));
    }

    /** What reading the file logs, each line with its level in front. */
    private List<String> logged(String text) throws IOException {
        Logger logger = (Logger) LoggerFactory.getLogger(ConfigFile.class.getPackageName());
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        Level before = logger.getLevel();
        logger.setLevel(Level.INFO);
        logger.addAppender(lines);
        try {
            read(text);
        } finally {
            logger.detachAppender(lines);
            logger.setLevel(before);
        }
        String file = directory.resolve("zoo.cfg") + ": ";
        return lines.list.stream()
                .filter(line -> line.getFormattedMessage().startsWith(file))
                .map(line -> line.getLevel() + " " + line.getFormattedMessage().substring(file.length()))
                .toList();
    }

    private String refusal(String text) {
        return assertThrows(ConfigException.class, () -> read(text)).getMessage();
    }

    private static final String MINIMAL = "dataDir=DIR\nclientPort=0\n";

    @Test
    void fileOfTheDockerImageIsRead() throws IOException {
        ServerConfig config = read("""
                dataDir=DIR
                dataLogDir=DIR/datalog
                tickTime=2000
                initLimit=5
                syncLimit=2
                autopurge.snapRetainCount=3
                autopurge.purgeInterval=0
                maxClientCnxns=60
                standaloneEnabled=true
                admin.enableServer=true
                server.1=localhost:2888:3888;2181
                metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider
                metricsProvider.httpPort=7000
                """);
        assertEquals(Optional.of(2181), config.clientPort());
        assertEquals(5, config.ensemble().initLimitTicks());
    }

    @Test
    void fileOfTheDebianPackageIsRead() throws IOException {
        ServerConfig config = read("""
                # http://hadoop.apache.org/zookeeper/docs/current/zookeeperAdmin.html

                # The number of milliseconds of each tick
                tickTime=2000
                initLimit=10
                syncLimit=5
                dataDir=DIR
                # Place the dataLogDir to a separate physical disc for better performance
                # dataLogDir=/disk2/zookeeper
                clientPort=2181
                #server.1=zookeeper1:2888:3888
                preAllocSize=4096
                snapCount=1000
                # leaderServes=yes
                leaderServes=no
                """);
        assertEquals(8 << 20, config.segmentBytes());
        assertEquals(1000, config.snapshotEveryEntries());
    }

    @Test
    void fileOfKafkaIsRead() throws IOException {
        ServerConfig config = read("""
                # Licensed under some terms
                dataDir=DIR
                # the port at which the clients will connect
                clientPort=2181
                # disable the per-ip limit on the number of connections since this is a non-production config
                maxClientCnxns=0
                admin.enableServer=false
                # admin.serverPort=8080
                """);
        assertEquals(0, config.maxConnectionsPerAddress());
    }

    @Test
    void fileOfChartsIsRead() throws IOException {
        ServerConfig config = read("""
                clientPort=2181
                dataDir=DIR
                dataLogDir=DIR/datalog
                tickTime=2000
                initLimit=10
                syncLimit=5
                maxClientCnxns=60
                maxCnxns=0
                minSessionTimeout=4000
                maxSessionTimeout=40000
                autopurge.snapRetainCount=2
                autopurge.purgeInterval=12h
                snapCount=100000
                preAllocSize=65536
                globalOutstandingLimit=1000
                quorumListenOnAllIPs=TRUE
                reconfigEnabled=false
                standaloneEnabled=false
                skipACL=no
                sslQuorum=false
                portUnification=false
                audit.enable=false
                jvm.pause.monitor=true
                jvm.pause.warn-threshold.ms=10000
                zookeeper.connection_throttle_weight_enabled=false
                extendedTypesEnabled=true
                snapshot.compression.method=
                admin.serverPort=8080
                admin.enableServer=true
                4lw.commands.whitelist=srvr, mntr, ruok
                authProvider.1=org.apache.zookeeper.server.auth.DigestAuthenticationProvider
                server.1=zk-0.zk-headless.default.svc.cluster.local:2888:3888;2181
                server.2=zk-1.zk-headless.default.svc.cluster.local:2888:3888;2181
                server.3=zk-2.zk-headless.default.svc.cluster.local:2888:3888:observer;2181
                """);
        assertEquals(Set.of("srvr", "mntr", "ruok"), config.commandWhitelist());
        assertEquals(3, config.ensemble().members().size());
        assertEquals(3, config.snapshotsKept(), "fewer are not kept, as in ZooKeeper");
        assertTrue(config.ensemble().listensOnAllAddresses());
    }

    @Test
    void aFileIsRefusedWithAllLinesThatPromiseProtection() {
        String refusal = refusal("""
                tickTime=2000
                dataDir=DIR
                clientPort=12181
                serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
                ssl.context.supplier.class=com.example.Supplier
                authProvider.7=com.example.Provider
                """);
        assertEquals(
                directory.resolve("zoo.cfg")
                        + ": line 5: key ssl.context.supplier.class promises TLS for clients, line 6: key"
                        + " authProvider.7 promises a scheme of authentication. That is not supported yet, and the "
                        + "server would run without it; remove these lines if it may",
                refusal);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ssl.context.supplier.class=com.example.Supplier",
                "authProvider.1=com.example.Provider",
                "requireClientAuthScheme=sasl",
                "quorum.auth.enableSasl=true",
                "quorum.auth.learnerRequireSasl=true",
                "quorum.auth.serverRequireSasl=true",
                "ensembleAuthName=blue",
                "DigestAuthenticationProvider.enabled=false",
                "ssl.allowReverseDnsLookup=true"
            })
    void aLineThatPromisesProtectionIsRefused(String line) {
        String refusal = refusal(MINIMAL + line + "\n");
        String key = line.substring(0, line.indexOf('='));
        assertTrue(refusal.contains("zoo.cfg: line 3: key " + key + " promises "), refusal);
        assertTrue(
                refusal.endsWith(
                        " That is not supported yet, and the server would run without it; remove the line if it may"),
                refusal);
    }

    @Test
    void unusedKeysAreNamedOnceAndThoseNotInForceAreWarnedOf() throws IOException {
        assertEquals(
                List.of(
                        "INFO line 5: preAllocSize=4096 is below the least that is used here; 8192 is used",
                        "WARN line 4: skipACL=yes is not in force: ACLs are checked",
                        "WARN line 6: weight.1=2 is not in force: a quorum is a majority of the voters, and each has "
                                + "one vote",
                        "INFO these keys of ZooKeeper have no effect here: globalOutstandingLimit, "
                                + "zookeeper.forceSync"),
                logged(MINIMAL
                        + "globalOutstandingLimit=7\nskipACL=yes\npreAllocSize=4096\nweight.1=2\n"
                        + "zookeeper.forceSync=no\n"));
        assertEquals(List.of(), logged(MINIMAL + "sslQuorum=false\naudit.enable=false\nelectionAlg=3\n"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "skipACL=yes             ~ ACLs are checked",
                "jute.maxbuffer=0x400000 ~ the bound of a request is 1 MB",
                "group.1=1:2:3           ~ a quorum is a majority",
                "oraclePath=/x           ~ no oracle is asked",
                "ssl.sslProvider=OPENSSL ~ TLS is that of Java",
                "ssl.quorum.allowReverseDnsLookup=true ~ a certificate must be for the host",
                "db.autocreate=false     ~ a server by itself whose directory is empty begins with an empty tree",
            })
    void whatIsNotInForceIsSaid(String line, String instead) throws IOException {
        List<String> lines = logged(MINIMAL + line + "\n");
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).startsWith("WARN line 3: " + line + " is not in force: " + instead), lines::toString);
    }

    @Test
    void linesOfTlsThatAskForWhatIsSoAnywayAreTaken() throws IOException {
        assertEquals(
                List.of("INFO these keys of ZooKeeper have no effect here: ssl.handshakeDetectionTimeoutMillis, "
                        + "ssl.quorum.handshakeDetectionTimeoutMillis"),
                logged(MINIMAL
                        + "ssl.allowReverseDnsLookup=false\nssl.sslProvider=jdk\n"
                        + "ssl.handshakeDetectionTimeoutMillis=5000\n"
                        + "ssl.quorum.allowReverseDnsLookup=false\n"
                        + "ssl.quorum.handshakeDetectionTimeoutMillis=5000\n"));
    }

    /** Else the server would listen on no port with TLS, or on every address. */
    @Test
    void anAddressOfAPortWithTlsThatThereIsNotIsRefused() {
        for (String other : List.of("", "client.portUnification=true\n")) {
            String refusal = refusal(MINIMAL + other + "secureClientPortAddress=127.0.0.1\n");
            assertTrue(refusal.contains("secureClientPortAddress is set, and secureClientPort,"), refusal);
        }
    }

    private static final String DYNAMIC = """
            server.1=localhost:2888:3888:participant;0.0.0.0:2181
            server.2=localhost:2889:3889:participant;0.0.0.0:2182
            """;

    @Test
    void serversThatReconfigHasMovedToAFileOfTheirOwnAreRead() throws IOException {
        Path dynamic = write("zoo.cfg.dynamic.100000000", DYNAMIC);
        ServerConfig config =
                read("dataDir=DIR\nreconfigEnabled=true\nstandaloneEnabled=false\ndynamicConfigFile=" + dynamic + "\n");
        assertEquals(Set.of(1, 2), config.ensemble().members().keySet());
        assertEquals(Optional.of(2181), config.clientPort());
    }

    @Test
    void aDynamicFileThatIsNotOneIsRefusedWithItsOwnName() throws IOException {
        Path dynamic = write("some.dynamic", DYNAMIC + "tickTime=2000\n");
        assertEquals(
                dynamic + ": line 3: key tickTime cannot be in a dynamicConfigFile, which has servers only",
                refusal(MINIMAL + "dynamicConfigFile=" + dynamic + "\n"));
        String twice = refusal(MINIMAL + "server.1=a:2888;2181\ndynamicConfigFile=" + dynamic + "\n");
        assertTrue(twice.contains("the lines server.N belong into " + dynamic), twice);
        String missing = refusal(MINIMAL + "dynamicConfigFile=DIR/nowhere\n");
        assertTrue(missing.startsWith(directory.resolve("nowhere") + ": cannot be read"), missing);
    }
}
