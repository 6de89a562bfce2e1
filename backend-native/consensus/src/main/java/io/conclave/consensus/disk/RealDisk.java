package io.conclave.consensus.disk;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

/** A directory of the file system. */
public final class RealDisk implements Disk {
    /** The lock files that this process has locked. */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private static final Queue<FileChannel> NEVER_CLOSED = new ConcurrentLinkedQueue<>();

    private final Path directory;

    private RealDisk(Path directory) {
        this.directory = directory;
    }

    /**
     * The given directory, which is created (parents included) if it is not there. What is created, but for the
     * parents, is for the user of this process alone, where the file system knows permissions.
     *
     * @throws UncheckedIOException if it cannot be created, naming it
     */
    public static RealDisk in(Path directory) {
        Path absolute = directory.toAbsolutePath().normalize();
        try {
            if (!Files.isDirectory(absolute)) {
                Path parent = absolute.getParent();
                if (parent != null) {
                    Files.createDirectories(parent);
                }
                Files.createDirectories(absolute, ownersAlone(absolute, "rwx------"));
                if (parent != null) {
                    syncDirectory(parent);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create the directory " + absolute + ": " + e, e);
        }
        return new RealDisk(absolute);
    }

    /** What is in here (passwords of sessions, digests, data) is for no other user of the machine to read. */
    private static FileAttribute<?>[] ownersAlone(Path path, String permissions) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }

    @Override
    public List<String> list() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Override
    public DiskFile open(String name) throws IOException {
        return new RealFile(
                FileChannel.open(path(name), StandardOpenOption.READ, StandardOpenOption.WRITE), path(name));
    }

    @Override
    public DiskFile create(String name) throws IOException {
        try {
            return new RealFile(
                    FileChannel.open(
                            path(name),
                            Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
                            ownersAlone(directory, "rw-------")),
                    path(name));
        } catch (IOException e) {
            throw fullOrSame(e, path(name));
        }
    }

    @Override
    public void rename(String from, String to) throws IOException {
        try {
            Files.move(path(from), path(to), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw fullOrSame(e, path(to));
        }
    }

    @Override
    public void delete(String name) throws IOException {
        Files.deleteIfExists(path(name));
    }

    @Override
    public void syncDirectory() throws IOException {
        syncDirectory(directory);
    }

    /**
     * The operating system's lock belongs to the process, and goes when any descriptor of the file is closed. So a lock
     * that this process holds already is found in {@link #HELD}, without opening the file.
     */
    @Override
    public Closeable lock(String name) throws IOException {
        Path key = directory.toRealPath().resolve(name);
        if (!HELD.add(key)) {
            throw inUse(name);
        }
        boolean locked = false;
        try {
            FileChannel channel = openLocked(name);
            locked = true;
            return () -> unlock(channel, key);
        } finally {
            if (!locked) {
                HELD.remove(key);
            }
        }
    }

    private static void unlock(FileChannel channel, Path key) throws IOException {
        if (!channel.isOpen()) {
            return;
        }
        try {
            channel.close();
        } finally {
            HELD.remove(key);
        }
    }

    private FileChannel openLocked(String name) throws IOException {
        FileChannel channel = openOrCreate(path(name));
        try {
            if (channel.tryLock() != null) {
                return channel;
            }
        } catch (OverlappingFileLockException e) {
            // held by this process, through another class loader or mount: closing would take the lock away from it
            NEVER_CLOSED.add(channel);
            throw inUse(name);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        channel.close();
        throw inUse(name);
    }

    private static FileChannel openOrCreate(Path file) throws IOException {
        try {
            return FileChannel.open(
                    file, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE), ownersAlone(file, "rw-------"));
        } catch (IOException e) {
            throw fullOrSame(e, file);
        }
    }

    private DirectoryInUseException inUse(String name) {
        return new DirectoryInUseException(directory
                + " is in use by another process or another log of this one (its lock file is " + path(name) + ")");
    }

    @Override
    public String describe(String name) {
        return path(name).toString();
    }

    @Override
    public String toString() {
        return directory.toString();
    }

    private Path path(String name) {
        return directory.resolve(name);
    }

    private static void syncDirectory(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** The JDK tells a full disk by the operating system's text alone. */
    private static IOException fullOrSame(IOException e, Path file) {
        String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        boolean full = message.contains("no space left") || message.contains("quota exceeded");
        return full ? new DiskFullException("no room on the disk for " + file + roomBeside(file), e) : e;
    }

    private static String roomBeside(Path file) {
        try {
            return " (" + Files.getFileStore(file.resolveSibling("")).getUsableSpace() + " bytes are free)";
        } catch (IOException e) {
            return ""; // the message is about something else
        }
    }

    /**
     * A file behind a {@link FileChannel}. The channel closes itself when its thread is interrupted, so it must be used
     * by threads that are never interrupted.
     */
    private static final class RealFile implements DiskFile {
        private final FileChannel channel;
        private final Path path;

        RealFile(FileChannel channel, Path path) {
            this.channel = channel;
            this.path = path;
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            int total = 0;
            try {
                while (target.hasRemaining()) {
                    int count = channel.read(target, position + total);
                    if (count < 0) {
                        break;
                    }
                    total += count;
                }
            } catch (IOException e) {
                throw new IOException(path + " cannot be read at offset " + (position + total) + ": " + e, e);
            }
            return total;
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            long next = position;
            try {
                while (source.hasRemaining()) {
                    next += channel.write(source, next);
                }
            } catch (IOException e) {
                throw fullOrSame(e, path);
            }
        }

        @Override
        public void writeSynced(ByteBuffer source, long position) throws IOException {
            write(source, position);
            channel.force(false);
        }

        @Override
        public void sync() throws IOException {
            try {
                channel.force(true);
            } catch (IOException e) {
                throw fullOrSame(e, path);
            }
        }

        @Override
        public long size() throws IOException {
            return channel.size();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
