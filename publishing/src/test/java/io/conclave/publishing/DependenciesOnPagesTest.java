package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the pages tell a reader to put into a POM: each artifact is published, in the version that it has there. */
class DependenciesOnPagesTest {
    private static final Path TOP = Path.of("..");
    private static final Pattern BLOCK = Pattern.compile("```xml\n(.*?)```", Pattern.DOTALL);
    private static final String GROUP = "io.conclave";
    private static final String BOM = "conclave-bom";
    private static final Set<String> SCOPES = Set.of("", "test");

    @TempDir
    private Path directory;

    private final Map<String, Pom> published = new TreeMap<>();
    private final Set<String> wrong = new TreeSet<>();
    private final Set<String> managed = new TreeSet<>();
    private String version = "";

    private void readModules() throws IOException {
        version = Pom.read(TOP.resolve("pom.xml")).text("version").orElseThrow();
        for (Path file : poms()) {
            Pom pom = Pom.read(file);
            if (!pom.text("properties/maven.deploy.skip").equals(Optional.of("true"))) {
                published.put(pom.text("artifactId").orElseThrow(), pom);
            }
        }
        assertTrue(published.size() > 25, () -> "the modules were not found: " + published.keySet());
        published
                .get(BOM)
                .dependencies("dependencyManagement/dependencies/dependency")
                .forEach(one -> managed.add(one.artifact()));
    }

    private static List<Path> poms() throws IOException {
        return SourceTree.files(
                TOP, file -> file.endsWith("pom.xml") && TOP.relativize(file).getNameCount() <= 3);
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(TOP.resolve("README.md")));
        try (Stream<Path> docs = Files.walk(TOP.resolve("docs"))) {
            docs.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
        }
        return pages;
    }

    @Test
    void dependenciesOfThePagesAreArtifactsThatArePublished() throws IOException {
        readModules();
        int dependencies = 0;
        for (Path page : pages()) {
            String text = Files.readString(page);
            for (String block : blocks(page)) {
                Pom pom =
                        Pom.read(Files.writeString(directory.resolve("block.xml"), "<project>" + block + "</project>"));
                List<Pom.Dependency> plain = pom.dependencies("dependency");
                List<Pom.Dependency> imported = pom.dependencies("dependencyManagement/dependencies/dependency");
                plain.forEach(one -> check(page, text, one));
                imported.forEach(one -> checkImport(page, one));
                dependencies += plain.size() + imported.size();
                assertTrue(plain.size() + imported.size() > 0, page + " has a block without a dependency");
            }
        }
        assertEquals(Set.of(), wrong);
        assertTrue(dependencies > 10, "the dependencies were not found");
    }

    private void check(Path page, String text, Pom.Dependency one) {
        String where = page + ": " + one;
        if (!one.group().equals(GROUP) || !published.containsKey(one.artifact())) {
            wrong.add(where + " is no artifact that is published");
        }
        if (one.version().isEmpty()
                ? !managed.contains(one.artifact())
                : !one.version().equals(version)) {
            wrong.add(where + " has neither the version of the build nor one that the BOM manages");
        }
        if (one.version().isEmpty() && !text.contains(BOM)) {
            wrong.add(where + " has no version, and the page does not say where that is");
        }
        if (!SCOPES.contains(one.scope())) {
            wrong.add(where + " has an unknown scope");
        }
    }

    private void checkImport(Path page, Pom.Dependency one) {
        if (!one.equals(new Pom.Dependency(GROUP, BOM, version, "import"))) {
            wrong.add(page + ": " + one + " is not how the BOM is imported");
        }
    }

    private static List<String> blocks(Path page) throws IOException {
        return BLOCK.matcher(Files.readString(page))
                .results()
                .map(block -> block.group(1))
                .toList();
    }
}
