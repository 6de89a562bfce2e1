package io.conclave.consensus.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A disk whose synced writes do something else: a planted mistake. */
public final class MistakenWrites implements Disk {
    private final Disk disk;
    private final SyncedWrite instead;

    /** What becomes of a synced write. */
    public interface SyncedWrite {
        void write(DiskFile file, ByteBuffer source, long position) throws IOException;
    }

    public MistakenWrites(Disk disk, SyncedWrite instead) {
        this.disk = disk;
        this.instead = instead;
    }

    @Override
    public List<String> list() throws IOException {
        return disk.list();
    }

    @Override
    public DiskFile open(String name) throws IOException {
        return new MistakenFile(disk.open(name));
    }

    @Override
    public DiskFile create(String name) throws IOException {
        return new MistakenFile(disk.create(name));
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

    private final class MistakenFile implements DiskFile {
        private final DiskFile file;

        MistakenFile(DiskFile file) {
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
            instead.write(file, source, position);
        }

        @Override
        public void sync() throws IOException {
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
