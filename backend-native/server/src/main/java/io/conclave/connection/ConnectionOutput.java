package io.conclave.connection;

import io.conclave.protocol.Frames;
import io.conclave.protocol.WireRecord;
import io.conclave.tree.TreeEvent;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be sent to a client: the replies and events of one turn of the loop, gathered into few buffers, and
 * events behind an answer that is made part by part. Belongs to the connection's loop.
 *
 * <p>While an answer is made part by part from one state, events of later changes wait behind it, and what the client
 * is told of zxids stays behind them as well: it would take a watch for set and its event for missed only if it knew a
 * later zxid than that of the last event.
 */
final class ConnectionOutput {
    private static final int FIRST_BYTES = 512;
    /** Of a client that is behind: each turn's output stays in memory until it reads, and may be one event. */
    private static final int FIRST_BYTES_WHEN_BEHIND = 64;

    private static final int FULL_BYTES = 64 * 1024;
    private static final int BYTES_OF_AN_EVENT = 64;

    private final Channel channel;
    private final Executor onLoop;
    private final UnreadBytes.Client unread;
    private @Nullable ByteBuf gathered;
    private long writtenBytes;
    private final List<TreeEvent> heldEvents = new ArrayList<>();
    private long heldBytes;
    private long heldBytesCounted;
    private boolean holding;
    private long heldZxid;

    /** Something will tell when the client has taken what is with the channel. */
    private boolean awaitsTaken;

    private boolean takenPosted;
    private boolean released;
    private final ChannelFutureListener whenTaken = this::taken;

    /**
     * Nothing to send yet.
     *
     * @param onLoop runs a task soon, on the loop
     * @param unread is told what the client has yet to read
     */
    ConnectionOutput(Channel channel, Executor onLoop, UnreadBytes.Client unread) {
        this.channel = channel;
        this.onLoop = onLoop;
        this.unread = unread;
    }

    void write(WireRecord header, WireRecord body) {
        ByteBuf buffer = gathering();
        Frames.write(buffer, header, body);
        writeIfFull();
    }

    private void writeIfFull() {
        ByteBuf buffer = gathered;
        if (buffer != null && buffer.readableBytes() >= FULL_BYTES) {
            writeGathered();
            count();
        }
    }

    /** An event; a long one that others are sent too goes to the channel without a copy. */
    void write(SharedEvent event) {
        if (event.isLong()) {
            writeGathered();
            write(event.slice(channel.alloc()));
            if (pendingBytes() >= FULL_BYTES) {
                count();
            }
        } else {
            event.appendTo(gathering(), channel.alloc());
            writeIfFull();
        }
    }

    /** The answer's buffers are the channel's from here on. */
    void write(WireRecord header, WireRecord head, LongAnswer rest) {
        ByteBuf buffer = gathering();
        int start = buffer.writerIndex();
        Frames.write(buffer, header, head);
        buffer.setInt(start, Math.toIntExact(buffer.getInt(start) + rest.bytes()));
        writeGathered();
        writtenBytes += rest.bytes();
        rest.take().forEach(bytes -> channel.write(bytes).addListener(whenTaken));
        count();
    }

    /** What is no frame, in parts; what the client has not taken of it is counted when it is flushed. */
    void writeText(byte[] text) {
        writeGathered();
        writtenBytes += text.length;
        for (int from = 0; from < text.length; from += FULL_BYTES) {
            ByteBuf part = Unpooled.wrappedBuffer(text, from, Math.min(FULL_BYTES, text.length - from));
            channel.write(part).addListener(whenTaken);
        }
    }

    private ByteBuf gathering() {
        ByteBuf buffer = gathered;
        if (buffer == null) {
            buffer = channel.alloc().buffer(awaitsTaken ? FIRST_BYTES_WHEN_BEHIND : FIRST_BYTES);
            gathered = buffer;
        }
        return buffer;
    }

    void flush() {
        writeGathered();
        channel.flush();
        long pendingBytes = pendingBytes();
        unread.has(pendingBytes, heldBytes);
        if (pendingBytes > 0 && !awaitsTaken) {
            awaitsTaken = true;
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(whenTaken);
        }
    }

    /** Between two flushes; what is not large is with the kernel behind a flush, so that nothing is told of it. */
    private void count() {
        unread.has(pendingBytes(), heldBytes);
    }

    private long pendingBytes() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending == null ? 0 : pending.totalPendingWriteBytes();
    }

    /** Whether the client has yet to read something. */
    boolean isPending() {
        return pendingBytes() > 0;
    }

    /** Whether the channel has as much as it should, be it of us or of TLS; not if its output is shut down. */
    boolean isFull() {
        return isFull(channel);
    }

    /** The same of a channel. */
    static boolean isFull(Channel channel) {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending != null && !pending.isWritable();
    }

    /** The client has taken what was written up to here; it is counted when the channel has done so too. */
    private void taken(ChannelFuture written) {
        if (!takenPosted && written.isSuccess()) {
            takenPosted = true;
            onLoop.execute(() -> {
                takenPosted = false;
                if (released) {
                    return; // with TLS the channel has bytes for some seconds yet
                }
                long pendingBytes = pendingBytes();
                awaitsTaken &= pendingBytes > 0; // then what was written behind tells
                unread.hasTaken(pendingBytes, heldBytes);
            });
        }
    }

    /** Whether the connection is to be closed, since its client does not read. */
    boolean isCut() {
        return unread.isCut();
    }

    private void writeGathered() {
        ByteBuf buffer = gathered;
        if (buffer != null) {
            gathered = null;
            while (buffer.readableBytes() > 2 * FULL_BYTES) {
                writtenBytes += FULL_BYTES;
                channel.write(buffer.readRetainedSlice(FULL_BYTES)).addListener(whenTaken);
            }
            write(buffer);
        }
    }

    private void write(ByteBuf buffer) {
        writtenBytes += buffer.readableBytes();
        if (awaitsTaken || buffer.readableBytes() >= FULL_BYTES) { // of a client that is behind each step counts
            channel.write(buffer).addListener(whenTaken);
        } else {
            channel.write(buffer, channel.voidPromise());
        }
    }

    /**
     * How many bytes have been taken from what was written, less a constant as long as the channel is not writable. A
     * buffer counts when all of it is taken: hence large ones are written in parts.
     */
    long takenBytes() {
        return writtenBytes - backlogBytes();
    }

    /**
     * How many bytes wait for the client to read them, beyond what is usual; 0 while it keeps up, or when it is gone.
     */
    long backlogBytes() {
        // of a channel that was closed without notice yet it would be infinite
        return channel.isOpen() ? channel.bytesBeforeWritable() : 0;
    }

    /** Whether events wait for the end of a long answer. */
    boolean isHolding() {
        return holding;
    }

    /** From here on, until {@link #endHolding}, the client sees the state of this zxid. */
    void beginHolding(long zxid) {
        holding = true;
        heldZxid = zxid;
    }

    /** Keeps the event for later. */
    void hold(TreeEvent event) {
        heldEvents.add(event);
        heldBytes += BYTES_OF_AN_EVENT + event.path().length();
        if (heldBytes - heldBytesCounted >= FULL_BYTES) {
            heldBytesCounted = heldBytes;
            count();
        }
    }

    /** The events that have waited, to be sent now. */
    List<TreeEvent> endHolding() {
        holding = false;
        List<TreeEvent> later = List.copyOf(heldEvents);
        dropEvents();
        return later;
    }

    private void dropEvents() {
        heldEvents.clear();
        heldBytes = 0;
        heldBytesCounted = 0;
    }

    /** Up to which change the client has seen all that it is to see, where the loop shows the given one. */
    long shownZxid(long loopZxid) {
        return holding ? heldZxid : loopZxid;
    }

    /** The connection has ended: no event is kept for it any more. */
    void release() {
        released = true;
        holding = false;
        dropEvents();
        ByteBuf buffer = gathered;
        if (buffer != null) {
            gathered = null;
            buffer.release();
        }
        unread.has(0, 0);
    }
}
