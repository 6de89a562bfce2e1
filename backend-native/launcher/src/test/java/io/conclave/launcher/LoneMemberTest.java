package io.conclave.launcher;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server whose file lists only itself, though its cluster has grown by {@code add}. */
@Timeout(300)
class LoneMemberTest extends CommandsFixture {
    /** Its cluster grew by {@code add}, and its file did not: it waits for the others, and can be asked meanwhile. */
    @Test
    void aMemberThatListsOnlyItselfAndWaitsForTheOthersSaysSo() throws Exception {
        Path file = firstOfACluster();
        growTo(2, file);
        ConclaveServer server = start(file);
        try {
            assertEquals(3, run("status", file), said());
            assertTrue(said().contains("No leader: "), said());
        } finally {
            stop(server, file);
        }
    }

    /** A member joins through links that it dials. */
    @Test
    void aMemberWhoseLogWasSetAsideIsTakenInOnceItsFileListsTheOthers() throws Exception {
        Path file = firstOfACluster();
        growTo(3, file);
        assertEquals(0, run("set-aside", file), said());
        assertTrue(said().contains("add their server.N lines before the next start"), said());
        String refusal = String.valueOf(
                assertThrows(LogException.class, () -> start(file).close()).getMessage());
        assertTrue(refusal.contains("add the server.N lines of the others"), refusal);

        for (int other = 2; other <= 3; other++) {
            Files.writeString(file, lineOf(other) + "\n", StandardOpenOption.APPEND);
        }
        try (ConclaveServer second = startQuietly(file(2));
                ConclaveServer third = startQuietly(file(3));
                ConclaveServer first = startQuietly(file)) {
            Awaitility.await()
                    .atMost(Duration.ofMinutes(2))
                    .until(() -> first.isServing() && second.isServing() && third.isServing());
        }
    }

    /** Lists only itself. */
    private Path firstOfACluster() throws IOException {
        Path file = member(1, "server.1=127.0.0.1:" + FreePort.find());
        assertEquals(0, run("init", file), said());
        return file;
    }

    private Path file(int id) {
        return directory.resolve("member-" + id + ".cfg");
    }

    private Path member(int id, String lines) throws IOException {
        Path data = Files.createDirectories(directory.resolve("member-" + id));
        Files.writeString(data.resolve("myid"), String.valueOf(id));
        return Files.writeString(configuration("member-" + id), lines + "\n", StandardOpenOption.APPEND);
    }

    private String lineOf(int id) throws IOException {
        return Files.readString(file(id))
                .lines()
                .filter(line -> line.startsWith("server." + id + "="))
                .findFirst()
                .orElseThrow();
    }

    private static ConclaveServer startQuietly(Path file) {
        return ConclaveServer.start(ConfigFile.read(file), TimeSource.system(), cause -> {});
    }

    /** None of them runs afterwards. */
    private void growTo(int members, Path file) throws IOException {
        List<ConclaveServer> others = new ArrayList<>();
        ConclaveServer first = start(file);
        try {
            for (int id = 2; id <= members; id++) {
                String added = "server." + id + "=127.0.0.1:" + FreePort.find();
                Path other = member(id, lineOf(1) + "\n" + added);
                Files.copy(
                        directory.resolve("member-1/peer.secret"),
                        directory.resolve("member-" + id + "/peer.secret"),
                        COPY_ATTRIBUTES);
                ConclaveServer started = startQuietly(other);
                others.add(started);
                assertEquals(0, run("add", file, added), said());
                int voters = id;
                Awaitility.await()
                        .atMost(Duration.ofMinutes(2))
                        .until(() -> first.logStatus().configuration().voters().size() == voters);
                Awaitility.await().atMost(Duration.ofMinutes(2)).until(started::isServing);
            }
        } finally {
            stop(first, file);
            others.forEach(ConclaveServer::close);
        }
    }
}
