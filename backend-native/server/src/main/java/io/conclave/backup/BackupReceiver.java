package io.conclave.backup;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes the pieces of a {@link BackupStream} to a file, which gets its name when it is whole and durable, and never
 * the name of one that is there. Before that its name ends in {@code .partial}; closing deletes it then. Only the user
 * of this process may read it: passwords of sessions and digests of users are in it.
 */
public final class BackupReceiver implements Closeable {
    private final Path target;
    private final Path partial;
    private final FileChannel channel;
    private final CRC32C checksum = new CRC32C();
    private @Nullable BackupSummary summary;
    private long length;
    private byte[] last = new byte[0];

    private BackupReceiver(Path target, Path partial, FileChannel channel) {
        this.target = target;
        this.partial = partial;
        this.channel = channel;
    }

    /**
     * Begins. Blocks.
     *
     * @param target the name of the file when it is whole
     * @throws FileAlreadyExistsException if there is a file of that name
     * @throws IOException if its directory is not there, or cannot be written to
     */
    public static BackupReceiver to(Path target) throws IOException {
        Path absolute = target.toAbsolutePath();
        requireAbsent(absolute);
        Path directory = absolute.getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new IOException("there is no directory " + directory);
        }
        Path partial = Files.createTempFile(directory, absolute.getFileName() + ".", ".partial");
        partial.toFile().deleteOnExit();
        return new BackupReceiver(absolute, partial, FileChannel.open(partial, StandardOpenOption.WRITE));
    }

    private static void requireAbsent(Path file) throws IOException {
        if (Files.exists(file)) {
            throw new FileAlreadyExistsException(file + " is there already, and is not overwritten");
        }
    }

    /** Takes the next piece. Blocks. */
    public void write(byte[] piece) throws IOException {
        checksum.update(last);
        if (summary == null) {
            summary = BackupFile.summaryOf(target, piece);
        }
        ByteBuffer bytes = ByteBuffer.wrap(piece);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        length += piece.length;
        last = piece;
    }

    /** How many bytes it has until now. */
    public long length() {
        return length;
    }

    /** What will be in it; empty before the first piece. */
    public Optional<BackupSummary> summary() {
        return Optional.ofNullable(summary);
    }

    /**
     * All pieces were written: checks that they are a whole backup, and gives the file its name, durable. Blocks.
     *
     * @throws DamagedBackupException if not all arrived as they were sent
     * @throws FileAlreadyExistsException if there is a file of that name now
     */
    public void complete() throws IOException {
        if (length <= last.length) {
            throw new DamagedBackupException(target, 0, "nothing was received");
        }
        if (!Arrays.equals(last, BackupFormat.end(checksum, length - last.length))) {
            throw new DamagedBackupException(
                    target, length - last.length, "what was received is not what was sent: its checksum differs");
        }
        channel.force(true);
        publish();
        try (FileChannel directory = FileChannel.open(target.resolveSibling("."), StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    /** A link never replaces a file; where there are none, a look before the move has to do. */
    private void publish() throws IOException {
        try {
            Files.createLink(target, partial);
            return;
        } catch (FileAlreadyExistsException e) {
            requireAbsent(target);
            throw e;
        } catch (UnsupportedOperationException | IOException e) {
            requireAbsent(target);
        }
        Files.move(partial, target);
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            Files.deleteIfExists(partial);
        }
    }
}
