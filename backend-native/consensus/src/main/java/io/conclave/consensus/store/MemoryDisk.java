package io.conclave.consensus.store;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Files in memory: what a member without a disk keeps its snapshots in. A deleted file lives as long as it is open. */
final class MemoryDisk implements Disk {
    private static final int BLOCK_BYTES = 256 * 1024;

    private final Map<String, MemoryFile> files = new ConcurrentHashMap<>();

    @Override
    public List<String> list() {
        return List.copyOf(files.keySet());
    }

    @Override
    public DiskFile open(String name) throws IOException {
        MemoryFile file = files.get(name);
        if (file == null) {
            throw new NoSuchFileException(describe(name));
        }
        return file;
    }

    @Override
    public DiskFile create(String name) throws IOException {
        MemoryFile file = new MemoryFile();
        if (files.putIfAbsent(name, file) != null) {
            throw new FileAlreadyExistsException(describe(name));
        }
        return file;
    }

    @Override
    public void rename(String from, String to) throws IOException {
        MemoryFile file = files.remove(from);
        if (file == null) {
            throw new NoSuchFileException(describe(from));
        }
        files.put(to, file);
    }

    @Override
    public void delete(String name) {
        files.remove(name);
    }

    @Override
    public void syncDirectory() {}

    @Override
    public Closeable lock(String name) {
        return () -> {};
    }

    @Override
    public String describe(String name) {
        return "memory/" + name;
    }

    @Override
    public String toString() {
        return "memory";
    }

    /** Bytes in blocks, so that growing copies nothing. Handed from thread to thread as a whole, so without locks. */
    private static final class MemoryFile implements DiskFile {
        private final List<byte[]> blocks = new ArrayList<>();
        private long size;

        @Override
        public int read(ByteBuffer target, long position) {
            int total = 0;
            while (target.hasRemaining() && position + total < size) {
                long at = position + total;
                int offset = (int) (at % BLOCK_BYTES);
                int count = (int) Math.min(Math.min(target.remaining(), BLOCK_BYTES - offset), size - at);
                target.put(blocks.get((int) (at / BLOCK_BYTES)), offset, count);
                total += count;
            }
            return total;
        }

        @Override
        public void write(ByteBuffer source, long position) {
            long at = position;
            while (source.hasRemaining()) {
                while (at / BLOCK_BYTES >= blocks.size()) {
                    blocks.add(new byte[BLOCK_BYTES]);
                }
                int offset = (int) (at % BLOCK_BYTES);
                int count = Math.min(source.remaining(), BLOCK_BYTES - offset);
                source.get(blocks.get((int) (at / BLOCK_BYTES)), offset, count);
                at += count;
            }
            size = Math.max(size, at);
        }

        @Override
        public void writeSynced(ByteBuffer source, long position) {
            write(source, position);
        }

        @Override
        public void sync() {}

        @Override
        public long size() {
            return size;
        }

        @Override
        public void close() {}
    }
}
