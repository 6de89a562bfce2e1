package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FourLetterWordsTest {
    private static final Set<String> ALL = Set.of("*");

    private static ConclaveServer start(Set<String> whitelist) {
        return TestServer.start(TestServer.config().commandWhitelist(whitelist).build());
    }

    /** Telegraf takes no line of mntr if one is not so. */
    private static final String TELEGRAF = "zk_[\\w.\\-]+\\s+[\\w.\\-]+.*";

    private static final Set<String> WITHOUT_NUMBER = Set.of("zk_version", "zk_server_state", "zk_peer_state");

    static String ask(int port, String word) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(120_000);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void srvrHasZooKeepersLines() throws IOException {
        try (ConclaveServer server = start(Set.of("srvr"))) {
            int port = TestServer.port(server);
            try (RawClient client = RawClient.attached(port, 60_000)) {
                client.call(Requests.create("/a"));
                List<String> lines = ask(port, "srvr").lines().toList();
                assertTrue(lines.get(0).startsWith("Zookeeper version: 3.9.5-conclave-"), lines.get(0));
                assertTrue(lines.get(0).contains(", built on "), lines.get(0));
                assertTrue(Pattern.matches("Latency min/avg/max: \\d+/\\d+\\.\\d+/\\d+", lines.get(1)), lines.get(1));
                assertEquals(
                        List.of("Received: 3", "Sent: 2", "Connections: 2", "Outstanding: 0"), lines.subList(2, 6));
                assertEquals("Zxid: 0x" + Long.toHexString(server.state().lastZxid()), lines.get(6));
                assertEquals(List.of("Mode: standalone", "Node count: 5"), lines.subList(7, 9));
                assertEquals(9, lines.size());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ruok", "stat", "mntr", "dump", "isro"})
    void wordThatIsNotAllowedIsRefusedAsInZooKeeper(String word) throws IOException {
        try (ConclaveServer server = start(Set.of("crst"))) {
            assertTrue(ask(TestServer.port(server), "srvr").contains("\nMode: "), "zkServer.sh depends on it");
            assertEquals(
                    word + " is not executed because it is not in the whitelist.\n",
                    ask(TestServer.port(server), word));
        }
    }

    @Test
    void shortWordsAreAnsweredAsInZooKeeper() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            assertEquals("imok", ask(port, "ruok"));
            assertEquals("rw", ask(port, "isro"));
            assertEquals("imok", ask(port, "ruok\n"), "telnet ends the line");
            assertTrue(ask(port, "stat").contains("\nClients:\n /127.0.0.1:"), ask(port, "stat"));
            assertTrue(ask(port, "cons").startsWith(" /127.0.0.1:"), ask(port, "cons"));
            assertTrue(ask(port, "envi").startsWith("Environment:\nzookeeper.version=3.9.5-"), ask(port, "envi"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ruok", "stat", "mntr"})
    void aClientThatHasShutDownItsOutputIsAnswered(String word) throws IOException {
        try (ConclaveServer server = start(ALL);
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), TestServer.port(server))) {
            socket.setSoTimeout(120_000);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.shutdownOutput();
            assertTrue(socket.getInputStream().readAllBytes().length > 3, "the way of zkServer.sh and of nc -N");
        }
    }

    @Test
    void confNamesTheKeysOfTheConfigurationFile() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            Set<String> lines = ask(TestServer.port(server), "conf").lines().collect(Collectors.toSet());
            assertTrue(
                    lines.containsAll(Set.of("tickTime=50", "maxSessionTimeout=60000", "serverId=1")), lines::toString);
        }
    }

    @Test
    void mntrIsKeysAndValuesWithATabBetween() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            List<String> lines = ask(TestServer.port(server), "mntr").lines().toList();
            for (String line : lines) {
                assertTrue(Pattern.matches(TELEGRAF, line), line);
                String[] parts = line.split("\t");
                assertTrue(WITHOUT_NUMBER.contains(parts[0]) || !Double.isNaN(Double.parseDouble(parts[1])), line);
            }
            assertTrue(lines.contains("zk_server_state\tstandalone"), lines::toString);
            assertTrue(lines.contains("zk_znode_count\t4"), lines::toString);
            assertTrue(lines.stream().anyMatch(line -> line.matches("zk_conclave_max_loop_turn_ms\t\\d+\\.\\d{3}")));
        }
    }

    @Test
    void countsOfConnectionsWatchesAndRequestsGoDownAgain() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                RawClient client = RawClient.attached(port, 60_000);
                client.call(Requests.existsAndWatch("/" + i % 3));
                client.call(Requests.existsAndWatch("/all"));
                clients.add(client);
            }
            awaitCounts(port, 11, 20);
            clients.get(0).call(Requests.create("/all"));
            awaitCounts(port, 11, 10);
            for (RawClient client : clients.subList(0, 9)) {
                client.close();
            }
            awaitCounts(port, 2, 1);
            clients.get(9).close();
        }
    }

    /** The connection that asked last may still be closing when the next one asks. */
    private static void awaitCounts(int port, int connections, int watches) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertTrue(ask(port, "mntr")
                        .lines()
                        .toList()
                        .containsAll(List.of(
                                "zk_num_alive_connections\t" + connections,
                                "zk_watch_count\t" + watches,
                                "zk_outstanding_requests\t0"))));
    }

    @Test
    void consTellsWhatEachConnectionHasDoneUntilCrstBeginsAnew() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            try (RawClient client = RawClient.attached(port, 60_000)) {
                client.call(Requests.create("/a"));
                String line = lineWith(ask(port, "cons"), "sid=");
                assertTrue(
                        Pattern.matches(
                                " /127\\.0\\.0\\.1:\\d+\\[1]\\(queued=0,recved=2,sent=2,sid=0x[0-9a-f]+,lop=CREA,"
                                        + "est=\\d{13},to=60000,lcxid=0x[0-9a-f]+,lzxid=0x[0-9a-f]+,"
                                        + "lresp=\\d{13},llat=\\d+,minlat=\\d+,avglat=\\d+,maxlat=\\d+\\)",
                                line),
                        line);
                assertEquals("Connection stats reset.\n", ask(port, "crst"));
                String reset = lineWith(ask(port, "cons"), "sid=");
                assertTrue(reset.contains("(queued=0,recved=0,sent=0,sid="), reset);
                assertTrue(reset.contains(",lop=NA,"), reset);
                assertTrue(!reset.contains("lcxid"), reset);
            }
        }
    }

    private static String lineWith(String text, String part) {
        return text.lines()
                .filter(line -> line.contains(part))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + part + " in " + text));
    }

    @Test
    void srstBeginsTheServersCountsAnew() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            try (RawClient client = RawClient.attached(port, 60_000)) {
                client.call(Requests.create("/a"));
                assertEquals("Server stats reset.\n", ask(port, "srst"));
                List<String> lines = ask(port, "srvr").lines().toList();
                assertEquals(List.of("Latency min/avg/max: 0/0.0000/0", "Received: 1", "Sent: 0"), lines.subList(1, 4));
            }
        }
    }

    @Test
    void watchesAreListedBySessionAndByPath() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            try (RawClient one = RawClient.attached(port, 60_000);
                    RawClient two = RawClient.attached(port, 60_000)) {
                one.call(Requests.existsAndWatch("/a"));
                one.call(Requests.existsAndWatch("/b"));
                two.call(Requests.existsAndWatch("/a"));
                assertEquals("2 connections watching 2 paths\nTotal watches:3\n", ask(port, "wchs"));
                List<String> bySession = ask(port, "wchc").lines().toList();
                assertEquals(6, bySession.size(), bySession::toString);
                assertEquals(2, bySession.stream().filter("\t/a"::equals).count());
                assertTrue(Pattern.matches("0x[0-9a-f]+", bySession.get(0)), bySession::toString);
                List<String> byPath = ask(port, "wchp").lines().toList();
                assertEquals("/a", byPath.get(0));
                assertTrue(Pattern.matches("\t0x[0-9a-f]+", byPath.get(2)), byPath::toString);
                assertEquals("/b", byPath.get(3));
            }
        }
    }

    @Test
    void veryManyWatchesAreListedOnce() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            try (RawClient one = RawClient.attached(port, 60_000);
                    RawClient two = RawClient.attached(port, 60_000)) {
                for (int i = 0; i < 10_000; i += 1_000) {
                    watch(one, i, i + 1_000);
                    watch(two, i / 2, i / 2 + 500);
                }
                two.call(Requests.childrenAndWatch("/"));
                assertEquals("2 connections watching 10000 paths\nTotal watches:15000\n", ask(port, "wchs"));
                assertEquals(15_000 + 3, ask(port, "wchc").lines().count());
                assertEquals(10_000 + 15_000 + 1, ask(port, "wchp").lines().count());
            }
        }
    }

    private static void watch(RawClient client, int from, int to) throws IOException {
        client.send(IntStream.range(from, to)
                .mapToObj(i -> Requests.existsAndWatch("/none-" + i))
                .toArray(RequestBody[]::new));
        for (int i = from; i < to; i++) {
            client.read();
        }
    }

    @Test
    void dumpListsSessionsByTheTimeAtWhichTheyExpireAndTheirEphemerals() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            try (RawClient client = RawClient.attached(port, 60_000)) {
                client.call(Requests.create("/e", CreateFlag.EPHEMERAL));
                List<String> lines = ask(port, "dump").lines().toList();
                String id = lines.get(3).strip();
                assertEquals("SessionTracker dump:", lines.get(0));
                assertEquals("Session Sets (1)/(1):", lines.get(1));
                assertTrue(Pattern.matches("1 expire at \\w{3} \\w{3} \\d\\d .* \\d{4}:", lines.get(2)), lines.get(2));
                assertEquals(
                        List.of(
                                "\t" + id,
                                "ephemeral nodes dump:",
                                "Sessions with Ephemerals (1):",
                                id + ":",
                                "\t/e",
                                "Connections dump:"),
                        lines.subList(3, lines.size()));
            }
        }
    }

    @Test
    void traceMaskIsKeptAndDirectoriesAreMeasured() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            assertEquals("306", ask(port, "gtmk"));
            assertEquals("5", ask(port, "stmk\0\0\0\0\0\0\0\5"));
            assertEquals("5", ask(port, "gtmk"));
            assertTrue(
                    Pattern.matches("datadir_size: \\d+\nlogdir_size: \\d+\n", ask(port, "dirs")), ask(port, "dirs"));
        }
    }

    @Test
    void hashHasADigestForEach128thZxid() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            int port = TestServer.port(server);
            try (RawClient client = RawClient.attached(port, 60_000)) {
                while ((server.state().lastZxid() & 0xff) != 0x80) {
                    client.call(Requests.create("/a", CreateFlag.PERSISTENT_SEQUENTIAL));
                }
                String last = Long.toHexString(server.state().lastZxid()) + ": "
                        + server.state().digest();
                List<String> lines = ask(port, "hash").lines().toList();
                assertEquals(last, lines.get(lines.size() - 1));
                for (String line : lines) {
                    assertTrue(Pattern.matches("[0-9a-f]*[08]0: -?\\d+", line), line);
                }
            }
        }
    }

    @Test
    void lettersThatAreNoWordAreTheLengthOfAFrameThatIsTooLong() throws IOException {
        try (ConclaveServer server = start(ALL)) {
            assertEquals("", ask(TestServer.port(server), "abcd"));
        }
    }
}
