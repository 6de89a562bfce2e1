package io.conclave.config;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A reservation in a file, as a decimal number: replaced as a whole, and synced with its directory before it counts.
 * Processes that share the file take turns by a lock on a file beside it.
 */
public final class FileReservation implements Reservation {
    /** A lock of the operating system belongs to the whole JVM; these keep its own threads apart. */
    private static final ConcurrentMap<Path, Lock> LOCKS = new ConcurrentHashMap<>();

    private static final String NUMBER = "[0-9]{1,18}";

    private final Path file;
    private final Path directory;
    private final Lock lock;

    private FileReservation(Path file, Path directory) {
        this.file = file;
        this.directory = directory;
        this.lock = LOCKS.computeIfAbsent(file, first -> new ReentrantLock());
    }

    /**
     * The reservation in a file, whose directory must exist; the file itself is made when it is needed.
     *
     * @throws IllegalArgumentException if the path is that of a root directory
     */
    public static FileReservation at(Path file) {
        Path whole = file.toAbsolutePath().normalize();
        Path directory = whole.getParent();
        if (directory == null) {
            throw new IllegalArgumentException("Invalid reservation file " + file + ": it is a root directory");
        }
        return new FileReservation(whole, directory);
    }

    @Override
    public long upperBound() throws IOException {
        String text;
        try {
            text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).strip();
        } catch (NoSuchFileException e) {
            if (Files.isDirectory(directory)) {
                return 0;
            }
            throw new IOException("Cannot read the reservation " + file + ": its directory is not there", e);
        } catch (IOException e) {
            throw new IOException("Cannot read the reservation " + file + ": " + e.getMessage(), e);
        }
        if (!text.matches(NUMBER)) {
            throw new IOException("Invalid reservation in " + file + ": \"" + text + "\" is no number");
        }
        return Long.parseLong(text);
    }

    @Override
    public void raise(long upperBound) throws IOException {
        if (!Long.toString(Math.max(0, upperBound)).matches(NUMBER)) {
            throw new IllegalArgumentException("Invalid bound " + upperBound + ": it has more than 18 digits");
        }
        lock.lock();
        try (FileChannel channel = FileChannel.open(
                        file.resolveSibling(file.getFileName() + ".lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
                var held = channel.lock()) {
            if (held.isValid() && upperBound > upperBound()) {
                replace(Long.toString(upperBound));
            }
        } finally {
            lock.unlock();
        }
    }

    private void replace(String text) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        try (FileChannel channel = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        syncDirectory(directory, System.getProperty("os.name", ""));
    }

    /**
     * Makes a new name in a directory durable. Windows opens no directory as a file, and keeps names durable by its
     * journal.
     */
    static void syncDirectory(Path directory, String operatingSystem) throws IOException {
        if (operatingSystem.startsWith("Windows")) {
            return;
        }
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public String toString() {
        return "FileReservation[" + file + "]";
    }
}
