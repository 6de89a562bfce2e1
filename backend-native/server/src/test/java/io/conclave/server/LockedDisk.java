package io.conclave.server;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.SimulatedDisk;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;

/** Lets the several threads of a running server share a {@link SimulatedDisk}, one at a time. */
final class LockedDisk implements Disk {
    private final SimulatedDisk disk;

    LockedDisk(SimulatedDisk disk) {
        this.disk = disk;
    }

    /** Does something to the disk while no other thread uses it. */
    synchronized void with(Consumer<SimulatedDisk> action) {
        action.accept(disk);
    }

    @Override
    public synchronized List<String> list() {
        return disk.list();
    }

    @Override
    public synchronized DiskFile open(String name) throws IOException {
        return new LockedFile(disk.open(name));
    }

    @Override
    public synchronized DiskFile create(String name) throws IOException {
        return new LockedFile(disk.create(name));
    }

    @Override
    public synchronized void rename(String from, String to) throws IOException {
        disk.rename(from, to);
    }

    @Override
    public synchronized void delete(String name) {
        disk.delete(name);
    }

    @Override
    public synchronized void syncDirectory() {
        disk.syncDirectory();
    }

    @Override
    public synchronized Closeable lock(String name) throws IOException {
        Closeable lock = disk.lock(name);
        return () -> {
            synchronized (this) {
                lock.close();
            }
        };
    }

    @Override
    public String describe(String name) {
        return disk.describe(name);
    }

    private final class LockedFile implements DiskFile {
        private final DiskFile file;

        LockedFile(DiskFile file) {
            this.file = file;
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            synchronized (LockedDisk.this) {
                return file.read(target, position);
            }
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            synchronized (LockedDisk.this) {
                file.write(source, position);
            }
        }

        @Override
        public void writeSynced(ByteBuffer source, long position) throws IOException {
            synchronized (LockedDisk.this) {
                file.writeSynced(source, position);
            }
        }

        @Override
        public void sync() throws IOException {
            synchronized (LockedDisk.this) {
                file.sync();
            }
        }

        @Override
        public long size() throws IOException {
            synchronized (LockedDisk.this) {
                return file.size();
            }
        }

        @Override
        public void close() throws IOException {
            synchronized (LockedDisk.this) {
                file.close();
            }
        }
    }
}
