package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.LogBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the segments behind a snapshot, finds where the log ends, and cuts what is torn there.
 *
 * <p>The log ends at the first batch that fails its check. Whether that is a torn write or damage is told by the
 * durable positions: each batch says up to where the log was synced when it was written, and so does the vote file. A
 * position beyond the end means that bytes are gone which were safe once: that stops the member, for cutting there
 * would lose what was acknowledged. The rest of the segment is searched for such positions, since unsynced sectors land
 * in any order.
 *
 * <p>Each batch also says up to where the log was committed when it was written: what is known to be committed is given
 * away at once, the rest is kept.
 *
 * <p>What is found may be in the page cache only: the process was killed before a sync, or its sync failed. After a
 * failed sync the operating system takes the pages for clean, and another sync would write nothing and say yes. So what
 * lies behind the newest durable position, which is the last write at most, is written again before anything is built
 * on it; and the zeros behind the end too, as far as a write or a cut of the former process can have reached.
 */
final class LogRecovery {
    private static final Logger log = LoggerFactory.getLogger(LogRecovery.class);
    private static final int REWRITE_BYTES = 1 << 20;

    private final Disk disk;
    private final UUID clusterId;
    private final LogBase base;
    private final List<Segment> segments;
    private final SnapshotPosition snapshot;

    /** The last write, or cut, of the former process can have reached as far behind the end. */
    private final long lastWriteBytes;

    /** The furthest position that anything says was durable. */
    private LogPosition durable;

    /** The highest index that anything says was committed. */
    private long committed;

    private boolean anyRead;
    private boolean torn;

    /** The last committed batch, or where reading began, and all batches behind it; never empty. */
    private final Deque<Written> written = new ArrayDeque<>();

    private final Deque<LogBatch> rest = new ArrayDeque<>();

    /**
     * @param maxBatchBytes of a batch, with its entries' headers
     * @param snapshot the one that was restored; that of index 0 for none
     */
    LogRecovery(
            Disk disk,
            UUID clusterId,
            int maxBatchBytes,
            StoredVote vote,
            List<Segment> segments,
            SnapshotPosition snapshot) {
        this.disk = disk;
        this.clusterId = clusterId;
        this.lastWriteBytes = LogSegments.WRITE_BYTES + LogFormat.wholeSectors(BatchHeader.BYTES + maxBatchBytes);
        this.base = vote.base();
        this.segments = segments;
        this.snapshot = snapshot;
        this.durable = vote.durable();
        this.committed = Math.max(vote.commitIndex(), snapshot.lastIndex());
    }

    /**
     * Reads everything behind the snapshot. Without any segment the log ends where it begins.
     *
     * @param reachesAtLeast an index that the log must reach, since a snapshot of it was made
     */
    void read(Consumer<LogBatch> target, long reachesAtLeast) throws IOException {
        findFirstIndexes();
        int number = segments.isEmpty() ? 0 : startSegment();
        beginIn(segments.isEmpty() ? Optional.empty() : Optional.of(segments.get(number)));
        while (number < segments.size() && readSegment(segments.get(number), target)) {
            number++;
        }
        requireNothingLost(reachesAtLeast);
        torn = isAnythingBehindEnd();
    }

    /** A segment whose first batch is torn counts as one without batches: nothing can be read from there on. */
    private void findFirstIndexes() throws IOException {
        for (Segment segment : segments) {
            Optional<BatchHeader> first = firstOf(segment);
            if (first.isPresent()) {
                segment.startAt(first.get().firstIndex());
            }
        }
    }

    private Optional<BatchHeader> firstOf(Segment segment) throws IOException {
        SegmentReader reader = new SegmentReader(segment, clusterId);
        Optional<BatchHeader> first = reader.header(LogFormat.SEGMENT_HEADER_BYTES);
        boolean whole = first.isPresent() && reader.payloadMatches(first.get(), LogFormat.SEGMENT_HEADER_BYTES);
        return whole ? first : Optional.empty();
    }

    /**
     * The segment with the snapshot's last entry, or the oldest if the log begins right behind that. Not the one that
     * begins right behind it if there is an older one: all that is in it may be cut one day, and the log ends in the
     * older one then.
     */
    private int startSegment() throws IOException {
        int found = -1;
        for (int i = 0; i < segments.size(); i++) {
            long first = segments.get(i).firstIndex();
            if (first != 0 && first <= snapshot.lastIndex()) {
                found = i;
            }
        }
        Segment oldest = segments.get(0);
        if (found < 0 && oldest.firstIndex() > snapshot.lastIndex() + 1) {
            throw new LogException("the log in " + disk.describe(oldest.name()) + " starts at index "
                    + oldest.firstIndex() + ", but the newest readable snapshot ends at " + snapshot.lastIndex()
                    + ": what lies between is lost");
        }
        if (found < 0 && oldest.firstIndex() == 0 && oldest.id() != base.segment()) {
            throw firstBatchLost(oldest);
        }
        return Math.max(found, 0);
    }

    /** What was before this segment was deleted because its first batch was safe and committed. */
    private DamagedLogException firstBatchLost(Segment oldest) throws IOException {
        if (new SegmentReader(oldest, clusterId).isZero(LogFormat.SEGMENT_HEADER_BYTES)) {
            return new DamagedLogException(disk.describe(Segment.name(oldest.id() - 1)), 0, "it is missing");
        }
        return new DamagedLogException(
                disk.describe(oldest.name()), LogFormat.SEGMENT_HEADER_BYTES, "the batch there fails its check");
    }

    /** In the log's first segment the first batch must be the log's first; in others it need only be whole. */
    private void beginIn(Optional<Segment> segment) throws IOException {
        long id = segment.map(Segment::id).orElse(base.segment());
        LogPosition start = new LogPosition(id, LogFormat.SEGMENT_HEADER_BYTES);
        Optional<BatchHeader> first = id == base.segment() ? Optional.empty() : firstOf(segment.orElseThrow());
        long index = first.map(header -> header.firstIndex() - 1).orElse(base.index());
        boolean behindSnapshot = index == snapshot.lastIndex();
        written.add(new Written(
                start,
                new LogTail(
                        start,
                        behindSnapshot ? snapshot.term() : 0,
                        index,
                        behindSnapshot ? snapshot.timestampMs() : 0,
                        first.map(BatchHeader::previousCrc).orElse(0))));
    }

    private LogTail tail() {
        return written.getLast().after();
    }

    /** Reads a segment's batches; returns whether the next segment goes on where they end. */
    private boolean readSegment(Segment segment, Consumer<LogBatch> target) throws IOException {
        SegmentReader reader = new SegmentReader(segment, clusterId);
        LogPosition at = new LogPosition(segment.id(), LogFormat.SEGMENT_HEADER_BYTES);
        for (Optional<BatchHeader> found = successor(reader, at.offset());
                found.isPresent();
                found = successor(reader, at.offset())) {
            BatchHeader header = found.get();
            take(reader, header, at, disk.describe(segment.name()));
            at = tail().end();
            release(target);
        }
        return nextContinues(segment);
    }

    /** The batch at the offset if it is whole and the successor of the last. */
    private Optional<BatchHeader> successor(SegmentReader reader, long offset) throws IOException {
        Optional<BatchHeader> found = reader.header(offset);
        if (found.isEmpty() || !reader.payloadMatches(found.get(), offset)) {
            return Optional.empty();
        }
        BatchHeader header = found.get();
        boolean follows = header.firstIndex() == tail().lastIndex() + 1
                && header.previousCrc() == tail().headerCrc()
                && header.term() >= tail().term();
        return follows ? found : Optional.empty();
    }

    private boolean nextContinues(Segment segment) throws IOException {
        int next = segments.indexOf(segment) + 1;
        return next < segments.size()
                && anyRead
                && successor(new SegmentReader(segments.get(next), clusterId), LogFormat.SEGMENT_HEADER_BYTES)
                        .isPresent();
    }

    private void take(SegmentReader reader, BatchHeader header, LogPosition at, String path) throws IOException {
        if (header.lastIndex() > snapshot.lastIndex()) {
            if (header.firstIndex() <= snapshot.lastIndex()) {
                throw new DamagedLogException(path, at.offset(), "the snapshot ends within the batch");
            }
            rest.add(reader.batch(header, at.offset(), path));
        }
        LogPosition end = new LogPosition(at.segment(), at.offset() + header.stride());
        written.add(new Written(
                at, new LogTail(end, header.term(), header.lastIndex(), header.timestampMs(), header.headerCrc())));
        durable = LogPosition.later(durable, header.durable());
        committed = Math.max(committed, header.commitIndex());
        anyRead = true;
    }

    private void release(Consumer<LogBatch> target) {
        while (!rest.isEmpty() && rest.getFirst().lastIndex() <= committed) {
            target.accept(rest.removeFirst());
        }
        forgetBefore(written, committed);
    }

    /** Leaves the last batch that ends at or before the index (or what is there instead), and those behind it. */
    static void forgetBefore(Deque<Written> written, long index) {
        while (written.size() > 1) {
            Written first = written.removeFirst();
            if (written.getFirst().after().lastIndex() > index) {
                written.addFirst(first);
                return;
            }
        }
    }

    private void requireNothingLost(long reachesAtLeast) throws IOException {
        LogPosition end = tail().end();
        for (Segment segment : segments) {
            if (segment.id() >= end.segment()) {
                searchDurableMarks(segment);
            }
        }
        if (durable.compareTo(end) > 0) {
            LogPosition bad = damagedPlace(end);
            throw new DamagedLogException(
                    disk.describe(Segment.name(bad.segment())),
                    bad.offset(),
                    "the batch there fails its check, but the log was durable up to offset " + durable.offset() + " of "
                            + Segment.name(durable.segment())
                            + "; this is no torn write, acknowledged data would be lost by cutting it");
        }
        if (tail().lastIndex() < reachesAtLeast) {
            throw new DamagedLogException(
                    disk.describe(Segment.name(end.segment())),
                    end.offset(),
                    "the log ends there at index " + tail().lastIndex() + ", but a snapshot reaches index "
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
        return segment.id() == tail().end().segment() ? tail().end().offset() : LogFormat.SEGMENT_HEADER_BYTES;
    }

    /** Whether anything lies behind the end. */
    boolean isTorn() {
        return torn;
    }

    private boolean isAnythingBehindEnd() throws IOException {
        for (Segment segment : segmentsBehindEnd()) {
            SegmentReader reader = new SegmentReader(segment, clusterId);
            for (long offset = firstFree(segment); offset < segment.size(); offset += LogFormat.SECTOR) {
                if (!reader.isZero(offset)) {
                    return true;
                }
            }
        }
        return false;
    }

    private List<Segment> segmentsBehindEnd() {
        return segments.stream()
                .filter(segment -> segment.id() >= tail().end().segment())
                .toList();
    }

    /**
     * Zeros behind the end, durable, so that no old byte can come back behind new ones; what is before it is durable,
     * too.
     */
    void cut() throws IOException {
        for (Segment segment : segmentsBehindEnd()) {
            if (torn) {
                zeroBehindEnd(segment); // before the rest is written again, which would hide what was cut
            }
            if (firstFree(segment) == LogFormat.SEGMENT_HEADER_BYTES) {
                segment.startAt(0);
            }
        }
        for (Segment segment : segments) {
            if (segment.id() >= Math.min(durable.segment(), tail().end().segment())) {
                rewriteEnd(segment);
                segment.file().sync();
            }
        }
    }

    /** Writes what may be in the page cache only once more. */
    private void rewriteEnd(Segment segment) throws IOException {
        LogPosition end = tail().end();
        boolean isBefore = segment.id() < end.segment();
        long used = isBefore ? segment.size() : firstFree(segment);
        long from = segment.id() == durable.segment() ? durable.offset() : LogFormat.SEGMENT_HEADER_BYTES;
        for (long offset = from; offset < used; offset += REWRITE_BYTES) {
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(REWRITE_BYTES, used - offset));
            segment.file().read(bytes, offset);
            segment.file().write(bytes.flip(), offset);
        }
        long last = Math.min(segment.size(), used + lastWriteBytes);
        for (long offset = used; offset < last; offset += REWRITE_BYTES) {
            ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(REWRITE_BYTES, last - offset));
            segment.file().write(zeros, offset);
        }
    }

    private void zeroBehindEnd(Segment segment) throws IOException {
        SegmentReader reader = new SegmentReader(segment, clusterId);
        long cutSectors = 0;
        for (long offset = firstFree(segment); offset < segment.size(); offset += LogFormat.SECTOR) {
            if (!reader.isZero(offset)) {
                segment.file().write(ByteBuffer.allocate(LogFormat.SECTOR), offset);
                cutSectors++;
            }
        }
        if (cutSectors > 0) {
            log.info(
                    "{}: cut a torn tail of {} sectors at offset {}; nothing in it had been acknowledged",
                    disk.describe(segment.name()),
                    cutSectors,
                    firstFree(segment));
        }
    }

    /** The last committed batch of the files, or what is there instead, and those behind it. */
    Deque<Written> written() {
        return written;
    }

    /** Batches that may not be committed. */
    List<LogBatch> rest() {
        return List.copyOf(rest);
    }
}
