package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.DigestHash;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The command that makes digests, without a terminal. */
class DigestCommandTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

    private int run(String user, String input, String... words) {
        Console console = new Console(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(errors, true, StandardCharsets.UTF_8));
        return DigestCommand.digest(
                console,
                user,
                List.of(words),
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                Optional.empty());
    }

    private String printed() {
        return out.toString(StandardCharsets.UTF_8).strip();
    }

    @Test
    void itPrintsWhatZooKeepersGenerateDigestDoes() {
        assertEquals(0, run("super", "admin\n"));
        assertEquals("super:xQJmxLMiHGwaqBvst5y6rkB6HQs=", printed());
        assertEquals("", errors.toString(StandardCharsets.UTF_8));
    }

    @Test
    void theHashCanBeAnother() {
        assertEquals(0, run("bob", "p:w\u00e4\nnot this", "--algorithm", "SHA-256"));
        assertEquals(new DigestHash("SHA-256").idOf("bob:p:w\u00e4").id(), printed());
    }

    @Test
    void wrongWordsAreNamedAndPasswordsAreNot() {
        assertThrows(IllegalArgumentException.class, () -> run("", "x"));
        IllegalArgumentException both = assertThrows(IllegalArgumentException.class, () -> run("bob:7351", "x"));
        assertTrue(both.getMessage().contains("standard input"), both::getMessage);
        assertFalse(both.getMessage().contains("7351"), both::getMessage);
        assertThrows(IllegalArgumentException.class, () -> run("bob", "x", "SHA-256"));
        IllegalArgumentException hash =
                assertThrows(IllegalArgumentException.class, () -> run("bob", "x", "--algorithm", "none-such"));
        assertTrue(hash.getMessage().contains("none-such"), hash::getMessage);
        assertEquals(1, run("bob", ""));
        assertFalse(errors.toString(StandardCharsets.UTF_8).isEmpty());
        assertEquals("", printed());
    }

    @Test
    void theCommandLineKnowsIt() {
        PrintStream said = new PrintStream(errors, true, StandardCharsets.UTF_8);
        assertEquals(2, Main.run(new String[] {"digest"}, said, said));
        assertTrue(errors.toString(StandardCharsets.UTF_8).contains("digest needs a user."));
        assertEquals(2, Main.run(new String[] {"digest", "bob", "a", "b", "c"}, said, said));
    }
}
