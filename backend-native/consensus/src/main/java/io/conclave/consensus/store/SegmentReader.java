package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.entry.EntryCodec;
import io.conclave.consensus.entry.LogBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.UUID;

/** Reads batches of one segment through a window of it. */
final class SegmentReader {
    private static final int WINDOW_BYTES = 256 * 1024;

    private final Segment segment;
    private final UUID clusterId;
    private ByteBuffer window = ByteBuffer.allocate(0);
    private long windowStart;

    SegmentReader(Segment segment, UUID clusterId) {
        this.segment = segment;
        this.clusterId = clusterId;
    }

    /** The header at the offset, if one is there whose own checksum matches; its payload may yet be torn. */
    Optional<BatchHeader> header(long offset) throws IOException {
        return BatchHeader.read(view(offset, BatchHeader.BYTES), clusterId, segment.id());
    }

    /** Whether the batch's payload is as it was written. */
    boolean payloadMatches(BatchHeader header, long offset) throws IOException {
        if (header.length() > segment.size() - offset) {
            return false;
        }
        ByteBuffer bytes = view(offset, header.length());
        return bytes.remaining() == header.length()
                && header.payloadCrc() == Checksum.of(bytes, BatchHeader.BYTES, header.length() - BatchHeader.BYTES);
    }

    /** The batch behind a header whose payload matches. */
    LogBatch batch(BatchHeader header, long offset, String path) throws IOException {
        ByteBuffer bytes = view(offset, header.length());
        bytes.position(BatchHeader.BYTES);
        try {
            return new LogBatch(
                    header.term(), header.firstIndex(), header.timestampMs(), EntryCodec.read(bytes, header.count()));
        } catch (IllegalArgumentException e) {
            throw new DamagedLogException(path, offset, "the batch cannot be read: " + e.getMessage());
        }
    }

    /** Whether the sector at the offset holds anything. */
    boolean isZero(long offset) throws IOException {
        ByteBuffer sector = view(offset, LogFormat.SECTOR);
        while (sector.remaining() >= Long.BYTES) {
            if (sector.getLong() != 0) {
                return false;
            }
        }
        return true;
    }

    /** The file's bytes from the offset on, as many as asked for or until it ends. */
    private ByteBuffer view(long offset, int length) throws IOException {
        if (offset < windowStart || offset + length > windowStart + window.limit()) {
            load(offset, length);
        }
        int from = (int) (offset - windowStart);
        return window.slice(from, Math.min(length, window.limit() - from));
    }

    private void load(long offset, int length) throws IOException {
        int wanted = (int) Math.min(Math.max(length, WINDOW_BYTES), Math.max(0, segment.size() - offset));
        if (window.capacity() < wanted) {
            window = ByteBuffer.allocate(wanted);
        }
        window.clear().limit(wanted);
        segment.file().read(window, offset);
        window.flip();
        windowStart = offset;
    }
}
