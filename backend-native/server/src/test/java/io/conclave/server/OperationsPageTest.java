package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What docs/operations.md tells an operator to write, and what it says of the lines of mntr. */
class OperationsPageTest {
    private static final Path ROOT = Path.of("..", "..");
    private static final Pattern SETTING = Pattern.compile("[A-Za-z][A-Za-z.0-9]*=\\S.*");
    private static final Pattern KEY_AND_VALUE =
            Pattern.compile("`(?!conclave\\.|spring\\.|management\\.)([A-Za-z0-9]+(?:[.A-Z][A-Za-z0-9]+)+)=[^`]*`");
    private static final Pattern MAYBE_KEY = Pattern.compile("`([a-z][a-z0-9]*(?:[.A-Z][A-Za-z0-9]+)+)(?:=[^`]*)?`");
    private static final List<String> FAMILIES = List.of("", "ssl.", "ssl.quorum.");
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

    /** A key with a value on any page; and in docs/operations.md, what looks like a key. */
    @Test
    void settingsThatThePagesNameExist() throws IOException {
        String words = sources();
        Set<String> unknown = new TreeSet<>();
        int named = 0;
        for (Path page : pages()) {
            for (MatchResult name :
                    KEY_AND_VALUE.matcher(Files.readString(page)).results().toList()) {
                named++;
                if (!isKey(name.group(1))) {
                    unknown.add(page + ": " + name.group());
                }
            }
        }
        String operations = Files.readString(ROOT.resolve("docs/operations.md"));
        for (MatchResult name : MAYBE_KEY.matcher(operations).results().toList()) {
            named++;
            String word = name.group(1);
            if (!isKeyOfAFamily(word) && !words.contains(word)) {
                unknown.add("operations.md: " + word);
            }
        }
        assertEquals(Set.of(), unknown);
        assertTrue(named > 100, "the names were not found");
    }

    /** Groups of keys are named once, and then without the beginning that they share. */
    private boolean isKeyOfAFamily(String name) throws IOException {
        for (String family : FAMILIES) {
            if (isKey(family + name)) {
                return true;
            }
        }
        return false;
    }

    private boolean isKey(String name) throws IOException {
        Path file = Files.writeString(directory.resolve("one-key.cfg"), name + "=1\n");
        ConfigException refusal = assertThrows(ConfigException.class, () -> ConfigFile.read(file)); // it has no dataDir
        return !String.valueOf(refusal.getMessage()).contains("key " + name + " is unknown");
    }

    /** The main sources of servers, in which other words of the page stand. */
    private static String sources() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(ROOT.resolve("backend-native"))) {
            for (Path file : files.filter(one -> one.toString().matches(".*/src/main/.*\\.java"))
                    .toList()) {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(top, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
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
