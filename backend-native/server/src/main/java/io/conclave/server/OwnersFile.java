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

/** Writes small files that only their owner may read. */
final class OwnersFile {
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

    static boolean isPosix() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    }

    private static FileAttribute<?>[] ownersOnly() {
        return isPosix()
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }
}
