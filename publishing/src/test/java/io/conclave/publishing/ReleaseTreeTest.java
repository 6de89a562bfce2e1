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
        String pom = Files.readString(PROJECT.resolve("pom.xml"));
        String before = pom.replaceAll("(?s).*?\n  <version>(.*?)</version>.*", "$1");
        Process script = new ProcessBuilder("scripts/release-tree", tree.toString(), VERSION, "https://h.invalid/c")
                .directory(PROJECT.toFile())
                .redirectErrorStream(true)
                .start();
        String printed = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, script.waitFor(), printed);
        assertTrue(printed.contains("!examples"), printed);

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
