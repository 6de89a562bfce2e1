package io.conclave.consensus.store;

import io.conclave.consensus.entry.LogBatch;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.UUID;

/**
 * What stands before the entries of a batch, the unit of the log. Layout:
 *
 * <pre>
 *    0 magic 4             4 version 4                 8 segment id 8
 *   16 length, header included 4                      20 entries 4
 *   24 term 8             32 first index 8            40 timestamp ms 8
 *   48 durable segment 8  56 durable offset 8
 *   64 commit index 8     72 cluster id 16            88 CRC of the header before 4
 *   92 CRC32C of the payload 4                        96 CRC32C of 0 to 95 4
 * </pre>
 *
 * Then the entries, see {@link io.conclave.consensus.entry.EntryCodec}. A batch starts at a multiple of 512, so writing
 * one never touches a sector in which another lies; the rest of its last sector is zero.
 *
 * <p>The durable position is what the writer knew to be synced when it wrote this batch (batches written at once share
 * it): damage before it is lost data, not a torn tail. The commit index is what it knew to be committed: recovery
 * applies up to the highest one. The checksum of the header before makes a chain, so that a stale batch that happens to
 * lie at the right place is not taken for a successor; the segment id tells stale bytes of a segment file that is used
 * again.
 */
record BatchHeader(
        long segment,
        int length,
        int count,
        long term,
        long firstIndex,
        long timestampMs,
        LogPosition durable,
        long commitIndex,
        UUID clusterId,
        int previousCrc,
        int payloadCrc,
        int headerCrc) {
    static final int BYTES = 100;
    private static final int MAGIC = 0x434e4254; // CNBT

    long lastIndex() {
        return firstIndex + count - 1;
    }

    /** Bytes from this batch to the next. */
    long stride() {
        return LogFormat.wholeSectors(length);
    }

    /** What a batch's header says beside the batch itself. */
    record Place(UUID clusterId, long segment, LogPosition durable, long commitIndex, int previousCrc) {}

    /** Writes a header at the absolute position, before the payload that is there already; returns its checksum. */
    static int write(ByteBuffer target, int from, int length, LogBatch batch, Place place) {
        int payloadCrc = Checksum.of(target, from + BYTES, length - BYTES);
        ByteBuffer bytes = target.duplicate().clear().position(from);
        bytes.putInt(MAGIC).putInt(LogFormat.VERSION).putLong(place.segment);
        bytes.putInt(length).putInt(batch.entries().size());
        bytes.putLong(batch.term()).putLong(batch.firstIndex()).putLong(batch.timestampMs());
        bytes.putLong(place.durable.segment()).putLong(place.durable.offset()).putLong(place.commitIndex);
        LogFormat.putId(bytes, place.clusterId).putInt(place.previousCrc).putInt(payloadCrc);
        int headerCrc = Checksum.of(target, from, BYTES - 4);
        bytes.putInt(headerCrc);
        return headerCrc;
    }

    /** The header at the buffer's start, if there is a whole one of this cluster and segment. */
    static Optional<BatchHeader> read(ByteBuffer bytes, UUID clusterId, long segment) {
        if (bytes.remaining() < BYTES || bytes.getInt(0) != MAGIC) {
            return Optional.empty();
        }
        int headerCrc = bytes.getInt(BYTES - 4);
        if (headerCrc != Checksum.of(bytes, 0, BYTES - 4)) {
            return Optional.empty();
        }
        ByteBuffer in = bytes.duplicate();
        in.position(4);
        LogFormat.requireVersion("a batch of segment " + segment, in.getInt());
        BatchHeader header = new BatchHeader(
                in.getLong(),
                in.getInt(),
                in.getInt(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                new LogPosition(in.getLong(), in.getLong()),
                in.getLong(),
                LogFormat.getId(in),
                in.getInt(),
                in.getInt(),
                headerCrc);
        boolean sane = header.length >= BYTES && header.count >= 1;
        return sane && header.segment == segment && header.clusterId.equals(clusterId)
                ? Optional.of(header)
                : Optional.empty();
    }
}
