package io.conclave.ensemble;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Servers that are processes: each test leaves three of them that serve. */
@Timeout(300)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "signals")
class ServersAsProcessesTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    static Path directory;

    private static ConclaveEnsemble ensemble;
    private static int places;
    private NodePath place;

    @BeforeAll
    static void start() {
        ensemble = ConclaveEnsemble.builder()
                .asProcesses("-Xmx64m")
                .directory(directory)
                .electionTimeoutMs(500)
                .syncLimitTicks(600) // a busy machine may take seconds to elect a leader
                .start();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @BeforeEach
    void choosePlace() {
        place = NodePath.of("/place-" + places++);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** What a client of that server reads, when it has caught up. */
    private void assertReadAt(int id, String expected) throws InterruptedException {
        try (Coordinator client = Coordinator.connect(ensemble.connectString(id))) {
            client.execute(Sync.of(place));
            assertArrayEquals(bytes(expected), client.execute(GetData.of(place)).data());
        }
    }

    /** Whichever leads by now. */
    private static int otherThan(int id) {
        return id % 3 + 1;
    }

    @Test
    void killedLeaderIsSucceededAndComesBackWithWhatItMissed() throws InterruptedException {
        int leader = ensemble.awaitLeader();
        try (Coordinator client = Coordinator.connect(ensemble.connectString(otherThan(leader)))) {
            client.execute(Create.of(place));
            ensemble.kill(leader);
            client.execute(SetData.of(place, bytes("meanwhile")));
        }
        assertNotEquals(leader, ensemble.awaitLeader());
        ensemble.restart(leader);
        ensemble.awaitServing(leader);
        assertReadAt(leader, "meanwhile");
    }

    @Test
    void pausedLeaderIsReplacedAndFollowsWhenItGoesOn() throws InterruptedException {
        int leader = ensemble.awaitLeader();
        try (Coordinator client = Coordinator.connect(ensemble.connectString(otherThan(leader)))) {
            client.execute(Create.of(place));
            ensemble.pause(leader);
            assertNotEquals(leader, ensemble.awaitLeader());
            client.execute(SetData.of(place, bytes("meanwhile")));
        }
        ensemble.resume(leader);
        ensemble.awaitServing(leader);
        assertReadAt(leader, "meanwhile");
    }

    @Test
    void leaderWithoutLinksIsDeposedAndFollowsAgainWhenTheyHeal() throws InterruptedException {
        int leader = ensemble.awaitLeader();
        int other = otherThan(leader);
        ensemble.isolate(leader);
        await().atMost(PATIENCE).until(() -> ensemble.awaitLeader() != leader);
        try (Coordinator client = Coordinator.connect(ensemble.connectString(other))) {
            client.execute(Create.of(place).withData(bytes("meanwhile")));
        }
        ensemble.healAll();
        ensemble.awaitServing(leader);
        assertReadAt(leader, "meanwhile");
    }

    @Test
    void serverThatIsStoppedEndsInOrderAndSaysSoInItsFile() throws IOException {
        int id = ensemble.follower();
        ensemble.stop(id);
        assertThrows(IllegalStateException.class, () -> ensemble.awaitServing(id));
        Path output = directory.resolve("server-" + id).resolve("conclave-server.out");
        assertTrue(Files.readString(output).contains(ServerMain.STOPPED), () -> "no word of its end in " + output);
        ensemble.restart(id);
        ensemble.awaitServing(id);
    }

    @Test
    void pausedServerCanBeKilledAndStartedAgain() {
        int id = ensemble.follower();
        ensemble.pause(id);
        ensemble.kill(id);
        ensemble.restart(id);
        ensemble.awaitServing(id);
    }

    @Test
    void serverInAProcessCannotBeAskedItself() {
        UnsupportedOperationException refusal =
                assertThrows(UnsupportedOperationException.class, () -> ensemble.server(1));
        assertTrue(refusal.getMessage().startsWith("server 1 is not in this JVM, but process "), refusal.getMessage());
    }

    @Test
    void processThatCannotStartIsNamedWithWhatItSaid() {
        IllegalStateException failure = assertThrows(IllegalStateException.class, () -> ConclaveEnsemble.builder()
                .voters(1)
                .asProcesses("-XX:NoSuchOption")
                .start());
        assertTrue(failure.getMessage().contains("NoSuchOption"), failure.getMessage());
    }

    @Test
    void serversEndWithTheJvmThatStartedThemEvenIfItIsKilledWhileOneIsPaused() throws IOException {
        Process owner = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        EnsembleOwner.class.getName(),
                        directory.resolve("owner").toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            List<ProcessHandle> servers = new ArrayList<>();
            BufferedReader lines = owner.inputReader(StandardCharsets.UTF_8);
            for (String line = lines.readLine(); !"ready".equals(line); line = lines.readLine()) {
                if (line.matches("\\d+")) {
                    ProcessHandle.of(Long.parseLong(line)).ifPresent(servers::add);
                }
            }
            assertEquals(3, servers.size(), "two servers and the shell that pauses one");
            owner.toHandle().destroyForcibly();
            await().atMost(PATIENCE).until(() -> servers.stream().noneMatch(ProcessHandle::isAlive));
        } finally {
            owner.destroyForcibly();
        }
    }
}
