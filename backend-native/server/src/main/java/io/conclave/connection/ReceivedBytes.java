package io.conclave.connection;

import io.conclave.protocol.Frames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What a connection has received and not handled yet: at most one read beyond one frame, since a bad length is refused
 * at once and reading stops while frames wait. Memory grows with what came, not with what a length promises. Belongs to
 * the connection's loop.
 */
final class ReceivedBytes {
    private final ByteBufAllocator allocator;
    private ByteBuf bytes = Unpooled.EMPTY_BUFFER;

    ReceivedBytes(ByteBufAllocator allocator) {
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
            if (bytes.refCnt() > 1 || bytes.isReadOnly() || bytes.maxFastWritableBytes() < more.readableBytes()) {
                bytes = moved(bytes, more.readableBytes());
            }
            bytes.writeBytes(more);
        } finally {
            more.release();
        }
    }

    /** Doubles, so that a frame that comes in crumbs is not copied over and over. */
    private ByteBuf moved(ByteBuf from, int room) {
        int length = from.readableBytes();
        ByteBuf larger = allocator.buffer(Math.max(2 * length, length + room));
        larger.writeBytes(from);
        from.release();
        return larger;
    }

    /** The next frame's payload, valid until the next call; see {@link Frames#next}. */
    Optional<ByteBuf> nextFrame(int maxPayloadBytes) {
        return Frames.next(bytes, maxPayloadBytes);
    }

    /** The first four bytes as letters, which stay where they are; empty if there are fewer. */
    String firstLetters() {
        return bytes.readableBytes() < Frames.LENGTH_BYTES
                ? ""
                : bytes.toString(bytes.readerIndex(), Frames.LENGTH_BYTES, StandardCharsets.US_ASCII);
    }

    int size() {
        return bytes.readableBytes();
    }

    void release() {
        bytes.release();
        bytes = Unpooled.EMPTY_BUFFER;
    }
}
