package io.conclave.connection;

import io.conclave.protocol.JuteWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * An answer that is made part by part. Its bytes are in buffers of the channel's pool, each of which goes to the
 * channel as it is: nothing of it is copied, and there is no large array on the heap, for which a collection may have
 * to begin. Belongs to the connection's loop, which releases it or gives it to the channel.
 */
final class LongAnswer {
    private static final int BYTES_OF_A_BUFFER = 64 << 10;

    private final ByteBufAllocator allocator;
    private final Queue<ByteBuf> buffers = new ArrayDeque<>();
    private ByteBuf last;
    private JuteWriter writer;
    private long bytesBeforeLast;

    LongAnswer(ByteBufAllocator allocator) {
        this.allocator = allocator;
        this.last = allocator.buffer(BYTES_OF_A_BUFFER);
        this.writer = new JuteWriter(last);
        buffers.add(last);
    }

    /** What writes the next part; the one for the part after that may be another one. */
    JuteWriter writer() {
        if (last.readableBytes() >= BYTES_OF_A_BUFFER - BYTES_OF_A_BUFFER / 8) {
            bytesBeforeLast += last.readableBytes();
            last = allocator.buffer(BYTES_OF_A_BUFFER);
            writer = new JuteWriter(last);
            buffers.add(last);
        }
        return writer;
    }

    /** How many bytes were written. */
    long bytes() {
        return bytesBeforeLast + last.readableBytes();
    }

    /** Gives all buffers away, in order; the caller releases them. */
    Queue<ByteBuf> take() {
        Queue<ByteBuf> taken = new ArrayDeque<>(buffers);
        buffers.clear();
        return taken;
    }

    /** Idempotent; nothing is to be written behind it. */
    void release() {
        take().forEach(ByteBuf::release);
    }
}
