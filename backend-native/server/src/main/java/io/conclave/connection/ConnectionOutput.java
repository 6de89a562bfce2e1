package io.conclave.connection;

import io.conclave.protocol.Frames;
import io.conclave.protocol.WireRecord;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * Gathers the replies and events of one turn of the loop into few buffers. Belongs to the connection's loop.
 */
final class ConnectionOutput {
    private static final int FIRST_BYTES = 512;
    private static final int FULL_BYTES = 64 * 1024;

    private final Channel channel;
    private @Nullable ByteBuf gathered;

    ConnectionOutput(Channel channel) {
        this.channel = channel;
    }

    void write(WireRecord header, WireRecord body) {
        ByteBuf buffer = gathered;
        if (buffer == null) {
            buffer = channel.alloc().buffer(FIRST_BYTES);
            gathered = buffer;
        }
        Frames.write(buffer, header, body);
        if (buffer.readableBytes() >= FULL_BYTES) {
            writeGathered();
        }
    }

    void flush() {
        writeGathered();
        channel.flush();
    }

    private void writeGathered() {
        ByteBuf buffer = gathered;
        if (buffer != null) {
            gathered = null;
            channel.write(buffer, channel.voidPromise());
        }
    }

    /**
     * How many bytes wait for the client to read them, beyond what is usual; 0 while it keeps up, or when it is gone.
     */
    long backlogBytes() {
        // of a channel that was closed without notice yet it would be infinite
        return channel.isOpen() ? channel.bytesBeforeWritable() : 0;
    }

    void release() {
        ByteBuf buffer = gathered;
        if (buffer != null) {
            gathered = null;
            buffer.release();
        }
    }
}
