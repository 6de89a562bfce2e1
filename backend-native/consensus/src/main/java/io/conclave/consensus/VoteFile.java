package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The term this member is in and whom it voted for: the file {@code vote}. Two slots are written in turn, so that a torn
 * write leaves the one before. Each slot:
 *
 * <pre>
 *   magic 8 | version 4 | zero 4 | cluster id 16 | sequence 8 | term 8 | voted for 8 | durable segment 8 | durable offset 8 | CRC32C 4
 * </pre>
 *
 * The durable position says up to where the log was synced when the slot was written: a clean close leaves a mark here
 * by which damage of the very last batch is told from a torn tail.
 */
final class VoteFile implements Closeable {
    static final String NAME = "vote";
    private static final long MAGIC = 0x434e434c564f5445L; // CNCLVOTE
    private static final int BYTES = 76;

    /** Slots lie in different blocks also on disks with sectors of 4 KB. */
    private static final int SLOT_STRIDE = 4096;

    private final DiskFile file;
    private final Identity identity;
    private Slot newest;

    private record Slot(long sequence, long term, long votedFor, LogPosition durable) {}

    private VoteFile(DiskFile file, Identity identity, Slot newest) {
        this.file = file;
        this.identity = identity;
        this.newest = newest;
    }

    /** Makes the vote file of a new member under the given (temporary) name; durable but for the name. */
    static void create(Disk disk, String name, Identity identity) throws IOException {
        try (DiskFile file = disk.create(name)) {
            file.write(ByteBuffer.allocate(2 * SLOT_STRIDE), 0);
            file.write(encode(identity, new Slot(0, 0, 0, LogPosition.START)), 0);
            file.sync();
        }
    }

    static VoteFile open(Disk disk, Identity identity) throws IOException {
        String path = disk.describe(NAME);
        DiskFile file = disk.open(NAME);
        // a slot may be in the page cache only (killed before the sync); the next write must not overwrite the other
        // one
        file.sync();
        Optional<Slot> even = readSlot(file, 0, path, identity);
        Optional<Slot> odd = readSlot(file, SLOT_STRIDE, path, identity);
        if (even.isEmpty() && odd.isEmpty()) {
            file.close();
            throw new DamagedLogException(path, 0, "neither slot's checksum matches");
        }
        Slot newest = odd.isEmpty() || (even.isPresent() && even.get().sequence > odd.get().sequence)
                ? even.orElseThrow()
                : odd.orElseThrow();
        return new VoteFile(file, identity, newest);
    }

    /** Whether nothing was ever voted or logged in this directory: what an interrupted birth leaves. */
    static boolean isUnused(Disk disk) throws IOException {
        try (DiskFile file = disk.open(NAME)) {
            ByteBuffer bytes = ByteBuffer.allocate(SLOT_STRIDE + BYTES);
            file.read(bytes, 0);
            return bytes.getLong(32) == 0 && bytes.getLong(SLOT_STRIDE) == 0;
        }
    }

    long term() {
        return newest.term;
    }

    LogPosition durable() {
        return newest.durable;
    }

    /** Returns when it is durable. */
    void write(long term, long votedFor, LogPosition durable) throws IOException {
        Slot next = new Slot(newest.sequence + 1, term, votedFor, durable);
        file.write(encode(identity, next), next.sequence % 2 * SLOT_STRIDE);
        file.sync();
        newest = next;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private static ByteBuffer encode(Identity identity, Slot slot) {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putLong(MAGIC).putInt(LogFormat.VERSION).putInt(0);
        LogFormat.putId(bytes, identity.clusterId());
        bytes.putLong(slot.sequence).putLong(slot.term).putLong(slot.votedFor);
        bytes.putLong(slot.durable.segment()).putLong(slot.durable.offset());
        return bytes.putInt(Checksum.of(bytes, 0, BYTES - 4)).flip();
    }

    private static Optional<Slot> readSlot(DiskFile file, long offset, String path, Identity identity)
            throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        if (file.read(bytes, offset) < BYTES
                || bytes.getLong(0) != MAGIC
                || bytes.getInt(BYTES - 4) != Checksum.of(bytes, 0, BYTES - 4)) {
            return Optional.empty();
        }
        bytes.position(8);
        LogFormat.requireVersion(path, bytes.getInt());
        bytes.getInt();
        LogFormat.requireCluster(path, LogFormat.getId(bytes), identity.clusterId());
        return Optional.of(new Slot(
                bytes.getLong(), bytes.getLong(), bytes.getLong(), new LogPosition(bytes.getLong(), bytes.getLong())));
    }
}
