package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.ClientLimit;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.replica.MemberLine;
import io.conclave.replica.MemberList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigFileTest {
    @TempDir
    private Path directory;

    private ServerConfig read(String text) throws IOException {
        Path file = directory.resolve("zoo.cfg");
        Files.writeString(file, text);
        return ConfigFile.read(file);
    }

    @Test
    void allKeysAreRead() throws IOException {
        ServerConfig config = read("""
                # a comment
                ! another
                  clientPort = 0

                clientPortAddress=localhost
                dataDir=data
                dataLogDir=log
                tickTime=100
                maxClientCnxns=7
                maxCnxns=70
                minSessionTimeout=50
                maxSessionTimeout=5000
                snapCount=1000
                autopurge.snapRetainCount=4
                autopurge.purgeInterval=1
                preAllocSize=16384
                znode.container.checkIntervalMs=123
                znode.container.maxPerMinute=60
                znode.container.maxNeverUsedIntervalMs=5000
                extendedTypesEnabled=false
                enforceQuota=true
                DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=
                """);
        assertEquals(Optional.of(0), config.clientPort());
        assertEquals(Optional.of("localhost"), config.clientPortAddress());
        assertEquals(Optional.of(Path.of("log/log")), config.dataDirectory());
        assertEquals(Optional.of(Path.of("data")), config.homeDirectory());
        assertEquals(100, config.tickTimeMs());
        assertEquals(7, config.maxConnectionsPerAddress());
        assertEquals(70, config.maxConnections());
        assertEquals(50, config.minSessionTimeoutMs());
        assertEquals(5000, config.maxSessionTimeoutMs());
        assertEquals(1000, config.snapshotEveryEntries());
        assertEquals(4, config.snapshotsKept());
        assertEquals(16 << 20, config.segmentBytes());
        assertEquals(new Reaping(123, 60, 5000), config.reaping());
        assertFalse(config.offersTtl());
        assertTrue(config.clientLimits().enforcesQuotas());
        assertEquals(Optional.of("super:D/InIHSb7yEEbrWz8b9l71RjZJU="), config.superDigest());
    }

    @Test
    void membersProveThatTheyHaveTheSecretUnlessTheOperatorSaysOtherwise() throws IOException {
        String server = "clientPort=0\ndataDir=" + directory + "\nserver.1=a:1\n";
        assertEquals(PeerAuthentication.REQUIRED, read(server).ensemble().authentication());
        assertEquals(
                directory.resolve("peer.secret"),
                PeerSecretFile.of(read(server)).path());
        EnsembleConfig set = read(server + "peerAuthentication=optional\npeerSecretFile=/etc/secret\n")
                .ensemble();
        assertEquals(PeerAuthentication.OPTIONAL, set.authentication());
        assertEquals(Optional.of(Path.of("/etc/secret")), set.secretFile());
        assertEquals(
                PeerAuthentication.NONE,
                read(server + "peerAuthentication=none\n").ensemble().authentication());
    }

    @Test
    void limitsOfClientsAreReadByTheirKeys() throws IOException {
        for (ClientLimit limit : ClientLimit.values()) {
            ServerConfig config = read("clientPort=0\ndataDir=data\n" + limit.key() + "=12345678901\n");
            assertEquals(12_345_678_901L, config.clientLimits().configured(limit), limit.key());
            ConfigException refusal = assertThrows(
                    ConfigException.class, () -> read("clientPort=0\ndataDir=data\n" + limit.key() + "=-2\n"));
            assertTrue(refusal.getMessage().contains("line 3: key " + limit.key() + ": \"-2\" is not"), limit.key());
        }
    }

    @Test
    void anAddressMayHaveManySessionsWhereItMayHaveManyConnections() throws IOException {
        String server = "clientPort=0\ndataDir=data\n";
        String sessions = server + "maxSessions=200000\n";
        assertEquals(10_000, sessionsOfAddress(sessions));
        assertEquals(20_000, sessionsOfAddress(sessions + "maxClientCnxns=2000\n"));
        assertEquals(5_000, sessionsOfAddress(server + "maxSessions=40000\n"), "an eighth");
        assertEquals(600, sessionsOfAddress(server + "maxSessions=40\n"), "10 for each connection");
        assertEquals(10_000, sessionsOfAddress(server + "maxSessions=0\n"));
        assertEquals(0, sessionsOfAddress(server + "maxClientCnxns=0\n"));
        assertEquals(7, sessionsOfAddress(server + "maxClientCnxns=0\nmaxSessionsPerAddress=7\n"));
    }

    private long sessionsOfAddress(String text) throws IOException {
        return read(text).clientLimits().configured(ClientLimit.SESSIONS_OF_ADDRESS);
    }

    @Test
    void defaultsAreZooKeepers() throws IOException {
        ServerConfig config = read("clientPort=2181\ndataDir=data\nminSessionTimeout=-1\n");
        assertEquals(Optional.of(Path.of("data/log")), config.dataDirectory());
        assertEquals(4000, config.minSessionTimeoutMs());
        assertEquals(40_000, config.maxSessionTimeoutMs());
        assertEquals(60, config.maxConnectionsPerAddress());
        assertEquals(new Reaping(60_000, 10_000, 0), config.reaping());
        assertTrue(config.offersTtl());
        assertFalse(config.clientLimits().enforcesQuotas());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "clientPort=70000                    ~ line 3: key clientPort: \"70000\" is not a whole number from 0 "
                        + "to",
                "clientPort=abc                      ~ line 3: key clientPort: \"abc\" is not a whole number",
                "clientPort=                         ~ line 3: key clientPort has no value",
                "tickTime=0                          ~ line 3: key tickTime: \"0\" is not a whole number from 1",
                "tickTime=99999999999                ~ line 3: key tickTime: \"99999999999\" is not a whole number",
                "maxClientCnxns=-1                   ~ line 3: key maxClientCnxns",
                "minSessionTimeout=0                 ~ line 3: key minSessionTimeout: 0 is not a timeout",
                "DigestAuthenticationProvider.superDigest=super:pw ~ line 3: key "
                        + "DigestAuthenticationProvider.superDigest is",
                "snapCount=1                         ~ line 3: key snapCount",
                "extendedTypesEnabled=1              ~ line 3: key extendedTypesEnabled: \"1\" is neither true nor",
                "znode.container.maxPerMinute=0      ~ line 3: key znode.container.maxPerMinute: \"0\" is not a whole",
                "autopurge.snapRetainCount=-1        ~ line 3: key autopurge.snapRetainCount: \"-1\" is not a whole "
                        + "number",
                "autopurge.purgeInterval=1w          ~ line 3: key autopurge.purgeInterval: \"1w\" is not a whole "
                        + "number, alone",
                "preAllocSize=0                      ~ line 3: key preAllocSize: \"0\" is not a whole number from 1",
                "preAllocSize=64M                    ~ line 3: key preAllocSize: \"64M\" is not a whole number from 1",
                "dataDirr=x                          ~ line 3: key dataDirr is unknown",
                "just words                          ~ line 3: the line is not of the form key=value",
                "=value                              ~ line 3: the line is not of the form key=value",
                "snapCount : 9                       ~ line 3: the line is not of the form key=value; a colon",
                "ssl.keyStore.password: a            ~ line 3: key ssl.keyStore.password: the line is not of the form",
                "zookeeper.ssl.keyStore.password a=b ~ line 3: key zookeeper.ssl.keyStore.password: the line is not",
                "snapCount=\\\\n9                      ~ line 3: key snapCount: the value ends with \\, and",
                "weight.1=heavy                      ~ line 3: key weight.1: \"heavy\" is not a whole number",
                "group.1=1,2                         ~ line 3: key group.1: \"1,2\" is not a list of servers' numbers",
                "globalOutstandingLimit=many         ~ line 3: key globalOutstandingLimit: \"many\" is not a whole "
                        + "number",
                "globalOutstandingLimit=             ~ line 3: key globalOutstandingLimit has no value",
                "syncEnabled=yes                     ~ line 3: key syncEnabled: \"yes\" is neither true nor false",
                "leaderServes=true                   ~ line 3: key leaderServes: \"true\" is neither yes nor no",
                "admin.serverPort=80800              ~ line 3: key admin.serverPort: \"80800\" is not a whole number "
                        + "from",
                "connectionDropIncrease=a            ~ line 3: key connectionDropIncrease: \"a\" is not a number such "
                        + "as",
                "zookeeper.cnxTimeout=x              ~ line 3: key zookeeper.cnxTimeout: \"x\" is not a whole number",
                "zookeeper.clientport=1              ~ line 3: key zookeeper.clientport is unknown",
                "snapCount=9\\nzookeeper.snapCount=8 ~ line 4: key zookeeper.snapCount is already set in line 3",
                "DigestAuthenticationProvider.digestAlg=MD77 ~ line 3: key DigestAuthenticationProvider.digestAlg: "
                        + "this Java has no hash \"MD77\"",
                "audit.enable=on ~ line 3: key audit.enable: \"on\" is neither true nor false",
                "enforce.auth.schemes=a,,b ~ line 3: key enforce.auth.schemes: \"a,,b\" is not a list of schemes",
                "enforce.auth.enabled=true ~ enforce.auth.enabled=true needs enforce.auth.schemes",
                "electionAlg=1                       ~ line 3: key electionAlg: \"1\" is not supported, only 3 is",
                "readonlymode.enabled=yes            ~ line 3: key readonlymode.enabled: \"yes\" is neither true nor",
                "initLimit=0                         ~ line 3: key initLimit: \"0\" is not a whole number from 1",
                "peerAuthentication=off              ~ line 3: key peerAuthentication: \"off\" is none of required,",
                "peerType=voter                      ~ line 3: key peerType: \"voter\" is neither participant nor",
                "server.0=a:2888                     ~ line 3: key server.0: a server's number is from 1 to 255",
                "server.256=a:2888                   ~ line 3: key server.256: a server's number is from 1 to 255",
                "server.1=a                          ~ line 3: key server.1: \"a\" is not of the form host:peerPort",
                "server.1=a:b                        ~ line 3: key server.1: \"a:b\": the peer port \"b\" is not a",
                "server.1=a:1:2:3                    ~ line 3: key server.1: \"a:1:2:3\" is not of the form",
                "server.1=a:1:2:watcher              ~ line 3: key server.1: \"a:1:2:watcher\" is not of the form",
                "server.1=a:1:2;0                    ~ line 3: key server.1: \"a:1:2;0\": the client port \"0\" is not",
                "server.1=[::1:2888                  ~ line 3: key server.1: \"[::1:2888\": the address in [...] is",
                "server.1=a:1|b:2                    ~ line 3: key server.1: \"a:1|b:2\": several addresses for one",
                "server.1=a:1;1                      ~ line 3: key server.1: the client port a:1 is already used by",
                "server.1=a:1\\nserver.2=a:1         ~ line 4: key server.2: the peer port a:1 is already used by "
                        + "server.1",
                "server.1=a:1\\nserver.2=a:2;1       ~ line 4: key server.2: the client port a:1 is already used by",
                "server.1=a:1\\nserver.01=b:1        ~ line 4: key server.01: server 1 is already set",
                "server.1=a:1\\nserver.2=b:1         ~ myid is missing; it says which of server.[1, 2] this one is",
                "server.1=a:1;7                      ~ clientPort=0 contradicts the line server.1, which says 7",
                "server.1=a:1:observer\\npeerType=participant ~ peerType=participant contradicts the line server.1",
                "snapCount=1000\\nsnapCount=2000     ~ line 4: key snapCount is already set in line 3",
                "minSessionTimeout=9\\nmaxSessionTimeout=8 ~ minSessionTimeout 9 ms must not be above "
                        + "maxSessionTimeout 8",
            })
    void aBadLineIsNamedWithFileLineAndKey(String line, String expected) {
        String head = line.startsWith("clientPort") ? "tickTime=100\n" : "clientPort=0\n";
        ConfigException refused = assertThrows(
                ConfigException.class, () -> read("# first\n" + head + line.replace("\\n", "\n") + "\ndataDir=d\n"));
        assertTrue(refused.getMessage().contains("zoo.cfg"), refused.getMessage());
        assertTrue(refused.getMessage().contains(expected), refused.getMessage());
    }

    private static final String THREE = """
            dataDir=%s
            tickTime=200
            initLimit=10
            syncLimit=5
            server.1=one:2888:3888:participant;2181
            server.2=two:2888:3888;localhost:2182
            server.3=[::1]:2890:observer
            clientPort=%d
            4lw.commands.whitelist=ruok, srvr
            readonlymode.enabled=true
            quorumListenOnAllIPs=true
            electionAlg=3
            """;

    private ServerConfig three(String myid, int clientPort) throws IOException {
        Path data = Files.createDirectories(directory.resolve("data"));
        Files.writeString(data.resolve("myid"), myid);
        return read(THREE.formatted(data, clientPort));
    }

    @Test
    void theServersOfAnEnsembleAreReadWithTheOwnNumberFromMyid() throws IOException {
        ServerConfig config = three("2\n", 2182);
        EnsembleConfig ensemble = config.ensemble();
        assertEquals(2, ensemble.memberId());
        assertEquals(
                Map.of(
                        1, new EnsembleMember(1, 0, "one", 2888, "", 2181, false),
                        2, new EnsembleMember(2, 0, "two", 2888, "localhost", 2182, false),
                        3, new EnsembleMember(3, 0, "::1", 2890, "", 0, true)),
                ensemble.members());
        assertEquals(10, ensemble.initLimitTicks());
        assertEquals(5, ensemble.syncLimitTicks());
        assertTrue(ensemble.listensOnAllAddresses());
        assertFalse(ensemble.isAlone());
        assertEquals(Optional.of(2182), config.clientPort());
        assertEquals(Optional.of("localhost"), config.clientPortAddress());
        assertEquals(Set.of("ruok", "srvr"), config.commandWhitelist());
        assertTrue(config.readOnlyMode());
        assertEquals(Optional.of(2183), three("3", 2183).clientPort());
    }

    @Test
    void aMyidThatNamesNoServerIsRefused() {
        String absent =
                assertThrows(ConfigException.class, () -> three("4", 2182)).getMessage();
        assertTrue(absent.contains("myid says 4, but there is no line server.4; there are [1, 2, 3]"), absent);
        String noNumber =
                assertThrows(ConfigException.class, () -> three("two", 2182)).getMessage();
        assertTrue(noNumber.contains("myid holds \"two\", not a server's number from 1 to 255"), noNumber);
        String samePort =
                assertThrows(ConfigException.class, () -> three("3", 2890)).getMessage();
        assertTrue(samePort.contains("clientPort and the peer port of server.3 are both 2890"), samePort);
    }

    @Test
    void oneServerLineOrNoneIsAServerByItself() throws IOException {
        EnsembleConfig one = read("dataDir=d\nserver.7=a:1:2;2181\n").ensemble();
        assertTrue(one.isAlone());
        assertEquals(7, one.memberId());
        EnsembleConfig none = read("dataDir=d\nclientPort=0\n").ensemble();
        assertTrue(none.isAlone());
        assertEquals(1, none.memberId());
    }

    private static String written(EnsembleMember member) {
        return MemberList.format(member, !member.observer());
    }

    @Test
    void aServerLineIsWrittenAsItIsRead() {
        for (String line : List.of("a:1:0:participant;0.0.0.0:2", "[::1]:1:0:observer", "a:1:0:participant;b:2")) {
            assertEquals(line, written(MemberLine.parse(1, line).member()));
        }
    }

    @Test
    void theElectionPortThatClientsAreShownIsNotThatOfPeersWhichZooKeepersReaderRefuses() {
        assertEquals(
                "a:2888:0:participant;0.0.0.0:2181",
                written(MemberLine.parse(1, "a:2888:2888;2181").member()));
        assertFalse(MemberLine.parse(1, "a:2888:0;2181").namesElectionPort());
    }

    @Test
    void missingSettingsAreNamed() {
        assertTrue(assertThrows(ConfigException.class, () -> read("dataDir=d\n"))
                .getMessage()
                .contains("the key clientPort is missing"));
        assertTrue(assertThrows(ConfigException.class, () -> read("clientPort=0\n"))
                .getMessage()
                .contains("the key dataDir is missing"));
        assertTrue(assertThrows(ConfigException.class, () -> ConfigFile.read(directory.resolve("nowhere")))
                .getMessage()
                .contains("nowhere"));
    }

    @Test
    void aDataDirectoryThatIsAFileIsRefused() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "x");
        assertTrue(assertThrows(ConfigException.class, () -> read("clientPort=0\ndataDir=" + file + "\n"))
                .getMessage()
                .contains("line 2: key dataDir: " + file + " is not a directory"));
    }
}
