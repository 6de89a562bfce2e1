package io.conclave.examples;

import io.conclave.grant.FencingToken;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A counter in a file, with the token of its last writer: a store that refuses a late writer.
 *
 * <p>It has no lock of its own; that is what the distributed lock is for. What the token adds: a writer who lost the
 * lock and does not know it yet has a smaller token than the last one, and is refused.
 */
final class CounterFile {
    private final Path file;

    CounterFile(Path file) {
        this.file = file;
    }

    /** What the file holds. */
    record Content(FencingToken lastToken, long count) {}

    Content read() {
        try {
            String[] words = Files.readString(file).trim().split(" ");
            FencingToken token = FencingToken.parse(words[0]);
            return new Content(token, Long.parseLong(words[1]));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file, e);
        }
    }

    void write(FencingToken token, long count) {
        FencingToken last = read().lastToken();
        if (token.compareTo(last) < 0) {
            throw new IllegalStateException("Refused: token " + token + " is older than " + last);
        }
        put(new Content(token, count));
    }

    void create() {
        put(new Content(new FencingToken(0, 0), 0));
    }

    private void put(Content content) {
        try {
            FencingToken token = content.lastToken();
            Path draft = Files.createTempFile(file.toAbsolutePath().getParent(), "counter", ".new");
            Files.writeString(draft, token + " " + content.count() + "\n");
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + file, e);
        }
    }
}
