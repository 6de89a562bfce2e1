package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.LogBatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the log through files of its own, so that the member's thread may write, and purge, meanwhile. What is durable
 * and committed is never written again, so that nothing has to be locked.
 */
final class OpenLog implements StoredLog {
    private final Disk disk;
    private final UUID clusterId;
    private final LogPlace after;

    /** The entry that this begins behind was found, with its term. */
    private boolean begun;

    private final Consumer<OpenLog> closed;

    private long lastIndex;
    private @Nullable Segment segment;
    private long segmentId;
    private long offset = LogFormat.SEGMENT_HEADER_BYTES;

    /**
     * @param after behind which entry; of term 0 if that need not be in the log
     * @param firstSegment the one with that entry, or with the first one behind it if it need not be there
     * @param closed called when it is closed
     */
    OpenLog(Disk disk, UUID clusterId, LogPlace after, long firstSegment, Consumer<OpenLog> closed) {
        this.disk = disk;
        this.clusterId = clusterId;
        this.after = after;
        this.closed = closed;
        begun = after.term() == 0;
        lastIndex = after.index();
        segmentId = firstSegment;
    }

    /** The log is wanted behind this index. */
    long afterIndex() {
        return after.index();
    }

    @Override
    public List<LogBatch> read(long upTo, long maxBytes) throws IOException {
        List<LogBatch> batches = new ArrayList<>();
        long bytes = 0;
        // a new one each time: what one has read ahead may have been written since
        SegmentReader reader = new SegmentReader(segment(), clusterId);
        while (lastIndex < upTo) {
            Optional<BatchHeader> found = reader.header(offset);
            if (found.isEmpty() || found.get().firstIndex() > lastIndex + 1) {
                reader = new SegmentReader(nextSegment(), clusterId);
                continue;
            }
            BatchHeader header = found.get();
            if (!begun && header.lastIndex() >= after.index()) {
                requireBegin(header);
            }
            if (header.lastIndex() > lastIndex) {
                if (!batches.isEmpty() && bytes + header.length() > maxBytes) {
                    break;
                }
                batches.add(batch(reader, header));
                bytes += header.length();
                lastIndex = header.lastIndex();
            }
            offset += header.stride();
        }
        return batches;
    }

    private void requireBegin(BatchHeader header) throws IOException {
        if (header.lastIndex() != after.index() || header.term() != after.term()) {
            throw new IOException("the log in " + disk.describe(Segment.name(segmentId))
                    + " has another entry at index " + after.index() + " than that of term " + after.term());
        }
        begun = true;
    }

    private LogBatch batch(SegmentReader reader, BatchHeader header) throws IOException {
        String path = disk.describe(Segment.name(segmentId));
        if (header.firstIndex() != lastIndex + 1 || !reader.payloadMatches(header, offset)) {
            throw new DamagedLogException(path, offset, "the batch behind index " + lastIndex + " cannot be read");
        }
        return reader.batch(header, offset, path);
    }

    private Segment segment() throws IOException {
        if (segment == null) {
            segment = Segment.open(disk, clusterId, segmentId);
        }
        return segment;
    }

    private Segment nextSegment() throws IOException {
        closeFile();
        segmentId++;
        offset = LogFormat.SEGMENT_HEADER_BYTES;
        return segment();
    }

    private void closeFile() throws IOException {
        if (segment != null) {
            segment.close();
            segment = null;
        }
    }

    @Override
    public void close() throws IOException {
        closed.accept(this);
        closeFile();
    }
}
