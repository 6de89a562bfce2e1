package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the segments behind a snapshot, finds where the log ends, and cuts what is torn there.
 *
 * <p>The log ends at the first batch that fails its check. Whether that is a torn write or damage is told by the durable
 * positions: each batch says up to where the log was synced when it was written, and so do the vote file and the
 * snapshots. A position beyond the end means that bytes are gone which were safe once: that stops the member, for cutting
 * there would lose what was acknowledged. The rest of the segment is searched for such positions, since unsynced sectors
 * land in any order.
 *
 * <p>What is found may be in the page cache only (the process was killed, the machine lives): so the tail is synced
 * before anything is built on it.
 */
final class LogRecovery {
    private static final Logger log = LoggerFactory.getLogger(LogRecovery.class);

    private final Disk disk;
    private final UUID clusterId;
    private final List<Segment> segments;
    private final SnapshotMark snapshot;

    /** The furthest position that anything says was durable. */
    private LogPosition durable;

    private LogTail tail;

    LogRecovery(Disk disk, Identity identity, List<Segment> segments, SnapshotMark snapshot, LogPosition knownDurable) {
        this.disk = disk;
        this.clusterId = identity.clusterId();
        this.segments = segments;
        this.snapshot = snapshot;
        this.durable = knownDurable;
        LogPosition start = new LogPosition(segments.get(0).id(), LogFormat.SEGMENT_HEADER_BYTES);
        this.tail = new LogTail(start, snapshot.term(), 0, snapshot.timestampMs(), 0);
    }

    /**
     * Applies everything behind the snapshot, cuts the torn tail and makes the rest durable.
     *
     * @param reachesAtLeast an index that the log must reach, since a snapshot of it was made
     */
    LogTail run(Consumer<CommittedBatch> apply, long reachesAtLeast) throws IOException {
        findFirstIndexes();
        int number = startSegment();
        while (number < segments.size()) {
            Segment segment = segments.get(number);
            boolean continues = readSegment(segment, apply);
            if (!continues) {
                break;
            }
            number++;
        }
        requireNothingLost(reachesAtLeast);
        cut();
        return tail;
    }

    /** A segment whose first batch is torn counts as one without batches: nothing can be read from there on. */
    private void findFirstIndexes() throws IOException {
        for (Segment segment : segments) {
            SegmentReader reader = new SegmentReader(segment, clusterId);
            Optional<BatchHeader> first = reader.header(LogFormat.SEGMENT_HEADER_BYTES);
            if (first.isPresent() && reader.payloadMatches(first.get(), LogFormat.SEGMENT_HEADER_BYTES)) {
                segment.startAt(first.get().firstIndex());
            }
        }
    }

    /** The last segment that starts at or before the first entry that the snapshot lacks. */
    private int startSegment() {
        int found = -1;
        for (int i = 0; i < segments.size(); i++) {
            long first = segments.get(i).firstIndex();
            if (first != 0 && first <= snapshot.lastIndex() + 1) {
                found = i;
            }
        }
        Segment oldest = segments.get(0);
        if (found < 0 && oldest.firstIndex() != 0) {
            throw new LogException("the log in " + disk.describe(oldest.name()) + " starts at index "
                    + oldest.firstIndex() + ", but the newest readable snapshot ends at " + snapshot.lastIndex()
                    + ": what lies between is lost");
        }
        return Math.max(found, 0);
    }

    /** Reads a segment's batches; returns whether the next segment goes on where they end. */
    private boolean readSegment(Segment segment, Consumer<CommittedBatch> apply) throws IOException {
        SegmentReader reader = new SegmentReader(segment, clusterId);
        long offset = LogFormat.SEGMENT_HEADER_BYTES;
        boolean first = tail.lastIndex() == 0;
        while (true) {
            Optional<BatchHeader> found = successor(reader, offset, first);
            if (found.isEmpty()) {
                return nextContinues(segment);
            }
            BatchHeader header = found.get();
            deliver(reader, header, offset, segment, apply);
            offset += header.stride();
            durable = LogPosition.later(durable, header.durable());
            tail = new LogTail(
                    new LogPosition(segment.id(), offset),
                    header.term(),
                    header.lastIndex(),
                    header.timestampMs(),
                    header.headerCrc());
            first = false;
        }
    }

    /** The batch at the offset if it is whole and the successor of the last; the first one read only has to be whole. */
    private Optional<BatchHeader> successor(SegmentReader reader, long offset, boolean first) throws IOException {
        Optional<BatchHeader> found = reader.header(offset);
        if (found.isEmpty() || !reader.payloadMatches(found.get(), offset)) {
            return Optional.empty();
        }
        BatchHeader header = found.get();
        boolean follows = header.firstIndex() == tail.lastIndex() + 1
                && header.previousCrc() == tail.headerCrc()
                && header.term() >= tail.term();
        return first || follows ? found : Optional.empty();
    }

    private boolean nextContinues(Segment segment) throws IOException {
        int next = segments.indexOf(segment) + 1;
        return next < segments.size()
                && tail.lastIndex() != 0
                && successor(new SegmentReader(segments.get(next), clusterId), LogFormat.SEGMENT_HEADER_BYTES, false)
                        .isPresent();
    }

    private void deliver(
            SegmentReader reader, BatchHeader header, long offset, Segment segment, Consumer<CommittedBatch> apply)
            throws IOException {
        if (header.lastIndex() <= snapshot.lastIndex()) {
            return;
        }
        String path = disk.describe(segment.name());
        if (header.firstIndex() <= snapshot.lastIndex()) {
            throw new DamagedLogException(path, offset, "the snapshot ends within the batch");
        }
        apply.accept(reader.batch(header, offset, path));
    }

    private void requireNothingLost(long reachesAtLeast) throws IOException {
        LogPosition end = tail.end();
        for (Segment segment : segments) {
            if (segment.id() >= end.segment()) {
                searchDurableMarks(segment);
            }
        }
        String path = disk.describe(Segment.name(end.segment()));
        if (durable.compareTo(end) > 0) {
            LogPosition bad = damagedPlace(end);
            throw new DamagedLogException(
                    disk.describe(Segment.name(bad.segment())),
                    bad.offset(),
                    "the batch there fails its check, but the log was durable up to offset " + durable.offset() + " of "
                            + Segment.name(durable.segment())
                            + "; this is no torn write, acknowledged data would be lost by cutting it");
        }
        if (tail.lastIndex() < reachesAtLeast) {
            throw new DamagedLogException(
                    path,
                    end.offset(),
                    "the log ends there at index " + tail.lastIndex() + ", but a snapshot reaches index "
                            + reachesAtLeast);
        }
    }

    /** The log's end, or the start of the next segment if it is there that the chain breaks. */
    private LogPosition damagedPlace(LogPosition end) throws IOException {
        for (Segment segment : segments) {
            if (segment.id() == end.segment() && durable.segment() > end.segment()) {
                boolean used =
                        end.offset() < segment.size() && !new SegmentReader(segment, clusterId).isZero(end.offset());
                return used ? end : new LogPosition(end.segment() + 1, LogFormat.SEGMENT_HEADER_BYTES);
            }
        }
        return end;
    }

    private void searchDurableMarks(Segment segment) throws IOException {
        SegmentReader reader = new SegmentReader(segment, clusterId);
        long offset = firstFree(segment);
        while (offset < segment.size()) {
            Optional<BatchHeader> found = reader.header(offset);
            if (found.isPresent()) {
                durable = LogPosition.later(durable, found.get().durable());
                // what clients wrote may look like a header
                offset += found.get().stride();
            } else {
                offset += LogFormat.SECTOR;
            }
        }
    }

    private long firstFree(Segment segment) {
        return segment.id() == tail.end().segment() ? tail.end().offset() : LogFormat.SEGMENT_HEADER_BYTES;
    }

    /** Zeros behind the end, durable, so that no old byte can come back behind new ones. */
    private void cut() throws IOException {
        long cutSectors = 0;
        for (Segment segment : segments) {
            if (segment.id() < tail.end().segment()) {
                continue;
            }
            SegmentReader reader = new SegmentReader(segment, clusterId);
            for (long offset = firstFree(segment); offset < segment.size(); offset += LogFormat.SECTOR) {
                if (!reader.isZero(offset)) {
                    segment.file().write(ByteBuffer.allocate(LogFormat.SECTOR), offset);
                    cutSectors++;
                }
            }
            segment.file().sync();
            if (segment.id() > tail.end().segment()) {
                segment.startAt(0);
            }
        }
        if (cutSectors > 0) {
            log.info(
                    "{}: cut a torn tail of {} sectors at offset {}; nothing in it had been acknowledged",
                    disk.describe(Segment.name(tail.end().segment())),
                    cutSectors,
                    tail.end().offset());
        }
    }
}
