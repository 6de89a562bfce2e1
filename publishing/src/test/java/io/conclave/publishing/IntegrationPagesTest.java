package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The page of each integration lists what its framework demands, each with a test that exists; and it names no version
 * of another project that no build uses, nor does the README.
 */
class IntegrationPagesTest {
    private static final Path TOP = Path.of("..");
    private static final Path PAGES = TOP.resolve("docs/integrations");
    private static final Pattern TABLE =
            Pattern.compile("(?m)^\\|[^\n]*\\| test( here)? \\|\n\\|[-|]+\\|\n((?:\\|.*\n)+)");
    private static final Pattern NAMED = Pattern.compile("`(?:\\.\\.\\.)?([A-Za-z0-9.]+)`");
    private static final Pattern CLASS = Pattern.compile("[A-Z]\\w*(?:Test|IT|Contract)");
    private static final Pattern METHOD = Pattern.compile("(?:void|fun) (\\w+)\\(");
    private static final Pattern VERSION = Pattern.compile("(?<![\\w.#/:-])\\d+\\.\\d+(?:\\.\\d+)?(?![\\w-]|\\.\\d)");

    /** Versions that a page tells something of, and that nobody has to bring. */
    private static final Map<String, String> TOLD = Map.of(
            "5.13", "JUnit closes more from there on",
            "2.26.1", "Docker Compose, of which a test has recordings",
            "4.2.19", "Netty without its native jars");

    private final Map<String, Set<String>> methodsOfTests = new TreeMap<>();

    private static List<Path> pages() throws IOException {
        try (Stream<Path> pages = Files.list(PAGES)) {
            return pages.sorted().toList();
        }
    }

    private void readTests() throws IOException {
        for (Path file : SourceTree.files(TOP, one -> one.toString().matches(".*/src/(test|it)/.*\\.(java|kt)"))) {
            Set<String> methods = methodsOfTests.computeIfAbsent(
                    file.getFileName().toString().replaceFirst("\\..*", ""), name -> new TreeSet<>());
            METHOD.matcher(Files.readString(file)).results().forEach(method -> methods.add(method.group(1)));
        }
        assertTrue(methodsOfTests.size() > 500, "the tests were not found");
    }

    @Test
    void whatAFrameworkDemandsHasTestsThatExist() throws IOException {
        readTests();
        Set<String> wrong = new TreeSet<>();
        int named = 0;
        for (Path page : pages()) {
            List<MatchResult> tables =
                    TABLE.matcher(Files.readString(page)).results().toList();
            if (tables.isEmpty() && !page.endsWith("README.md")) {
                wrong.add(page.getFileName() + " has no such table");
            }
            for (MatchResult table : tables) {
                for (String row : table.group(2).split("\n")) {
                    List<String> tests = tests(row);
                    named += tests.size();
                    tests.stream()
                            .filter(test -> !exists(test))
                            .forEach(test -> wrong.add(page.getFileName() + " names " + test));
                }
            }
        }
        assertEquals(Set.of(), wrong);
        assertTrue(named > 80, "the names of the tests were not found");
    }

    /** What the last cell names as a class of tests, a method of one, or the method alone. */
    private static List<String> tests(String row) {
        String[] cells = row.split(" \\| ?");
        List<String> tests = new ArrayList<>();
        for (MatchResult name : NAMED.matcher(cells[cells.length - 1]).results().toList()) {
            String found = name.group(1);
            if (CLASS.matcher(found.replaceFirst("\\..*", "")).matches() || found.matches("[a-z]+[A-Z]\\w+")) {
                tests.add(found);
            }
        }
        return tests;
    }

    private boolean exists(String test) {
        String[] classAndMethod = test.split("\\.");
        if (Character.isUpperCase(test.charAt(0))) {
            return methodsOfTests.containsKey(classAndMethod[0])
                    && (classAndMethod.length == 1
                            || methodsOfTests.get(classAndMethod[0]).contains(classAndMethod[1]));
        }
        return methodsOfTests.values().stream().anyMatch(methods -> methods.contains(test));
    }

    @Test
    void versionsThatThePagesNameAreThoseOfABuild() throws IOException {
        Set<String> used = new TreeSet<>(TOLD.keySet());
        for (Path pom : SourceTree.files(TOP, file -> file.endsWith("pom.xml"))) {
            VERSION.matcher(Files.readString(pom)).results().forEach(version -> used.add(version.group()));
        }
        Set<String> unused = new TreeSet<>();
        int named = 0;
        for (Path page : Stream.concat(Stream.of(TOP.resolve("README.md")), pages().stream())
                .toList()) {
            for (MatchResult version :
                    VERSION.matcher(Files.readString(page)).results().toList()) {
                named++;
                String found = version.group();
                if (used.stream().noneMatch(one -> one.equals(found) || one.startsWith(found + "."))) {
                    unused.add(page.getFileName() + ": " + found);
                }
            }
        }
        assertEquals(Set.of(), unused);
        assertTrue(named > 50, "the versions were not found");
    }
}
