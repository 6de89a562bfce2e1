package io.conclave.consensus.store;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntryKind;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segments of the log and the batches in them that may still be cut. Owned by the member's thread.
 *
 * <p>The log ends in the last segment that holds batches; behind it are spares, which hold nothing but zeros. An
 * {@link IOException} means that the log must end: nothing is tried again.
 */
final class LogSegments implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(LogSegments.class);

    /** Batches are written at once up to here. */
    static final int WRITE_BYTES = 8 * 1024 * 1024;

    private static final int ZERO_BYTES = 1024 * 1024;

    private final Disk disk;
    private final UUID clusterId;
    private final int segmentBytes;
    private final BatchEncoder encoder = new BatchEncoder();

    /** Oldest first; the log's end is in the last. Empty between an install and the next write. */
    private final List<Segment> segments = new ArrayList<>();

    private final Deque<Segment> spares = new ArrayDeque<>();

    /** The last committed batch, or what is there instead, and all behind it; never empty after recovery. */
    private final Deque<Written> written = new ArrayDeque<>();

    LogSegments(Disk disk, UUID clusterId, int segmentBytes) {
        this.disk = disk;
        this.clusterId = clusterId;
        this.segmentBytes = segmentBytes;
    }

    /** Takes over what recovery found; segments behind the end are spares. */
    void recovered(List<Segment> found, Deque<Written> batches) {
        segments.addAll(found);
        written.addAll(batches);
        moveSparesBehindEnd();
    }

    private void moveSparesBehindEnd() {
        while (!segments.isEmpty()
                && segments.get(segments.size() - 1).id() > tail().end().segment()) {
            spares.addFirst(segments.remove(segments.size() - 1));
        }
    }

    boolean isRecovered() {
        return !written.isEmpty();
    }

    LogTail tail() {
        return written.getLast().after();
    }

    /** The end of the last batch known to be committed, or what is there instead. */
    LogTail committedTail() {
        return written.getFirst().after();
    }

    /** What ends at or before the index will not be cut any more. */
    void committed(long index) {
        LogRecovery.forgetBefore(written, index);
    }

    // ---- room

    /** How many spare segments there must be, beyond those there are, before the batches can be written. */
    int missingSpares(List<LogBatch> batches) {
        long room = room();
        int used = 0;
        Deque<Segment> left = new ArrayDeque<>(spares);
        for (LogBatch batch : batches) {
            long stride = BatchEncoder.strideOf(batch);
            long bytes = stride + reserveFor(batch);
            if (bytes > room) {
                Segment next = left.poll();
                used++;
                room = (next == null ? segmentBytes : next.size()) - LogFormat.SEGMENT_HEADER_BYTES;
                requireFits(batch, bytes, room);
            }
            room -= stride;
        }
        return Math.max(0, used - spares.size());
    }

    private void requireFits(LogBatch batch, long bytes, long room) {
        if (bytes > room) {
            throw new LogException(batch + " needs " + bytes + " bytes, but a segment in " + disk + " has " + room
                    + ": segmentBytes and maxBatchBytes must be the same on all members");
        }
    }

    /** Whether a batch of so many bytes goes where the log ends. */
    boolean fits(long bytes) {
        return LogFormat.wholeSectors(bytes) + LogFormat.RESERVE_BYTES <= room();
    }

    /** Bytes left in the current segment. */
    long room() {
        return segments.isEmpty() ? 0 : current().size() - start().offset();
    }

    /** Size of the current segment. */
    long currentBytes() {
        return segments.isEmpty() ? 0 : current().size();
    }

    /** What must stay free behind the batch: the reserve, unless it is a term's first, for which that is kept. */
    private static long reserveFor(LogBatch batch) {
        boolean ofTerm = batch.entries().get(0).kind() == LogEntryKind.TERM;
        return ofTerm ? 0 : LogFormat.RESERVE_BYTES;
    }

    private Segment current() {
        return segments.get(segments.size() - 1);
    }

    boolean hasSpare() {
        return !spares.isEmpty();
    }

    /** The id that the next spare segment must have. */
    long nextSpareId() {
        if (!spares.isEmpty()) {
            return spares.getLast().id() + 1;
        }
        return segments.isEmpty() ? tail().end().segment() : current().id() + 1;
    }

    void adoptSpare(Segment spare) {
        spares.addLast(spare);
    }

    // ---- writing

    /** Where the next batch goes, if it fits there: the log's end, or the start of the segment it was moved on to. */
    private LogPosition start() {
        LogPosition end = tail().end();
        return current().id() == end.segment() ? end : new LogPosition(current().id(), LogFormat.SEGMENT_HEADER_BYTES);
    }

    /**
     * Writes batches for which there is room; returns when they are durable.
     *
     * @return how many bytes were written
     */
    long append(List<LogBatch> batches, long commitIndex) throws IOException {
        requireSuccessors(batches);
        long known = Math.min(commitIndex, batches.get(batches.size() - 1).lastIndex());
        long bytes = 0;
        int next = 0;
        while (next < batches.size()) {
            LogBatch first = batches.get(next);
            if (BatchEncoder.strideOf(first) + reserveFor(first) > room()) {
                segments.add(spares.removeFirst());
            }
            List<Written> together = encode(batches.subList(next, batches.size()), known);
            bytes += encoder.bytes();
            current().file().writeSynced(encoder.take(), together.get(0).start().offset());
            if (current().firstIndex() == 0) {
                current().startAt(first.firstIndex());
            }
            written.addAll(together);
            next += together.size();
        }
        return bytes;
    }

    /** Puts as many of the batches into the encoder as are written at once. */
    private List<Written> encode(List<LogBatch> batches, long commitIndex) {
        List<Written> together = new ArrayList<>();
        LogTail last = tail();
        LogPosition durable = last.end();
        LogPosition at = start();
        encoder.begin();
        for (LogBatch batch : batches) {
            long stride = BatchEncoder.strideOf(batch);
            boolean fits = at.offset() + stride + reserveFor(batch) <= current().size();
            if (!together.isEmpty() && (!fits || encoder.bytes() >= WRITE_BYTES)) {
                break;
            }
            int headerCrc = encoder.add(
                    batch, new BatchHeader.Place(clusterId, at.segment(), durable, commitIndex, last.headerCrc()));
            LogPosition end = new LogPosition(at.segment(), at.offset() + stride);
            last = new LogTail(end, batch.term(), batch.lastIndex(), batch.timestampMs(), headerCrc);
            together.add(new Written(at, last));
            at = end;
        }
        return together;
    }

    private void requireSuccessors(List<LogBatch> batches) {
        long index = tail().lastIndex();
        long term = tail().term();
        for (LogBatch batch : batches) {
            if (batch.firstIndex() != index + 1 || batch.term() < term) {
                throw new IllegalArgumentException(batch + " cannot follow index " + index + " of term " + term);
            }
            index = batch.lastIndex();
            term = batch.term();
        }
    }

    // ---- cutting

    /**
     * Where the log would end if it were cut behind the index.
     *
     * @throws IllegalStateException if something would be cut that is known to be committed
     * @throws IllegalArgumentException if it is not the end of a batch
     */
    LogTail tailAt(long index) {
        for (Written batch : written) {
            if (batch.after().lastIndex() == index) {
                return batch.after();
            }
        }
        if (index < committedTail().lastIndex()) {
            throw new IllegalStateException("the log cannot be cut behind index " + index + ": it is committed up to "
                    + committedTail().lastIndex());
        }
        throw new IllegalArgumentException(
                "index " + index + " is not the end of a batch; the log ends at " + tail().lastIndex());
    }

    /**
     * Cuts the batches behind the tail, one of those of {@link #tailAt}: from the last to the first, each step durable.
     * So at any moment the log is one that it was before, and no batch says of anything missing that it was durable.
     */
    void cutTo(LogTail end) throws IOException {
        while (!tail().equals(end)) {
            Written last = written.removeLast();
            Segment segment = segmentOf(last.start());
            zero(segment, last.start().offset(), last.after().end().offset());
            if (last.start().offset() == LogFormat.SEGMENT_HEADER_BYTES) {
                segment.startAt(0);
            }
        }
        moveSparesBehindEnd();
    }

    private Segment segmentOf(LogPosition position) {
        for (Segment segment : segments) {
            if (segment.id() == position.segment()) {
                return segment;
            }
        }
        throw new IllegalStateException("no segment at " + position);
    }

    private static void zero(Segment segment, long from, long to) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(ZERO_BYTES, to - from));
        for (long offset = from; offset < to; offset += zeros.capacity()) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), to - offset));
            segment.file().writeSynced(zeros, offset);
        }
    }

    /**
     * The id of a segment not behind the one that has the entry, or will have it if it is the next; empty if none does.
     */
    OptionalLong segmentWith(long index) {
        if (index > tail().lastIndex()) {
            return index == tail().lastIndex() + 1
                    ? OptionalLong.of(tail().end().segment())
                    : OptionalLong.empty();
        }
        for (int i = segments.size() - 1; i >= 0; i--) {
            long first = segments.get(i).firstIndex();
            if (first != 0 && first <= index) {
                return OptionalLong.of(segments.get(i).id());
            }
        }
        return OptionalLong.empty();
    }

    // ---- forgetting

    /** The segment in which a log begins that replaces this one. */
    long nextBase() {
        return spares.isEmpty() ? nextSpareId() : spares.getFirst().id();
    }

    /**
     * Begins anew behind a snapshot, in the segment of {@link #nextBase}; returns the files that are not needed now.
     */
    List<String> restart(LogTail tail) {
        List<String> obsolete = new ArrayList<>();
        for (Segment segment : segments) {
            obsolete.add(segment.name());
            closeQuietly(segment);
        }
        segments.clear();
        written.clear();
        written.add(new Written(tail.end(), tail));
        return obsolete;
    }

    /** Lets go of segments all of whose entries a snapshot covers; returns their files, which can be deleted. */
    List<String> removeCovered(long coveredIndex) {
        // the segment with the last covered entry stays: all that follows it may yet be cut
        List<String> obsolete = new ArrayList<>();
        while (segments.size() > 1
                && segments.get(1).firstIndex() != 0
                && segments.get(1).firstIndex() <= coveredIndex) {
            Segment removed = segments.remove(0);
            obsolete.add(removed.name());
            closeQuietly(removed);
        }
        return obsolete;
    }

    private static void closeQuietly(Segment segment) {
        try {
            segment.close();
        } catch (IOException e) {
            log.warn("closing {}, which is not needed any more", segment.name(), e);
        }
    }

    @Override
    public void close() throws IOException {
        for (Segment segment : segments) {
            segment.close();
        }
        for (Segment segment : spares) {
            segment.close();
        }
    }
}
