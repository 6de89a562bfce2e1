package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
    void clusterIsBootstrappedOnceAndSaysWhatToDoNext() throws IOException {
        Path data = Files.createDirectories(directory.resolve("data"));
        Files.writeString(data.resolve("myid"), "2");
        Path file = Files.writeString(
                directory.resolve("zoo.cfg"),
                "dataDir=" + data + "\nserver.1=a:1;2\nserver.2=127.0.0.1:21999;21998\nserver.3=c:1;2\n");
        assertEquals(0, run("init", file.toString()), said());
        assertTrue(said().contains("with member 2."), said());
        assertTrue(said().contains("Then start the servers [1, 3], with empty directories"), said());
        assertEquals(1, run("init", file.toString()), said());
        assertTrue(said().contains("holds the log of an existing cluster"), said());
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
}
