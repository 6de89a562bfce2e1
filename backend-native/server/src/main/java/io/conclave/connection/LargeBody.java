package io.conclave.connection;

import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.RequestDecoder;
import io.netty.buffer.ByteBuf;

/**
 * A large request that changes nothing, all of which is there and nothing is decoded yet: decoding it takes as long as
 * some slices of {@link LongWork}. Holds the frame until it is decoded, or released. Belongs to the connection's loop.
 */
final class LargeBody {
    private static final int LARGE_BYTES = 16 << 10;
    private static final int PARTS_DECODED_AT_ONCE = 500;

    private final RequestDecoder decoder;
    private final ByteBuf frame;

    /**
     * Retains the frame.
     *
     * @param in reads the frame, behind its header
     */
    LargeBody(OpCode opCode, ByteBuf frame, JuteReader in) {
        this.decoder = RequestDecoder.of(opCode, in);
        this.frame = frame.retain();
    }

    static boolean isLarge(OpCode opCode, ByteBuf frame) {
        return frame.readableBytes() > LARGE_BYTES
                && RequestDecoder.isFor(opCode)
                && opCode != OpCode.MULTI; // a write is decoded when it comes, to be proposed in its order
    }

    /** Decodes some more; whether all is decoded. Throws what {@link RequestBody#decode} throws. */
    boolean decodePart() {
        return decoder.advance(PARTS_DECODED_AT_ONCE);
    }

    /** The request, when all is decoded. */
    RequestBody request() {
        return decoder.request();
    }

    /** Called once. */
    void release() {
        frame.release();
    }
}
