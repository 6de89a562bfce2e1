package io.conclave.consensus.peer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Cuts what is received into frames: a length of four bytes, and that many. Memory grows with what came, not with what
 * a length promises. Belongs to the network's thread.
 */
final class FrameReader {
    static final int LENGTH_BYTES = Integer.BYTES;

    private final ByteBufAllocator allocator;
    private ByteBuf bytes = Unpooled.EMPTY_BUFFER;

    FrameReader(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /** Takes over the buffer. */
    void add(ByteBuf more) {
        if (!bytes.isReadable()) {
            bytes.release();
            bytes = more;
            return;
        }
        try {
            int length = bytes.readableBytes();
            if (bytes.maxFastWritableBytes() < more.readableBytes()) {
                ByteBuf larger = allocator.buffer(Math.max(2 * length, length + more.readableBytes()));
                larger.writeBytes(bytes);
                bytes.release();
                bytes = larger;
            }
            bytes.writeBytes(more);
        } finally {
            more.release();
        }
    }

    /**
     * The next frame, valid until the next call; null if it has not come whole.
     *
     * @throws MalformedMessageException if its length is negative or above the limit
     */
    @Nullable
    ByteBuf next(int maxBytes) {
        if (bytes.readableBytes() < LENGTH_BYTES) {
            return null;
        }
        int length = bytes.getInt(bytes.readerIndex());
        if (length < 0 || length > maxBytes) {
            throw new MalformedMessageException("a frame of " + length + " bytes; 0 to " + maxBytes + " are allowed");
        }
        if (bytes.readableBytes() - LENGTH_BYTES < length) {
            return null;
        }
        bytes.skipBytes(LENGTH_BYTES);
        return bytes.readSlice(length);
    }

    void release() {
        bytes.release();
        bytes = Unpooled.EMPTY_BUFFER;
    }
}
