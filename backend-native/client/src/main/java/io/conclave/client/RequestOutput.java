package io.conclave.client;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.Frames;
import io.conclave.protocol.RequestBody;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/** Numbers and encodes the requests of one open connection, and gathers them into few buffers. Belongs to its loop. */
final class RequestOutput {
    private static final int WRITE_BYTES = 64 * 1024;

    private final ChannelHandlerContext context;
    private @Nullable ByteBuf gathered;
    private int lastXid;

    RequestOutput(ChannelHandlerContext context) {
        this.context = context;
    }

    /** Whether the socket takes more output now. */
    boolean isWritable() {
        return context.channel().isWritable();
    }

    /** Encodes the handshake; the caller flushes. */
    void greet(ConnectRequest request) {
        Frames.write(buffer(), request);
    }

    /** Encodes a request that is answered in its turn; one that is too large is told so instead. The caller flushes. */
    void request(Exchange exchange, RequestBody body) {
        ByteBuf buffer = buffer();
        int start = buffer.writerIndex();
        int xid = nextXid();
        Frames.writeRequest(buffer, xid, body);
        int bytes = buffer.writerIndex() - start - Frames.LENGTH_BYTES;
        if (bytes > RequestCodec.MAX_REQUEST_BYTES) {
            buffer.writerIndex(start);
            exchange.tooLarge(bytes);
            return;
        }
        lastXid = xid;
        exchange.sentAs(xid);
        writeIfMuch();
    }

    /** Encodes a request with a number that is not its turn's; the caller flushes. */
    void special(int xid, RequestBody body) {
        Frames.writeRequest(buffer(), xid, body);
        writeIfMuch();
    }

    /** The number of the next request. */
    private int nextXid() {
        return lastXid == Integer.MAX_VALUE ? 1 : lastXid + 1;
    }

    private ByteBuf buffer() {
        ByteBuf buffer = gathered;
        if (buffer == null) {
            buffer = context.alloc().buffer();
            gathered = buffer;
        }
        return buffer;
    }

    private void writeIfMuch() {
        ByteBuf buffer = gathered;
        if (buffer != null && buffer.readableBytes() >= WRITE_BYTES) {
            gathered = null;
            context.write(buffer, context.voidPromise());
        }
    }

    /** Hands everything that was encoded to the socket. */
    void flush() {
        ByteBuf buffer = gathered;
        gathered = null;
        if (buffer != null) {
            context.writeAndFlush(buffer, context.voidPromise());
        } else {
            context.flush();
        }
    }

    /** Drops what was encoded and not yet handed to the socket. */
    void release() {
        ByteBuf unsent = gathered;
        gathered = null;
        if (unsent != null) {
            unsent.release();
        }
    }
}
