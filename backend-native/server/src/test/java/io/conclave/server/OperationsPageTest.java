package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What docs/operations.md tells an operator to write, and what it says of the lines of mntr. */
class OperationsPageTest {
    private static final Path ROOT = Path.of("..", "..");
    private static final Pattern SETTING = Pattern.compile("[A-Za-z][A-Za-z.0-9]*=\\S.*");
    private static final Pattern METRIC = Pattern.compile("\"(zk_[a-z_]+[a-z])\"");

    @TempDir
    private Path directory;

    @Test
    void eachBlockOfAConfigurationIsOneThatTheServerTakes() throws IOException {
        List<List<String>> blocks = configurations(Files.readAllLines(ROOT.resolve("docs/operations.md")));
        assertTrue(blocks.size() >= 3, () -> "too few: " + blocks);
        for (List<String> block : blocks) {
            assertTaken(block);
        }
    }

    @Test
    void shippedConfigurationIsTakenAlsoWithTheSettingsThatItLeavesOut() throws IOException {
        Path shipped = ROOT.resolve("backend-native/distribution/src/conf/zoo.cfg");
        List<String> all = Files.readAllLines(shipped).stream()
                .map(line -> line.replaceFirst("^#(?=\\w[\\w.]*=)", ""))
                .toList();
        assertTrue(all.contains("4lw.commands.whitelist=mntr,ruok"), all::toString);
        assertTaken(all);
    }

    private void assertTaken(List<String> block) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line : block) {
            String key = line.replaceFirst("=.*", "");
            if (key.endsWith(".location")) {
                String name =
                        Path.of(line.substring(key.length() + 1)).getFileName().toString();
                lines.add(key + "=" + Files.writeString(directory.resolve(name), ""));
            } else if (!key.equals("dataDir")) {
                lines.add(line);
            }
        }
        lines.add("dataDir=" + directory);
        if (block.stream().noneMatch(line -> line.startsWith("server.") || line.startsWith("clientPort="))) {
            lines.add("clientPort=0");
        }
        Files.writeString(directory.resolve("myid"), "1");
        Path file = Files.write(directory.resolve("zoo.cfg"), lines);
        assertDoesNotThrow(() -> ConfigFile.read(file), block::toString);
    }

    /** Blocks of which each line is a setting or a comment. */
    private static List<List<String>> configurations(List<String> page) {
        List<List<String>> found = new ArrayList<>();
        List<String> block = null;
        for (String line : page) {
            if (!line.startsWith("```")) {
                if (block != null) {
                    block.add(line);
                }
            } else if (block == null) {
                block = new ArrayList<>();
            } else {
                if (block.stream().anyMatch(OperationsPageTest::isSetting)
                        && block.stream().allMatch(one -> isSetting(one) || one.startsWith("#"))) {
                    found.add(block);
                }
                block = null;
            }
        }
        return found;
    }

    private static boolean isSetting(String line) {
        return SETTING.matcher(line).matches() && !line.startsWith("session=");
    }

    @Test
    void eachLineOfMntrIsExplained() throws IOException {
        String pages = Files.readString(ROOT.resolve("docs/operations.md"))
                .replaceAll(
                        "`(zk_conclave_)last_index`, `_commit_index`, `_applied_index`",
                        "$1last_index $1commit_index $1applied_index");
        Set<String> unexplained = new TreeSet<>();
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            sources.filter(file -> file.toString().endsWith(".java"))
                    .flatMap(OperationsPageTest::metricsIn)
                    .filter(name -> !pages.contains(name))
                    .forEach(unexplained::add);
        }
        assertEquals(Set.of(), unexplained);
    }

    private static Stream<String> metricsIn(Path source) {
        try {
            return METRIC
                    .matcher(Files.readString(source))
                    .results()
                    .map(result -> result.group(1))
                    .collect(Collectors.toList())
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
