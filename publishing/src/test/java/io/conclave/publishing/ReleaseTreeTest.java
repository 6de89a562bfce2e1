package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What {@code scripts/release-tree} makes of HEAD: all files name the version of the release. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the scripts of a release run on Linux")
class ReleaseTreeTest {
    private static final Path PROJECT = Path.of("..");
    private static final String VERSION = "9.8.7";

    @TempDir
    private Path tree;

    @Test
    void everyFileNamesTheVersionOfTheRelease() throws Exception {
        assumeTrue(Files.exists(PROJECT.resolve(".git")), "a clone is needed");
        Ended shown = run("bash", "-c", "git show HEAD:pom.xml");
        assumeTrue(shown.code == 0, () -> "a clone that git can read is needed: " + shown.printed);
        String before = shown.printed.replaceAll("(?s).*?\n  <version>(.*?)</version>.*", "$1");
        Ended script = run("scripts/release-tree", tree.toString(), VERSION, "https://h.invalid/c");
        assertEquals(0, script.code, script.printed);
        assertTrue(script.printed.contains("!examples"), script.printed);

        try (Stream<Path> files = Files.walk(tree)) {
            List<Path> old = files.filter(Files::isRegularFile)
                    .filter(file -> text(file).contains(before))
                    .map(tree::relativize)
                    .toList();
            assertEquals(List.of(), old);
        }
        assertNamed("pom.xml", "<version>" + VERSION + "</version>");
        assertNamed("backend-native/distribution/docker/Dockerfile", "ARG VERSION=" + VERSION);
        assertNamed("scripts/test-image", "target/conclave-" + VERSION);
        assertNamed("README.md", "<version>" + VERSION + "</version>");
        assertNamed("docs/operations.md", "conclave:" + VERSION);
    }

    private record Ended(int code, String printed) {}

    private static Ended run(String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .directory(PROJECT.toFile())
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), printed);
    }

    private void assertNamed(String file, String text) {
        assertTrue(text(tree.resolve(file)).contains(text), file);
    }

    /** Byte for byte: not all files are text. */
    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
