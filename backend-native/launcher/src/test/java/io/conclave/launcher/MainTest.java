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
import org.junit.jupiter.api.io.TempDir;

class MainTest {
    @TempDir
    private Path directory;

    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return Main.run(
                arguments,
                new PrintStream(java.io.OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
                new PrintStream(errors, true, StandardCharsets.UTF_8));
    }

    private String said() {
        return errors.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aWrongCommandLineIsAnsweredWithASentenceAndStatusTwo() {
        assertEquals(2, run());
        assertTrue(said().contains("A command is missing."), said());
        assertEquals(2, run("halt"));
        assertTrue(said().contains("The command \"halt\" is unknown."), said());
        assertEquals(2, run("start-foreground"));
        assertTrue(said().contains("needs a configuration file"), said());
        assertEquals(2, run("start-foreground", "a", "b"));
        assertTrue(said().contains("usage: conclave-server <command> <configuration file>"), said());
    }

    @Test
    void aBadConfigurationIsAnsweredWithFileLineAndStatusTwo() throws IOException {
        Path file = Files.writeString(directory.resolve("zoo.cfg"), "clientPort=x\n");
        assertEquals(2, run("start-foreground", file.toString()));
        assertTrue(said().contains(file + ": line 1: key clientPort"), said());
    }

    @Test
    void aPortThatIsTakenIsNamedWithStatusOne() throws IOException {
        try (java.net.ServerSocket taken = new java.net.ServerSocket(0)) {
            Path file = Files.writeString(
                    directory.resolve("zoo.cfg"),
                    "clientPort=" + taken.getLocalPort() + "\ndataDir=" + directory.resolve("data") + "\n");
            assertEquals(1, run("start-foreground", file.toString()));
            assertTrue(said().contains("cannot listen on"), said());
            assertTrue(said().contains(String.valueOf(taken.getLocalPort())), said());
        }
    }
}
