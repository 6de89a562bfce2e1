package io.conclave.launcher;

import io.conclave.server.OwnersFile;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * A file of text that only its owner may read and that replaces none: it has its name when it is whole and synced, and
 * is called {@code .partial} before that.
 */
final class OwnersOutput implements AutoCloseable {
    private final Path target;
    private final Path partial;
    private final FileChannel channel;
    private final BufferedWriter text;

    private OwnersOutput(Path target, Path partial, FileChannel channel) {
        this.target = target;
        this.partial = partial;
        this.channel = channel;
        this.text = new BufferedWriter(Channels.newWriter(channel, StandardCharsets.UTF_8));
    }

    /**
     * @throws FileAlreadyExistsException if there is one of this name, or of the name before it is whole; the message
     *     says which
     */
    static OwnersOutput to(Path target) throws IOException {
        requireAbsent(target);
        Path partial = target.resolveSibling(target.getFileName() + ".partial");
        return new OwnersOutput(target, partial, created(partial));
    }

    private static FileChannel created(Path partial) throws IOException {
        try {
            return FileChannel.open(
                    partial, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW), OwnersFile.ownersOnly());
        } catch (FileAlreadyExistsException e) {
            throw refused(
                    partial + " is there: an export to the same file runs, or was interrupted. If none runs,"
                            + " delete it and try again",
                    e);
        }
    }

    private static FileAlreadyExistsException refused(String problem, Exception cause) {
        FileAlreadyExistsException refusal = new FileAlreadyExistsException(problem);
        refusal.initCause(cause);
        return refusal;
    }

    private static void requireAbsent(Path file) throws FileAlreadyExistsException {
        if (Files.exists(file)) {
            throw new FileAlreadyExistsException(file + " is there already, and is not overwritten");
        }
    }

    Appendable text() {
        return text;
    }

    void complete() throws IOException {
        text.flush();
        channel.force(true);
        requireAbsent(target);
        Files.move(partial, target);
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            Files.deleteIfExists(partial);
        }
    }
}
