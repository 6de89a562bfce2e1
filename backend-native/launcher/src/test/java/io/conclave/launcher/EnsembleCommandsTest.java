package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.server.AdminSecret;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands to the servers of an ensemble. */
@Timeout(300)
class EnsembleCommandsTest {
    @TempDir
    private Path directory;

    /** The member is there before it is a member, as an operator starts it before or after. */
    @Test
    void memberIsAddedPromotedAndRemovedThroughAServerThatDoesNotLead() throws IOException {
        Path home = directory.resolve("ensemble");
        try (ConclaveEnsemble ensemble =
                ConclaveEnsemble.builder().syncLimitTicks(600).directory(home).start()) {
            int follower = ensemble.follower();
            String secret = AdminSecret.read(home.resolve("server-" + follower));
            int port = ensemble.server(follower).clientPort().orElseThrow();
            InetSocketAddress address = new InetSocketAddress("127.0.0.1", port);
            try (AdminClient client = new AdminClient(address, "guess")) {
                IOException refused = assertThrows(IOException.class, () -> client.reconfig("", "1"));
                assertTrue(refused.getMessage().contains("NO_AUTH"), refused.getMessage());
            }
            try (AdminClient client = new AdminClient(address, secret)) {
                int peerPort = FreePort.find();
                int clientPort = FreePort.find();
                String members = client.reconfig(line(4, peerPort + ":observer", clientPort), "");
                assertTrue(
                        members.contains(line(4, peerPort + ":0:observer", "0.0.0.0:" + clientPort) + "\n"), members);
                assertTrue(members.contains("server.1=127.0.0.1:"), members);
                try (ConclaveServer fourth = startFourth(members)) {
                    Awaitility.await().until(fourth::isServing);
                    client.reconfig(line(4, peerPort + ":participant", clientPort), "");
                    Awaitility.await()
                            .until(() ->
                                    fourth.logStatus().configuration().voters().contains(4));
                    Awaitility.await().until(() -> client.members().contains(peerPort + ":0:participant"));
                    IOException refused = assertThrows(
                            IOException.class, () -> client.reconfig(line(5, peerPort, FreePort.find()), ""));
                    assertTrue(refused.getMessage().contains("BAD_ARGUMENTS"), refused.getMessage());
                    assertTrue(client.reconfig("", "4").lines().noneMatch(line -> line.startsWith("server.4=")));
                    assertTrue(client.reconfig("", "4,77").contains("server.1="), "as ZooKeeper answers it");
                }
            }
        }
    }

    private static String line(int id, Object peerPort, Object clientPort) {
        return "server." + id + "=127.0.0.1:" + peerPort + ";" + clientPort;
    }

    /** An operator is on the host that it is about to take away. */
    @Test
    void serverAnswersTheRequestThatRemovesIt() throws IOException {
        Path home = directory.resolve("ensemble");
        try (ConclaveEnsemble ensemble =
                ConclaveEnsemble.builder().syncLimitTicks(600).directory(home).start()) {
            int follower = ensemble.follower();
            ensemble.awaitServing(follower);
            assertTrue(membersWithout(follower, ensemble, home).lines().noneMatch(isOf(follower)));
            Awaitility.await().until(() -> !ensemble.server(follower).isServing());
            int leader = ensemble.awaitLeader();
            assertTrue(membersWithout(leader, ensemble, home).lines().noneMatch(isOf(leader)));
        }
    }

    /** Asked of that very server. */
    private static String membersWithout(int server, ConclaveEnsemble ensemble, Path home) throws IOException {
        String secret = AdminSecret.read(home.resolve("server-" + server));
        int port = ensemble.server(server).clientPort().orElseThrow();
        try (AdminClient client = new AdminClient(new InetSocketAddress("127.0.0.1", port), secret)) {
            return client.reconfig("", "" + server);
        }
    }

    private static Predicate<String> isOf(int server) {
        return line -> line.startsWith("server." + server + "=");
    }

    /** Whose vote the change takes is told by the members that the answer has. */
    @Test
    void leaderIsMadeAnObserverAndAnotherNumberTakesItsAddressThroughAServerThatDoesNotLead() throws IOException {
        Path home = directory.resolve("ensemble");
        try (ConclaveEnsemble ensemble =
                ConclaveEnsemble.builder().syncLimitTicks(600).directory(home).start()) {
            int leader = ensemble.awaitLeader();
            int follower = ensemble.follower();
            String secret = AdminSecret.read(home.resolve("server-" + follower));
            int port = ensemble.server(follower).clientPort().orElseThrow();
            try (AdminClient client = new AdminClient(new InetSocketAddress("127.0.0.1", port), secret)) {
                Awaitility.await().until(() -> client.members().contains("server." + leader + "="));
                String line = lineOf(client.members(), leader);
                String members = client.reconfig(line.replace(":participant", ":observer"), "");
                assertTrue(lineOf(members, leader).contains(":observer"), members);
                Awaitility.await().until(() -> ensemble.awaitLeader() != leader);
                String renumbered = line.replace("server." + leader + "=", "server.9=");
                members = client.reconfig(renumbered.replace(":participant", ":observer"), "" + leader);
                assertTrue(lineOf(members, 9).contains(":observer"), members);
                assertTrue(members.lines().noneMatch(other -> other.startsWith("server." + leader + "=")), members);
            }
        }
    }

    private static String lineOf(String members, int id) {
        return members.lines()
                .filter(line -> line.startsWith("server." + id + "="))
                .findFirst()
                .orElseThrow();
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
                assertTrue(refused.getMessage().contains("BAD_ARGUMENTS"), refused.getMessage());
            }
        }
    }

    private ConclaveServer startFourth(String members) throws IOException {
        Path data = Files.createDirectories(directory.resolve("fourth"));
        Files.writeString(data.resolve("myid"), "4");
        StringBuilder lines = new StringBuilder("dataDir=" + data + "\npeerSecretFile="
                + directory.resolve("ensemble").resolve("peer.secret") + "\n");
        members.lines().filter(line -> line.startsWith("server.")).forEach(line -> lines.append(line)
                .append('\n'));
        Path file = Files.writeString(directory.resolve("fourth.cfg"), lines.toString());
        return ConclaveServer.start(ConfigFile.read(file), TimeSource.system(), cause -> {});
    }
}
