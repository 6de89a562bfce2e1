package io.conclave.proofs.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.command.FourLetterCommands;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * What operators' tools read has the same form on both servers. The whitelist of ZooKeeper's is one for the whole JVM.
 */
@Isolated
class FourLetterWordsIT {
    private static String ask(ServerUnderTest server, String word) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The lines without what differs from server to server. */
    private static List<String> form(String answer) {
        return answer.lines()
                .map(line -> line.startsWith("Zookeeper version: 3.9.5-")
                        ? "version"
                        : line.replaceAll("0x[0-9a-f]+|\\d+(\\.\\d+)?", "N"))
                .toList();
    }

    @Test
    void wordsAreAnsweredAndRefusedAlikeByDefault() throws IOException {
        try (ServerUnderTest theirs = new ApacheZooKeeper();
                ServerUnderTest ours = new StandaloneConclave()) {
            assertEquals(form(ask(theirs, "srvr")), form(ask(ours, "srvr")));
            for (String word : List.of("ruok", "stat", "conf", "mntr", "isro", "cons", "envi", "dump")) {
                assertEquals(ask(theirs, word), ask(ours, word), word);
            }
        }
    }

    private static final String WHITELIST = "zookeeper.4lw.commands.whitelist";

    /** Numbers and dates made alike, and in any order: that of connections differs. */
    private static List<String> sortedForm(String answer) {
        int connections = answer.indexOf("Connections dump:\n"); // with Netty, nothing follows there either
        String common = connections < 0 ? answer : answer.substring(0, connections) + "Connections dump:\n";
        String undated = common.replaceAll("at \\w{3} \\w{3} \\d\\d [^\n]* \\d{4}:", "at DATE:");
        return form(undated.replace("lop=PING", "lop=SETD")).stream() // a slow machine gives a client time to ping
                .sorted()
                .distinct() // theirs has lines for ticks in which nothing expires any more
                .toList();
    }

    private static void use(ZooKeeper client) throws Exception {
        client.create("/e", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        client.exists("/a", true);
        client.exists("/b", true);
        for (int i = 0; i < 130; i++) {
            client.setData("/e", new byte[3], -1);
        }
    }

    @Test
    void allWordsHaveTheFormOfZooKeepers() throws Exception {
        System.setProperty(WHITELIST, "*");
        FourLetterCommands.resetWhiteList();
        try (ServerUnderTest theirs = new ApacheZooKeeper();
                ServerUnderTest ours = new StandaloneConclave(Set.of("*"));
                ZooKeeper theirClient = new ZooKeeper(theirs.hostPort(), 10_000, event -> {});
                ZooKeeper ourClient = new ZooKeeper(ours.hostPort(), 10_000, event -> {})) {
            use(theirClient);
            use(ourClient);
            for (String word : List.of(
                    "ruok", "isro", "gtmk", "srvr", "stat", "cons", "dump", "wchs", "wchc", "wchp", "dirs", "crst",
                    "srst")) {
                assertEquals(sortedForm(ask(theirs, word)), sortedForm(ask(ours, word)), word);
            }
            for (String word : List.of("conf", "envi")) {
                Set<String> names = keys(ask(ours, word));
                assertTrue(names.containsAll(keys(ask(theirs, word))), () -> word + ": " + names);
            }
            Pattern digests = Pattern.compile("([0-9a-f]*[08]0: -?\\d+\n)+");
            assertTrue(digests.matcher(ask(theirs, "hash")).matches(), ask(theirs, "hash"));
            assertTrue(digests.matcher(ask(ours, "hash")).matches(), ask(ours, "hash"));
            assertEquals(ask(theirs, "stmk\0\0\0\0\0\0\0\7"), ask(ours, "stmk\0\0\0\0\0\0\0\7"));
            ask(ours, "mntr").lines().forEach(line -> assertTrue(line.matches("zk_\\w+\\t.+"), line));
            // the names of theirs contain names of znodes that other tests of this JVM created, as these metrics are
            // static
            ask(theirs, "mntr").lines().forEach(line -> assertTrue(line.matches("zk_\\S+\\t.+"), line));
        } finally {
            System.clearProperty(WHITELIST);
            FourLetterCommands.resetWhiteList();
        }
    }

    private static Set<String> keys(String answer) {
        return answer.lines().map(line -> line.split("=", 2)[0]).collect(Collectors.toCollection(TreeSet::new));
    }
}
