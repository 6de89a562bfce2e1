package io.conclave.embedded;

import io.conclave.spi.ConnectString;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which embedded server a connect string means: the one of a directory, or the one of a name in memory. Coordinators of
 * one JVM whose strings mean the same place share a server.
 *
 * @param name of a store in memory; empty for {@code embedded:} and for a directory
 * @param directory where it keeps its files; empty for a store in memory
 */
record EmbeddedPlace(String name, Optional<Path> directory) {
    private static final String MEMORY = "memory";

    /**
     * The place of a connect string.
     *
     * @throws IllegalArgumentException naming the string and the rule that it breaks
     */
    static EmbeddedPlace of(ConnectString connectString) {
        String path = connectString.path();
        if (!connectString.endpoints().isEmpty()) {
            throw invalid(
                    connectString,
                    "an embedded server has no address; embedded: keeps everything in memory, embedded:memory/name in"
                            + " a store of that name, embedded:/var/lib/app in that directory",
                    null);
        }
        if (path.isEmpty()) {
            return new EmbeddedPlace("", Optional.empty());
        }
        if (path.equals(MEMORY) || path.startsWith(MEMORY + "/")) {
            return new EmbeddedPlace(memoryName(connectString), Optional.empty());
        }
        try {
            return new EmbeddedPlace("", Optional.of(real(Path.of(path))));
        } catch (InvalidPathException e) {
            throw invalid(connectString, "not a directory's path: " + e.getReason(), e);
        }
    }

    private static String memoryName(ConnectString connectString) {
        String path = connectString.path();
        String name = path.equals(MEMORY) ? "" : path.substring(MEMORY.length() + 1);
        if (name.isBlank() || name.indexOf('/') >= 0) {
            throw invalid(
                    connectString,
                    "a store in memory is embedded:memory/name, with a name that has no slash; a directory called "
                            + "memory is embedded:./memory",
                    null);
        }
        return name;
    }

    /** The directory without links and dots, so that it is one place by each of its names; it need not exist yet. */
    private static Path real(Path directory) {
        Path existing = directory.toAbsolutePath().normalize();
        Path missing = Path.of("");
        while (true) {
            try {
                return existing.toRealPath().resolve(missing);
            } catch (IOException e) {
                Path parent = existing.getParent();
                if (parent == null) {
                    throw new UncheckedIOException(e);
                }
                missing = existing.getFileName().resolve(missing);
                existing = parent;
            }
        }
    }

    private static IllegalArgumentException invalid(
            ConnectString connectString, String rule, @Nullable Throwable cause) {
        return new IllegalArgumentException("Invalid connect string \"" + connectString.text() + "\": " + rule, cause);
    }
}
