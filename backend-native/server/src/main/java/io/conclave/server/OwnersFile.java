package io.conclave.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/** Small files that only their owner may read. */
public final class OwnersFile {
    /** The word of the line Uid in /proc/self/status that has the effective user. */
    private static final int EFFECTIVE = 2;

    private OwnersFile() {}

    /**
     * Writes the file as a whole, or not at all; durable when this returns. Blocks.
     *
     * @throws IOException if it cannot be written
     */
    static void write(Path file, String text) throws IOException {
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent());
        Files.createDirectories(directory);
        Path temporary = Files.createTempFile(directory, String.valueOf(file.getFileName()), ".tmp", ownersOnly());
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = StandardCharsets.US_ASCII.encode(text);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary);
        }
        syncNames(directory);
    }

    /** So that what was made, replaced or deleted in the directory is so after a power failure, too. Blocks. */
    static void syncNames(Path directory) throws IOException {
        if (isPosix()) {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }

    /** The number of the user of this process; empty where that is not told. */
    static OptionalInt ownUser() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status"), StandardCharsets.ISO_8859_1).stream()
                    .filter(line -> line.startsWith("Uid:"))
                    .map(line -> line.trim().split("\\s+"))
                    .filter(words -> words.length > EFFECTIVE)
                    .mapToInt(words -> (int) Long.parseLong(words[EFFECTIVE]))
                    .findFirst();
        } catch (IOException | NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /**
     * The owner of the file, for a message, if it is neither the user of this process nor root.
     *
     * @param user the number of the user of this process; empty if that is not known, and its name decides
     */
    static Optional<String> otherOwner(Path file, OptionalInt user) throws IOException {
        String name = Files.getOwner(file).getName();
        if (user.isEmpty()) {
            return name.equals("root") || name.equals(System.getProperty("user.name"))
                    ? Optional.empty()
                    : Optional.of("user " + name);
        }
        int owner = (int) Files.getAttribute(file, "unix:uid");
        return owner == 0 || owner == user.getAsInt()
                ? Optional.empty()
                : Optional.of("user " + name + " (" + Integer.toUnsignedString(owner) + ")");
    }

    static boolean isPosix() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    }

    /** What such a file is made with; nothing where the file system has no such permissions. */
    public static FileAttribute<?>[] ownersOnly() {
        return isPosix()
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }
}
