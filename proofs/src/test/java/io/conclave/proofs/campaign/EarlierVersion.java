package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Assumptions;

/**
 * The version from which one upgrades to this one, compiled from the repository's history against this version's
 * dependencies. Its classes stand in front of the present ones on the class path of a process.
 */
final class EarlierVersion {
    /** The commit of the newest release; until there is one, the last state before a change that an upgrade meets. */
    static final String COMMIT = "3f055111";

    private static final List<String> MODULES = List.of(
            "recipes-api",
            "recipes-locks",
            "recipes-election",
            "backend-native/protocol",
            "backend-native/client",
            "backend-native/consensus",
            "backend-native/server");

    private EarlierVersion() {}

    /**
     * Compiles it into a new folder.
     *
     * @throws org.opentest4j.TestAbortedException if this is no clone with its history
     */
    static Path classesIn(Path home) throws IOException, InterruptedException {
        Path sources = Files.createDirectories(home.resolve("earlier-sources"));
        Path repository = repository();
        Assumptions.assumeTrue(
                run(repository, "git", "cat-file", "-e", COMMIT + "^{commit}") == 0,
                "commit " + COMMIT + " is not in this clone; fetch the whole history");
        Path archive = home.resolve("earlier.tar");
        List<String> git = new ArrayList<>(List.of("git", "archive", "-o", archive.toString(), COMMIT));
        git.addAll(MODULES);
        assertEquals(0, run(repository, git.toArray(String[]::new)));
        assertEquals(0, run(sources, "tar", "-xf", archive.toString()));
        Path classes = Files.createDirectories(home.resolve("earlier-classes"));
        compile(sources, classes);
        return classes;
    }

    private static Path repository() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve(".git"))) {
            Path parent = folder.getParent();
            Assumptions.assumeTrue(parent != null, "this is no clone of the repository");
            folder = parent;
        }
        return folder;
    }

    private static int run(Path folder, String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    private static void compile(Path sources, Path classes) throws IOException {
        List<Path> files = new ArrayList<>();
        for (String module : MODULES) {
            Path main = sources.resolve(module).resolve("src/main");
            files.addAll(filesBelow(main.resolve("java")).stream()
                    .filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("module-info.java"))
                    .toList());
            Path resources = main.resolve("resources");
            for (Path resource : filesBelow(resources)) {
                Path copy = classes.resolve(resources.relativize(resource).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(resource, copy, StandardCopyOption.REPLACE_EXISTING);
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            boolean compiled = compiler.getTask(
                            messages,
                            manager,
                            null,
                            List.of("-proc:none", "-nowarn", "-d", classes.toString(), "-sourcepath", ""),
                            null,
                            manager.getJavaFileObjectsFromPaths(files))
                    .call();
            assertEquals(true, compiled, messages::toString);
        }
    }

    private static List<Path> filesBelow(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }
}
