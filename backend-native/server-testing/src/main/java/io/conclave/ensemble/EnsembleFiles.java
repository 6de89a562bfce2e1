package io.conclave.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** The directory of the files of an ensemble: one that stays, or a temporary one. */
final class EnsembleFiles {
    private final Path directory;
    private final boolean temporary;

    private EnsembleFiles(Path directory, boolean temporary) {
        this.directory = directory;
        this.temporary = temporary;
    }

    static EnsembleFiles in(Optional<Path> given) {
        try {
            return new EnsembleFiles(
                    given.isPresent() ? given.get() : Files.createTempDirectory("conclave-ensemble-"), given.isEmpty());
        } catch (IOException e) {
            throw new UncheckedIOException("no temporary directory: " + e, e);
        }
    }

    /** The directory of a server's files besides its log. */
    Path home(int id) {
        return directory.resolve("server-" + id);
    }

    Path log(int id) {
        return home(id).resolve("log");
    }

    /** The secret of the members. */
    Path secret() {
        return directory.resolve("peer.secret");
    }

    /** Whether a cluster was bootstrapped on that server before. */
    boolean hasLog(int id) {
        return Files.exists(log(id).resolve("identity"));
    }

    /** Deletes a temporary directory. */
    void close() {
        if (!temporary || !Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + directory + ": " + e, e);
        }
    }
}
