package io.conclave.protocol;

import io.netty.buffer.ByteBuf;
import java.util.Optional;

/**
 * The frame around every message: a 32-bit length and that many bytes. Stateless, never blocks, safe from any thread as
 * far as the buffers are.
 */
public final class Frames {
    /** The bytes of a frame's length. */
    public static final int LENGTH_BYTES = Integer.BYTES;

    /** ZooKeeper's default limit of a frame's payload in bytes ({@code jute.maxbuffer}). */
    public static final int DEFAULT_MAX_PAYLOAD_BYTES = 0xfffff;

    private Frames() {}

    /**
     * Takes the next frame out of what has been received. Nothing is consumed while the frame is incomplete, but a bad
     * length is refused as soon as its four bytes are there.
     *
     * @param received the bytes received and not consumed yet; its reader index moves behind the frame
     * @param maxPayloadBytes the longest payload allowed
     * @return the payload, a slice that shares the buffer's memory and reference count; empty if more bytes are needed
     * @throws MalformedFrameException if the length is negative or above the limit
     */
    public static Optional<ByteBuf> next(ByteBuf received, int maxPayloadBytes) {
        if (received.readableBytes() < LENGTH_BYTES) {
            return Optional.empty();
        }
        int length = received.getInt(received.readerIndex());
        if (length < 0) {
            throw new MalformedFrameException("frame length", length + " is negative");
        }
        if (length > maxPayloadBytes) {
            throw new MalformedFrameException(
                    "frame length", length + " is above the limit of " + maxPayloadBytes + " bytes");
        }
        if (received.readableBytes() - LENGTH_BYTES < length) {
            return Optional.empty();
        }
        received.skipBytes(LENGTH_BYTES);
        return Optional.of(received.readSlice(length));
    }

    /**
     * Appends a frame of one record (a handshake).
     *
     * @param out the destination; as it was before if encoding fails
     * @param record the payload
     */
    public static void write(ByteBuf out, WireRecord record) {
        write(out, record, ReplyBody.Empty.INSTANCE);
    }

    /**
     * Appends a frame of a header and a body.
     *
     * @param out the destination; as it was before if encoding fails
     * @param header the first part of the payload
     * @param body the rest of the payload
     */
    public static void write(ByteBuf out, WireRecord header, WireRecord body) {
        int start = out.writerIndex();
        boolean complete = false;
        try {
            out.writeInt(0);
            JuteWriter writer = new JuteWriter(out);
            header.encode(writer);
            body.encode(writer);
            out.setInt(start, out.writerIndex() - start - LENGTH_BYTES);
            complete = true;
        } finally {
            if (!complete) {
                out.writerIndex(start);
            }
        }
    }

    /**
     * Appends a request's frame.
     *
     * @param out the destination
     * @param xid the request's number, or one of {@link Xid}
     * @param body the request; its operation goes into the header
     */
    public static void writeRequest(ByteBuf out, int xid, RequestBody body) {
        write(out, new RequestHeader(xid, body.opCode().code()), body);
    }
}
