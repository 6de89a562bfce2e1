package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.server.AdminSecret;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class CommandsTest {
    @TempDir
    private Path directory;

    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    private int run(String... arguments) {
        output.reset();
        PrintStream both = new PrintStream(output, true, StandardCharsets.UTF_8);
        return Main.run(arguments, both, both);
    }

    private String said() {
        return output.toString(StandardCharsets.UTF_8);
    }

    @Test
    void clusterIsBornOnceAndSaysWhatToDoNext() throws IOException {
        Path data = Files.createDirectories(directory.resolve("data"));
        Files.writeString(data.resolve("myid"), "2");
        Path file = Files.writeString(
                directory.resolve("zoo.cfg"),
                "dataDir=" + data + "\nserver.1=a:1;2\nserver.2=127.0.0.1:21999;21998\nserver.3=c:1;2\n");
        assertEquals(0, run("init", file.toString()), said());
        assertTrue(said().contains("with member 2."), said());
        assertTrue(said().contains("Then start the servers [1, 3], with empty directories"), said());
        assertEquals(1, run("init", file.toString()), said());
        assertTrue(said().contains("holds a log already"), said());
        assertEquals(0, run("set-aside", file.toString()), said());
        assertTrue(said().contains("set-aside-1-identity"), said());
    }

    @Test
    void commandsToAServerThatDoesNotRunSaySo() throws IOException {
        Path file = Files.writeString(directory.resolve("zoo.cfg"), "clientPort=0\ndataDir=" + directory + "\n");
        assertEquals(1, run("status", file.toString()));
        assertTrue(said().contains("No server of " + directory + " runs."), said());
        assertEquals(0, run("stop", file.toString()));
        assertEquals(1, run("members", file.toString()));
        assertEquals(2, run("add", file.toString(), "nonsense"));
        assertTrue(said().contains("\"nonsense\" is not of the form server.N=host:peerPort"), said());
        assertEquals(2, run("remove", file.toString(), "0"));
    }

    /** The member is there before it is a member, as an operator starts it before or after. */
    @Test
    void memberIsAddedPromotedAndRemovedThroughAServerThatDoesNotLead() throws IOException {
        Path home = directory.resolve("ensemble");
        try (ConclaveEnsemble ensemble =
                ConclaveEnsemble.builder().directory(home).start()) {
            int follower = ensemble.follower();
            String secret = AdminSecret.read(home.resolve("server-" + follower));
            int port = ensemble.server(follower).clientPort().orElseThrow();
            InetSocketAddress address = new InetSocketAddress("127.0.0.1", port);
            try (AdminClient client = new AdminClient(address, "guess")) {
                IOException refused = assertThrows(IOException.class, () -> client.reconfig("", "1"));
                assertTrue(refused.getMessage().contains("NO_AUTH"), refused.getMessage());
            }
            try (AdminClient client = new AdminClient(address, secret)) {
                String members = client.reconfig("server.4=127.0.0.1:21997:observer;21996", "");
                assertTrue(members.contains("server.4=127.0.0.1:21997:0:observer;0.0.0.0:21996\n"), members);
                assertTrue(members.contains("server.1=127.0.0.1:"), members);
                try (ConclaveServer fourth = startFourth(members)) {
                    Awaitility.await().until(fourth::isServing);
                    client.reconfig("server.4=127.0.0.1:21997:participant;21996", "");
                    Awaitility.await()
                            .until(() ->
                                    fourth.logStatus().configuration().voters().contains(4));
                    Awaitility.await().until(() -> client.members().contains("21997:0:participant"));
                    assertTrue(client.reconfig("", "4").lines().noneMatch(line -> line.startsWith("server.4=")));
                }
            }
        }
    }

    @Test
    void refusalOfTheLeaderComesAtOnceThroughAServerThatDoesNotLead() throws IOException {
        Path home = directory.resolve("ensemble");
        try (ConclaveEnsemble ensemble = ConclaveEnsemble.builder()
                .voters(1)
                .observers(1)
                .directory(home)
                .start()) {
            int observer = 2;
            ensemble.awaitServing(observer);
            String secret = AdminSecret.read(home.resolve("server-" + observer));
            int port = ensemble.server(observer).clientPort().orElseThrow();
            try (AdminClient client = new AdminClient(new InetSocketAddress("127.0.0.1", port), secret)) {
                IOException refused = assertTimeout(
                        Duration.ofSeconds(30),
                        () -> assertThrows(IOException.class, () -> client.reconfig("", "1"), "the only voter goes"));
                assertTrue(refused.getMessage().contains("RECONFIG_IN_PROGRESS"), refused.getMessage());
            }
        }
    }

    private ConclaveServer startFourth(String members) throws IOException {
        Path data = Files.createDirectories(directory.resolve("fourth"));
        Files.writeString(data.resolve("myid"), "4");
        StringBuilder lines = new StringBuilder("dataDir=" + data + "\n");
        members.lines().filter(line -> line.startsWith("server.")).forEach(line -> lines.append(line)
                .append('\n'));
        Path file = Files.writeString(directory.resolve("fourth.cfg"), lines.toString());
        return ConclaveServer.start(ConfigFile.read(file), TimeSource.system(), cause -> {});
    }
}
