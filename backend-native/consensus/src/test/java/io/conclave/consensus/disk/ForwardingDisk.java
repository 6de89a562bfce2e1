package io.conclave.consensus.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A disk on top of another that does what that one does; subclasses change a step of it. */
public abstract class ForwardingDisk implements Disk {
    protected final Disk disk;

    protected ForwardingDisk(Disk disk) {
        this.disk = disk;
    }

    /** What stands for a file of the disk below. */
    protected abstract DiskFile wrap(String name, DiskFile file);

    @Override
    public List<String> list() throws IOException {
        return disk.list();
    }

    @Override
    public DiskFile open(String name) throws IOException {
        return wrap(name, disk.open(name));
    }

    @Override
    public DiskFile create(String name) throws IOException {
        return wrap(name, disk.create(name));
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

    /** A file that does what the one below does. */
    protected abstract static class ForwardingFile implements DiskFile {
        protected final DiskFile file;

        protected ForwardingFile(DiskFile file) {
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
            file.writeSynced(source, position);
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
