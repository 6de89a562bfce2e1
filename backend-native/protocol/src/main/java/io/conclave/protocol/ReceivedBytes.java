package io.conclave.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The bytes that a connection has received and not handled yet. The buffer grows with received bytes, not with a length
 * field: a bad length is refused as soon as its four bytes are there. Not thread-safe: it belongs to the connection's
 * event loop.
 */
public final class ReceivedBytes {
    private final ByteBufAllocator allocator;
    private ByteBuf bytes = Unpooled.EMPTY_BUFFER;

    /** Nothing yet; the allocator is for what has to be put together. */
    public ReceivedBytes(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /** Takes over the buffer. */
    public void add(ByteBuf more) {
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

    /** Doubles, so that a frame that arrives in small parts is not copied again and again. */
    private ByteBuf moved(ByteBuf from, int room) {
        int length = from.readableBytes();
        ByteBuf larger = allocator.buffer(Math.max(2 * length, length + room));
        larger.writeBytes(from);
        from.release();
        return larger;
    }

    /** The next frame's payload, valid until the next call; see {@link Frames#next}. */
    public Optional<ByteBuf> nextFrame(int maxPayloadBytes) {
        return Frames.next(bytes, maxPayloadBytes);
    }

    /** The length of the next frame's payload, without consuming it; empty if it is not all there, or not valid. */
    public OptionalInt nextFrameLength() {
        OptionalInt length = announcedFrameLength();
        int there = bytes.readableBytes() - Frames.LENGTH_BYTES;
        return length.orElse(-1) < 0 || length.getAsInt() > there ? OptionalInt.empty() : length;
    }

    /** The length of the next frame's payload as it says itself; empty if that is not there. */
    public OptionalInt announcedFrameLength() {
        return bytes.readableBytes() < Frames.LENGTH_BYTES
                ? OptionalInt.empty()
                : OptionalInt.of(bytes.getInt(bytes.readerIndex()));
    }

    /** The number behind so many bytes of the next frame's payload, without consuming it; empty if it is not there. */
    public OptionalInt intOfNextFrame(int offset) {
        int index = Frames.LENGTH_BYTES + offset;
        return bytes.readableBytes() < index + Integer.BYTES
                ? OptionalInt.empty()
                : OptionalInt.of(bytes.getInt(bytes.readerIndex() + index));
    }

    /** The first four bytes as letters, without consuming them; empty if there are fewer. */
    public String firstLetters() {
        return bytes.readableBytes() < Frames.LENGTH_BYTES
                ? ""
                : bytes.toString(bytes.readerIndex(), Frames.LENGTH_BYTES, StandardCharsets.US_ASCII);
    }

    /** This many bytes behind the first four, without consuming them; empty if there are fewer. */
    public Optional<byte[]> behindLetters(int count) {
        if (bytes.readableBytes() < Frames.LENGTH_BYTES + count) {
            return Optional.empty();
        }
        byte[] behind = new byte[count];
        bytes.getBytes(bytes.readerIndex() + Frames.LENGTH_BYTES, behind);
        return Optional.of(behind);
    }

    /** The number of bytes not handled yet. */
    public int size() {
        return bytes.readableBytes();
    }

    /** Drops all bytes and releases their memory. */
    public void release() {
        bytes.release();
        bytes = Unpooled.EMPTY_BUFFER;
    }
}
