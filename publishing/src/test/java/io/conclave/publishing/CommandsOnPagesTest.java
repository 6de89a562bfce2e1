package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.FencedCodeBlock;
import org.junit.jupiter.api.Test;

/** What the pages tell a reader to call is there: scripts, examples, commands of the server, modules, tests. */
class CommandsOnPagesTest {
    private static final Path TOP = Path.of("..");
    private static final Pattern MAIN_OF_THE_SERVER = Pattern.compile("(?:command|entry)\\(\\s*\"([a-z-]+)\"");
    private static final Pattern NAME_OF_AN_EXAMPLE = Pattern.compile("(?m)^  ([a-z-]+)\\) main=");

    /**
     * Something that is called.
     *
     * @param words finds it, in its first group: several may be separated by commas
     * @param isThere whether one of them is
     * @param least how often the pages have it at least
     */
    private record Kind(Pattern words, Predicate<String> isThere, int least) {}

    @Test
    void whatThePagesCallIsThere() throws IOException {
        Set<String> examples = found(NAME_OF_AN_EXAMPLE, "examples/run");
        Set<String> commands =
                found(MAIN_OF_THE_SERVER, "backend-native/launcher/src/main/java/io/conclave/launcher/Main.java");
        Set<String> tests = tests();
        List<Kind> kinds = List.of(
                kind("(?<![\\w./-])((?:scripts|benchmarks|examples|\\.ci)/[a-z-]+)(?![\\w./-])", this::canBeRun, 50),
                kind("examples/run ([a-z-]+)", examples::contains, 13),
                kind("(?<![\\w./-])(?:bin/)?conclave-server ([a-z-]+) ", commands::contains, 30),
                kind("\\bmvn .*-pl '?!?([a-z0-9,/-]+)", this::isModule, 5),
                kind("-Dtest='?([\\w*,]+)", name -> tests.stream().anyMatch(pattern(name)), 3));
        List<Path> pages = pages();
        Set<String> missing = new TreeSet<>();
        for (Kind kind : kinds) {
            int calls = 0;
            for (Path page : pages) {
                for (String words : words(kind, page)) {
                    calls++;
                    Stream.of(words.split(","))
                            .filter(kind.isThere.negate())
                            .forEach(word -> missing.add(page + ": " + word));
                }
            }
            assertTrue(calls >= kind.least, "found only " + calls + " of " + kind.words);
        }
        assertEquals(Set.of(), missing);
    }

    private static Kind kind(String words, Predicate<String> isThere, int least) {
        return new Kind(Pattern.compile(words), isThere, least);
    }

    private boolean canBeRun(String script) {
        Path file = TOP.resolve(script);
        return Files.isDirectory(file) || Files.isExecutable(file);
    }

    private boolean isModule(String folder) {
        return Files.exists(TOP.resolve(folder).resolve("pom.xml"));
    }

    private static Predicate<String> pattern(String name) {
        return Pattern.compile(name.replace("*", ".*")).asMatchPredicate();
    }

    private static Set<String> found(Pattern pattern, String file) throws IOException {
        Set<String> names = new HashSet<>();
        pattern.matcher(Files.readString(TOP.resolve(file))).results().forEach(found -> names.add(found.group(1)));
        return names;
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        try (Stream<Path> top = Files.list(TOP);
                Stream<Path> docs = Files.walk(TOP.resolve("docs"))) {
            Stream.concat(top, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .forEach(pages::add);
        }
        return pages;
    }

    /** Names of the classes of tests. */
    private static Set<String> tests() throws IOException {
        Set<String> names = new HashSet<>();
        SourceTree.files(TOP, file -> file.toString().matches(".*/src/test/.*\\.java"))
                .forEach(file -> names.add(file.getFileName().toString().replace(".java", "")));
        return names;
    }

    /** In blocks of code, a long line as one, and in code within the text. */
    private static List<String> words(Kind kind, Path page) throws IOException {
        List<String> words = new ArrayList<>();
        Markdown.of(Files.readString(page)).document().accept(new AbstractVisitor() {
            @Override
            public void visit(Code code) {
                find(code.getLiteral());
            }

            @Override
            public void visit(FencedCodeBlock block) {
                find(block.getLiteral().replace("\\\n", " "));
            }

            private void find(String code) {
                kind.words.matcher(code).results().forEach(found -> words.add(found.group(1)));
            }
        });
        return words;
    }
}
