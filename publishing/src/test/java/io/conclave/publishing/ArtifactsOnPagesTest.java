package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Who follows the page of an integration gets what its example imports: from an artifact that the page names. */
class ArtifactsOnPagesTest {
    private static final Path TOP = Path.of("..");
    private static final Pattern NAMED = Pattern.compile("conclave-[a-z0-9-]*[a-z0-9]");
    private static final Pattern EXAMPLE = Pattern.compile("```(?:java|kotlin)\n(.*?)```", Pattern.DOTALL);
    private static final Pattern IMPORT = Pattern.compile("(?m)^import (io\\.conclave\\.[a-z.]*[a-z])\\.\\w");

    private final Map<String, Set<String>> needs = new TreeMap<>();
    private final Map<String, String> artifactOfPackage = new TreeMap<>();

    private void readModules() throws IOException {
        for (Path pom : files("pom.xml")) {
            Pom read = Pom.read(pom);
            String artifact = read.text("artifactId").orElseThrow();
            Set<String> direct = new TreeSet<>();
            read.dependencies("dependencies/dependency").stream()
                    .filter(one -> Set.of("", "compile", "runtime").contains(one.scope()))
                    .forEach(one -> direct.add(one.artifact()));
            needs.put(artifact, direct);
            for (String language : List.of("java", "kotlin")) {
                Path sources = pom.resolveSibling("src/main/" + language);
                if (Files.isDirectory(sources)) {
                    packages(sources).forEach(name -> artifactOfPackage.put(name, artifact));
                }
            }
        }
        assertTrue(needs.size() > 30 && artifactOfPackage.size() > 40, "the modules were not found");
    }

    private static List<Path> files(String name) throws IOException {
        return SourceTree.files(
                TOP, file -> file.endsWith(name) && TOP.relativize(file).getNameCount() <= 3);
    }

    private static Set<String> packages(Path sources) throws IOException {
        Set<String> packages = new TreeSet<>();
        try (Stream<Path> files = Files.walk(sources)) {
            files.filter(Files::isRegularFile)
                    .map(file -> sources.relativize(file.getParent()).toString().replace('/', '.'))
                    .forEach(packages::add);
        }
        return packages;
    }

    private Set<String> withWhatTheyNeed(Set<String> artifacts) {
        Set<String> all = new TreeSet<>();
        Deque<String> left = new ArrayDeque<>(artifacts);
        while (!left.isEmpty()) {
            String next = left.pop();
            if (all.add(next)) {
                left.addAll(needs.getOrDefault(next, Set.of()));
            }
        }
        return all;
    }

    @Test
    void pagesOfIntegrationsNameWhatTheirExamplesNeed() throws IOException {
        readModules();
        Set<String> missing = new TreeSet<>();
        int examples = 0;
        try (Stream<Path> pages = Files.list(TOP.resolve("docs/integrations"))) {
            for (Path page : pages.sorted().toList()) {
                String text = Files.readString(page);
                Set<String> named = new TreeSet<>();
                NAMED.matcher(text).results().map(MatchResult::group).forEach(named::add);
                Set<String> there = withWhatTheyNeed(named);
                for (String example : EXAMPLE.matcher(text)
                        .results()
                        .map(block -> block.group(1))
                        .toList()) {
                    examples++;
                    for (String needed : needed(example)) {
                        if (!there.contains(needed)) {
                            missing.add(page.getFileName() + " does not name " + needed);
                        }
                    }
                }
            }
        }
        assertEquals(Set.of(), missing);
        assertTrue(examples > 10, "the examples were not found");
    }

    private Set<String> needed(String example) {
        Set<String> needed = new TreeSet<>();
        IMPORT.matcher(example)
                .results()
                .map(found -> found.group(1))
                .forEach(name -> needed.add(artifactOfPackage.getOrDefault(name, "what has " + name)));
        if (example.contains("\"embedded:")) {
            needed.add("conclave-server");
        }
        if (example.contains("Coordinator.connect(server") || example.contains("Coordinator.builder(cluster")) {
            needed.add("conclave-client");
        }
        return needed;
    }
}
