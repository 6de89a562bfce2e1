package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/**
 * One preallocated, zero-filled file of the log. Its first sector:
 *
 * <pre>
 *   magic 8 | version 4 | zero 4 | cluster id 16 | segment id 8 | file size 8 | CRC32C 4
 * </pre>
 *
 * Batches follow from offset 512, one behind the other. Ids count up without gaps; a segment without a batch is a
 * spare.
 */
final class Segment implements Closeable {
    private static final long MAGIC = 0x434e434c5345474dL; // CNCLSEGM
    private static final int HEADER_FIELDS = 52;
    private static final int FILL_BYTES = 1024 * 1024;
    private static final String PREFIX = "segment-";
    private static final String SUFFIX = ".log";

    private final long id;
    private final DiskFile file;
    private final long size;

    /** Index of the first entry in it, 0 as long as it is a spare. */
    private long firstIndex;

    private Segment(long id, DiskFile file, long size) {
        this.id = id;
        this.file = file;
        this.size = size;
    }

    static String name(long id) {
        return String.format("%s%016x%s", PREFIX, id, SUFFIX);
    }

    /** The id that a file's name says, or -1 if it is not a segment's name. */
    static long idOf(String name) {
        boolean ours = name.startsWith(PREFIX)
                && name.endsWith(SUFFIX)
                && name.length() == PREFIX.length() + 16 + SUFFIX.length();
        return ours ? LogFormat.parseHex(name, PREFIX.length()) : -1;
    }

    /**
     * Makes a segment of zeros and makes it durable, name included; it appears under its name only when it is whole.
     * Any thread; takes as long as writing so many bytes takes. Leaves nothing behind if it fails or is cancelled.
     */
    static Segment create(Disk disk, UUID clusterId, long id, int size, BooleanSupplier cancelled) throws IOException {
        String name = name(id);
        String temporary = name + LogFormat.TEMPORARY;
        disk.delete(temporary);
        DiskFile file = disk.create(temporary);
        try {
            fill(file, size, cancelled);
            file.write(header(clusterId, id, size), 0);
            file.sync();
            disk.rename(temporary, name);
            disk.syncDirectory();
            return new Segment(id, file, size);
        } catch (IOException | RuntimeException e) {
            file.close();
            disk.delete(temporary);
            throw e;
        }
    }

    /** Synced in steps: one sync of it all would make the log's own syncs wait for it. */
    private static void fill(DiskFile file, int size, BooleanSupplier cancelled) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect(Math.min(size, FILL_BYTES));
        for (int offset = 0; offset < size; offset += zeros.capacity()) {
            if (cancelled.getAsBoolean()) {
                throw new CancelledException();
            }
            zeros.clear().limit(Math.min(zeros.capacity(), size - offset));
            file.write(zeros, offset);
            file.sync();
        }
    }

    private static ByteBuffer header(UUID clusterId, long id, long size) {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_FIELDS);
        bytes.putLong(MAGIC).putInt(LogFormat.VERSION).putInt(0);
        LogFormat.putId(bytes, clusterId).putLong(id).putLong(size);
        return bytes.putInt(Checksum.of(bytes, 0, HEADER_FIELDS - 4)).flip();
    }

    /** Opens an existing segment and checks whose it is. */
    static Segment open(Disk disk, UUID clusterId, long id) throws IOException {
        String path = disk.describe(name(id));
        DiskFile file = disk.open(name(id));
        try {
            ByteBuffer bytes = ByteBuffer.allocate(HEADER_FIELDS);
            if (file.read(bytes, 0) < HEADER_FIELDS
                    || bytes.getInt(HEADER_FIELDS - 4) != Checksum.of(bytes, 0, HEADER_FIELDS - 4)) {
                throw new DamagedLogException(path, 0, "the checksum of the segment's header does not match");
            }
            bytes.flip();
            LogFormat.requireMagic(path, bytes.getLong(), MAGIC);
            LogFormat.requireVersion(path, bytes.getInt());
            bytes.getInt();
            LogFormat.requireCluster(path, LogFormat.getId(bytes), clusterId);
            long found = bytes.getLong();
            if (found != id) {
                throw new DamagedLogException(path, 0, "it says it is segment " + found + ": was the file renamed?");
            }
            return new Segment(id, file, file.size() / LogFormat.SECTOR * LogFormat.SECTOR);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    long id() {
        return id;
    }

    String name() {
        return name(id);
    }

    DiskFile file() {
        return file;
    }

    long size() {
        return size;
    }

    long firstIndex() {
        return firstIndex;
    }

    /** Says which entry is the first in it; 0 if it has none (any more). */
    void startAt(long index) {
        firstIndex = index;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
