package io.conclave.connection;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.Xid;
import io.conclave.tree.TreeEvent;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * An event on its way to all its watchers on one loop. What they are sent is the same for each of them, so it is
 * encoded once; where it is long, it is in memory once as well, however many watchers do not read it (with TLS each has
 * it encrypted for itself). Belongs to the loop; its maker releases it.
 */
final class SharedEvent {
    /** An event with a path of so many characters goes to the channels as it is; a shorter one is copied. */
    private static final int LONG_PATH = 2048;

    private final TreeEvent event;
    private final int watchers;
    private @Nullable ByteBuf frame;

    /** @param watchers how many are told */
    SharedEvent(TreeEvent event, int watchers) {
        this.event = event;
        this.watchers = watchers;
    }

    TreeEvent event() {
        return event;
    }

    /** Whether each watcher is to get {@link #slice} and not a copy. */
    boolean isLong() {
        return watchers > 1 && event.path().length() >= LONG_PATH;
    }

    /** Its frame, behind what is in the buffer. */
    void appendTo(ByteBuf out, ByteBufAllocator allocator) {
        if (watchers == 1) {
            encode(out);
        } else {
            ByteBuf encoded = frame(allocator);
            out.writeBytes(encoded, encoded.readerIndex(), encoded.readableBytes());
        }
    }

    /**
     * Its frame without a copy; the caller releases it. There is no room behind it, so that nobody can write into what
     * others are sent: TLS appends what comes next to a buffer that has room.
     */
    ByteBuf slice(ByteBufAllocator allocator) {
        return frame(allocator).retainedSlice();
    }

    private ByteBuf frame(ByteBufAllocator allocator) {
        ByteBuf encoded = frame;
        if (encoded == null) {
            encoded = allocator.buffer();
            encodeOrRelease(encoded);
            frame = encoded; // not before: of one that failed the next watcher would be sent nothing
        }
        return encoded;
    }

    private void encodeOrRelease(ByteBuf out) {
        try {
            encode(out);
        } catch (RuntimeException | Error e) {
            out.release();
            throw e;
        }
    }

    private void encode(ByteBuf out) {
        Frames.write(
                out,
                new ReplyHeader(Xid.WATCH_EVENT, event.zxid(), ErrorCode.OK.code()),
                new WatcherEvent(event.type().code(), WatcherEvent.STATE_CONNECTED, event.path()));
    }

    /** Nobody is told of it any more; what the channels have stays with them. Idempotent. */
    void release() {
        ByteBuf encoded = frame;
        if (encoded != null) {
            frame = null;
            encoded.release();
        }
    }
}
