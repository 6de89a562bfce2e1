package io.conclave.consensus;

import java.nio.ByteBuffer;

/** Puts batches into the bytes of the file, in one buffer that is used again. Owned by the log's thread. */
final class BatchEncoder {
    private static final int INITIAL_BYTES = 64 * 1024;

    /** Outside the heap, for a channel would copy it there anyway. */
    private ByteBuffer buffer = ByteBuffer.allocateDirect(INITIAL_BYTES);

    /** The batch's length without the padding. */
    static int bytesOf(CommittedBatch batch) {
        int bytes = BatchHeader.BYTES;
        for (CommittedEntry entry : batch.entries()) {
            bytes += LogFormat.ENTRY_HEADER_BYTES + entry.payload().length;
        }
        return bytes;
    }

    /** The batch padded to whole sectors; valid until the next call. Its checksum stands at {@code BYTES - 4}. */
    ByteBuffer encode(CommittedBatch batch, Identity identity, LogPosition at, LogPosition durable, int previousCrc) {
        int length = bytesOf(batch);
        int padded = LogFormat.wholeSectors(length);
        if (buffer.capacity() < padded) {
            buffer = ByteBuffer.allocateDirect(Math.max(padded, 2 * buffer.capacity()));
        }
        buffer.clear().position(BatchHeader.BYTES);
        for (CommittedEntry entry : batch.entries()) {
            buffer.put(entry.kind().code()).putInt(entry.payload().length).put(entry.payload());
        }
        while (buffer.position() < padded) {
            buffer.put((byte) 0);
        }
        BatchHeader.write(buffer, length, identity, at, durable, batch, previousCrc);
        return buffer.flip();
    }
}
