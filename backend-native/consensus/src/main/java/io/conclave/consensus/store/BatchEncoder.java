package io.conclave.consensus.store;

import io.conclave.consensus.entry.EntryCodec;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import java.nio.ByteBuffer;

/** Puts batches that are written at once into the bytes of the file, in one buffer that is used again. */
final class BatchEncoder {
    private static final int INITIAL_BYTES = 64 * 1024;

    /** Outside the heap, for a channel would copy it there anyway. */
    private ByteBuffer buffer = ByteBuffer.allocateDirect(INITIAL_BYTES);

    /** The bytes from a batch to the next. */
    static long strideOf(LogBatch batch) {
        return LogFormat.wholeSectors(BatchHeader.BYTES + EntryCodec.bytesOf(batch.entries()));
    }

    void begin() {
        buffer.clear();
    }

    /** How many bytes were added since {@link #begin}. */
    int bytes() {
        return buffer.position();
    }

    /** Adds a batch, padded to whole sectors; returns its header's checksum. */
    int add(LogBatch batch, BatchHeader.Place place) {
        int from = buffer.position();
        int end = from + Math.toIntExact(strideOf(batch));
        reserve(end);
        buffer.position(from + BatchHeader.BYTES);
        for (LogEntry entry : batch.entries()) {
            EntryCodec.write(buffer, entry);
        }
        int length = buffer.position() - from;
        while (buffer.position() < end) {
            buffer.put((byte) 0);
        }
        return BatchHeader.write(buffer, from, length, batch, place);
    }

    private void reserve(int bytes) {
        if (buffer.capacity() < bytes) {
            ByteBuffer larger = ByteBuffer.allocateDirect(Math.max(bytes, 2 * buffer.capacity()));
            buffer = larger.put(buffer.flip());
        }
    }

    /** All that was added; valid until {@link #begin}. */
    ByteBuffer take() {
        return buffer.flip();
    }
}
