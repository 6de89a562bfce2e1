package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What of a member's state changes in one step: the file {@code vote} holds a {@link StoredVote}, in two slots. One is
 * written and synced, then the other one gets the same: a torn write leaves the vote before, and damage of a slot
 * leaves its copy. The next vote begins with the copy. Each slot:
 *
 * <pre>
 *    0 magic 8           8 version 4           12 torn 4         16 cluster id 16      32 sequence 8
 *   40 term 8           48 voted for 4         52 zero 4         56 durable segment 8  64 durable offset 8
 *   72 commit index 8   80 base segment 8      88 base index 8   96 doubt term 8
 *  104 starts 8        112 id of the start 8  120 CRC32C 4
 * </pre>
 *
 * The durable position says up to where the log was synced when the slot was written: a clean close leaves a mark here
 * by which damage of the very last batch is told from a torn tail.
 */
final class VoteFile implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(VoteFile.class);
    static final String NAME = "vote";
    private static final long MAGIC = 0x434e434c564f5445L; // CNCLVOTE
    private static final int VERSION = 2;
    private static final int BYTES = 124;
    private static final int SEQUENCE_OFFSET = 32;

    /** Slots lie in different blocks also on disks with sectors of 4 KB. */
    private static final int SLOT_STRIDE = 4096;

    private final DiskFile file;
    private final UUID clusterId;
    private Slot newest;

    /** The slot, 0 or 1, in which the newest is durable. */
    private int durableSlot;

    private record Slot(long sequence, StoredVote vote) {}

    private VoteFile(DiskFile file, UUID clusterId, Slot newest, int foundIn) {
        this.file = file;
        this.clusterId = clusterId;
        this.newest = newest;
        this.durableSlot = foundIn;
    }

    /** Makes the vote file of a new member under the given (temporary) name; durable but for the name. */
    static void create(Disk disk, String name, UUID clusterId, StoredVote vote) throws IOException {
        try (DiskFile file = disk.create(name)) {
            file.write(ByteBuffer.allocate(2 * SLOT_STRIDE), 0);
            file.write(encode(clusterId, new Slot(0, vote)), 0);
            file.sync();
        }
    }

    static VoteFile open(Disk disk, UUID clusterId) throws IOException {
        String path = disk.describe(NAME);
        DiskFile file = disk.open(NAME);
        try {
            Optional<Slot> even = readSlot(file, 0, path, clusterId);
            Optional<Slot> odd = readSlot(file, SLOT_STRIDE, path, clusterId);
            if (even.isEmpty() && odd.isEmpty()) {
                throw new DamagedLogException(path, 0, "neither slot's checksum matches");
            }
            boolean inFirst = odd.isEmpty() || (even.isPresent() && even.get().sequence > odd.get().sequence);
            if (even.isEmpty() || (odd.isEmpty() && even.get().sequence > 0)) {
                log.warn("{}: one of the two slots is torn or damaged; going on with the other one", path);
            }
            VoteFile found = new VoteFile(file, clusterId, (inFirst ? even : odd).orElseThrow(), inFirst ? 0 : 1);
            // it may be in the page cache only: written by a process that was killed before the sync, or clean there
            // after
            // a sync that failed; so it is written again, and the next write must not overwrite the only durable one
            found.write(found.newest, found.durableSlot);
            return found;
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Whether nothing was ever voted or logged in this directory: what an interrupted bootstrap leaves. */
    static boolean isUnused(Disk disk) throws IOException {
        try (DiskFile file = disk.open(NAME)) {
            ByteBuffer bytes = ByteBuffer.allocate(SLOT_STRIDE + BYTES);
            file.read(bytes, 0);
            return bytes.getLong(SEQUENCE_OFFSET) == 0 && bytes.getLong(SLOT_STRIDE) == 0;
        }
    }

    StoredVote vote() {
        return newest.vote;
    }

    /** Returns when it is durable. */
    void write(StoredVote vote) throws IOException {
        write(new Slot(newest.sequence + 1, vote), 1 - durableSlot);
    }

    private void write(Slot slot, int first) throws IOException {
        ByteBuffer bytes = encode(clusterId, slot);
        file.write(bytes.duplicate(), (long) first * SLOT_STRIDE);
        file.sync();
        newest = slot;
        durableSlot = first;
        file.write(bytes.duplicate(), (1L - first) * SLOT_STRIDE);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private static ByteBuffer encode(UUID clusterId, Slot slot) {
        StoredVote vote = slot.vote;
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putLong(MAGIC).putInt(VERSION).putInt(vote.torn() ? 1 : 0);
        LogFormat.putId(bytes, clusterId);
        bytes.putLong(slot.sequence)
                .putLong(vote.term())
                .putInt(vote.votedFor())
                .putInt(0);
        bytes.putLong(vote.durable().segment()).putLong(vote.durable().offset()).putLong(vote.commitIndex());
        bytes.putLong(vote.base().segment()).putLong(vote.base().index());
        bytes.putLong(vote.doubtTerm()).putLong(vote.starts()).putLong(vote.startId());
        return bytes.putInt(Checksum.of(bytes, 0, BYTES - 4)).flip();
    }

    private static Optional<Slot> readSlot(DiskFile file, long offset, String path, UUID clusterId) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        if (file.read(bytes, offset) < BYTES
                || bytes.getLong(0) != MAGIC
                || bytes.getInt(BYTES - 4) != Checksum.of(bytes, 0, BYTES - 4)) {
            return Optional.empty();
        }
        bytes.position(8);
        LogFormat.requireVersion(path, bytes.getInt(), VERSION, VERSION);
        boolean torn = bytes.getInt() != 0;
        LogFormat.requireCluster(path, LogFormat.getId(bytes), clusterId);
        long sequence = bytes.getLong();
        long term = bytes.getLong();
        int votedFor = bytes.getInt();
        bytes.getInt();
        LogPosition durable = new LogPosition(bytes.getLong(), bytes.getLong());
        long commitIndex = bytes.getLong();
        LogBase base = new LogBase(bytes.getLong(), bytes.getLong());
        StoredVote vote = new StoredVote(
                term, votedFor, torn, bytes.getLong(), durable, commitIndex, base, bytes.getLong(), bytes.getLong());
        return Optional.of(new Slot(sequence, vote));
    }
}
