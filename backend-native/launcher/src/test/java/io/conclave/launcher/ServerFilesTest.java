package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.server.ConfigFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that does not end in order leaves its file behind, and its number goes to another process. */
@Timeout(300)
class ServerFilesTest extends CommandsFixture {
    /** A Java process of somebody else. */
    static final class Other {
        public static void main(String[] none) throws IOException {
            int end = System.in.read();
            assert end < 0;
        }
    }

    private static Process other() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Other.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private Path configuration() throws IOException {
        return Files.writeString(directory.resolve("zoo.cfg"), "clientPort=0\ndataDir=" + directory + "\n");
    }

    private ServerFiles files() throws IOException {
        return ServerFiles.of(ConfigFile.read(configuration()));
    }

    private Path pidFile() {
        return directory.resolve("conclave-server.pid");
    }

    private void write(long pid, String... more) throws IOException {
        Files.writeString(pidFile(), pid + "\n2181\n" + String.join("", more));
    }

    private int run(String command) throws IOException {
        return run(command, configuration());
    }

    private static String startOf(ProcessHandle process) {
        return ProcessStart.of(process).orElseThrow();
    }

    @Test
    void serverIsFoundWhileItRuns() throws IOException {
        ServerFiles files = files();
        files.publish(2181);
        ServerFiles.Running running = files.running().orElseThrow();
        assertEquals(ProcessHandle.current(), running.process());
        assertEquals(2181, running.port());
        files.withdraw();
        assertFalse(Files.exists(pidFile()));
        assertEquals(Optional.empty(), files.running());
    }

    /** In a container the server was process 1, and the command is. */
    @Test
    void commandThatHasGotTheNumberOfTheServerIsNotTheServer() throws IOException {
        long self = ProcessHandle.current().pid();
        for (String start : List.of("", "another boot 7\n", "\n")) {
            write(self, start);
            assertEquals(1, run("set-aside"));
            assertTrue(said().contains("holds no log"), said());
            assertEquals(0, run("stop"));
            assertEquals("No server of " + directory + " runs.\n", said());
        }
    }

    @Test
    void stopDoesNotEndAnotherJavaThatHasGotTheNumber() throws Exception {
        Process other = other();
        try {
            write(other.pid(), startOf(ProcessHandle.current()) + "\n");
            assertEquals(1, run("status"));
            assertEquals(0, run("stop"));
            assertEquals("No server of " + directory + " runs.\n", said());
            assertTrue(other.isAlive());
            write(other.pid(), startOf(other.toHandle()) + "\n");
            assertEquals(other.toHandle(), files().running().orElseThrow().process());
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    @Test
    void fileOfAnOlderVersionIsReadStill() throws Exception {
        Process other = other();
        try {
            write(other.pid());
            assertEquals(other.toHandle(), files().running().orElseThrow().process());
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    @Test
    void serverThatCannotWriteTheFileGoesOn() throws IOException {
        Files.createDirectories(pidFile().resolve("not-empty"));
        ServerFiles files = files();
        files.publish(2181);
        assertEquals(Optional.empty(), files.running());
        files.withdraw();
        assertTrue(Files.isDirectory(pidFile()));
    }
}
