package io.conclave.simulation;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A disk on which each sync takes a time. */
final class SlowDisk implements Disk {
    private final Disk disk;
    private final Runnable syncing;

    /**
     * A disk on top of another.
     *
     * @param syncing called at each sync
     */
    SlowDisk(Disk disk, Runnable syncing) {
        this.disk = disk;
        this.syncing = syncing;
    }

    @Override
    public List<String> list() throws IOException {
        return disk.list();
    }

    @Override
    public DiskFile open(String name) throws IOException {
        return new SlowFile(disk.open(name));
    }

    @Override
    public DiskFile create(String name) throws IOException {
        return new SlowFile(disk.create(name));
    }

    @Override
    public void rename(String from, String to) throws IOException {
        disk.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        disk.delete(name);
    }

    @Override
    public void syncDirectory() throws IOException {
        syncing.run();
        disk.syncDirectory();
    }

    @Override
    public Closeable lock(String name) throws IOException {
        return disk.lock(name);
    }

    @Override
    public String describe(String name) {
        return disk.describe(name);
    }

    @Override
    public String toString() {
        return disk.toString();
    }

    private final class SlowFile implements DiskFile {
        private final DiskFile file;

        SlowFile(DiskFile file) {
            this.file = file;
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return file.read(target, position);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            file.write(source, position);
        }

        @Override
        public void writeSynced(ByteBuffer source, long position) throws IOException {
            syncing.run();
            file.writeSynced(source, position);
        }

        @Override
        public void sync() throws IOException {
            syncing.run();
            file.sync();
        }

        @Override
        public long size() throws IOException {
            return file.size();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
