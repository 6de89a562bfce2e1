package io.conclave.consensus.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Predicate;

/** A disk that leaves out a step as a careless log would, to see whether the simulation notices. */
public final class MistakenDisk implements Disk {
    private final Disk disk;
    private final Mistake mistake;

    /** What is left out. */
    public enum Mistake {
        BATCH_ACKNOWLEDGED_BEFORE_SYNC,
        TORN_TAIL_NOT_CUT,
        RECOVERED_TAIL_NOT_SYNCED,
        DIRECTORY_NOT_SYNCED,
        SNAPSHOT_NOT_DURABLE_BEFORE_PURGE,
        SEGMENT_NOT_DURABLE_BEFORE_USE,
        VOTE_NOT_SYNCED
    }

    public MistakenDisk(Disk disk, Mistake mistake) {
        this.disk = disk;
        this.mistake = mistake;
    }

    @Override
    public List<String> list() throws IOException {
        return disk.list();
    }

    @Override
    public DiskFile open(String name) throws IOException {
        return new MistakenFile(disk.open(name), name);
    }

    @Override
    public DiskFile create(String name) throws IOException {
        return new MistakenFile(disk.create(name), name);
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
        if (mistake != Mistake.DIRECTORY_NOT_SYNCED) {
            disk.syncDirectory();
        }
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
        private final String name;

        MistakenFile(DiskFile file, String name) {
            this.file = file;
            this.name = name;
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return file.read(target, position);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            if (mistake != Mistake.TORN_TAIL_NOT_CUT || !name.endsWith(".log")) {
                file.write(source, position);
            }
        }

        @Override
        public void writeSynced(ByteBuffer source, long position) throws IOException {
            if (mistake == Mistake.BATCH_ACKNOWLEDGED_BEFORE_SYNC) {
                file.write(source, position);
            } else {
                file.writeSynced(source, position);
            }
        }

        @Override
        public void sync() throws IOException {
            Predicate<String> skipped =
                    switch (mistake) {
                        case RECOVERED_TAIL_NOT_SYNCED -> n -> n.endsWith(".log");
                        case SNAPSHOT_NOT_DURABLE_BEFORE_PURGE -> n -> n.startsWith("snapshot-");
                        case SEGMENT_NOT_DURABLE_BEFORE_USE -> n -> n.startsWith("segment-") && n.endsWith(".tmp");
                        case VOTE_NOT_SYNCED -> n -> n.equals("vote");
                        default -> n -> false;
                    };
            if (!skipped.test(name)) {
                file.sync();
            }
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
