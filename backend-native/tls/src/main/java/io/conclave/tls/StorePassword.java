package io.conclave.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The password of a store, or the file that has it. It is never part of a text. */
public final class StorePassword {
    private static final StorePassword NONE = new StorePassword(Optional.empty(), Optional.empty());

    private final Optional<String> value;
    private final Optional<Path> file;

    private StorePassword(Optional<String> value, Optional<Path> file) {
        this.value = value;
        this.file = file;
    }

    public static StorePassword none() {
        return NONE;
    }

    public static StorePassword of(String value) {
        return new StorePassword(Optional.of(value), Optional.empty());
    }

    /** The first line of a file; it is read whenever the store is. */
    public static StorePassword inFile(Path file) {
        return new StorePassword(Optional.empty(), Optional.of(file));
    }

    Optional<Path> file() {
        return file;
    }

    /** Null if there is none. */
    char @org.jspecify.annotations.Nullable [] read(StoreFile store) {
        if (file.isEmpty()) {
            return value.map(String::toCharArray).orElse(null);
        }
        try {
            String text = Files.readString(file.get());
            return text.lines().findFirst().orElse("").toCharArray();
        } catch (IOException e) {
            throw store.error("its password file " + file.get() + " cannot be read: " + Reasons.of(e), e);
        }
    }

    @Override
    public String toString() {
        return file.map(path -> "in " + path).orElse(value.isPresent() ? "***" : "none");
    }
}
