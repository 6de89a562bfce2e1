package io.conclave.proofs.architecture;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What comes along for an application that depends on the locks and on our server, as Maven resolved it for this build.
 */
final class UserClassPath {
    private static final Path FILE = Path.of("target", "user-class-path.txt");
    private static final Path FILE_OF_TESTS = Path.of("target", "test-class-path.txt");

    private UserClassPath() {}

    /** The jars; directories of classes where Maven has not packaged (before the package phase). */
    static List<Path> entries() {
        return entriesIn(FILE);
    }

    /** All that the tests of this module have, a user's included. */
    static List<Path> entriesOfTests() {
        return entriesIn(FILE_OF_TESTS);
    }

    private static List<Path> entriesIn(Path file) {
        try {
            return Arrays.stream(Files.readString(file).trim().split(File.pathSeparator))
                    .map(Path::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("Maven writes " + file.toAbsolutePath() + " before the tests", e);
        }
    }

    /** Packages that have classes in an entry; those of a multi-release jar's versions are not counted twice. */
    static Set<String> packages(Path entry) {
        try {
            if (Files.isDirectory(entry)) {
                return packagesBelow(entry);
            }
            try (FileSystem jar = FileSystems.newFileSystem(entry)) {
                return packagesBelow(jar.getPath("/"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(entry.toString(), e);
        }
    }

    private static Set<String> packagesBelow(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".class"))
                    .map(file -> root.relativize(file.getParent()).toString().replace('/', '.'))
                    .filter(name -> !name.isEmpty() && !name.startsWith("META-INF"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
