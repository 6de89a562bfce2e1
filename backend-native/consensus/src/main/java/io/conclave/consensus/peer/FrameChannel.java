package io.conclave.consensus.peer;

import io.conclave.consensus.core.PeerMessage;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection between members: frames in and out. An empty frame is a keepalive; both ends send one whenever they
 * have nothing else to say for half an election timeout, so that silence means that the other one is gone. Belongs to
 * the network's thread.
 */
final class FrameChannel extends ChannelInboundHandlerAdapter {
    /** Of half an election timeout each. */
    static final int SILENT_TICKS = 6;

    private static final int FIRST_BYTES = 512;
    private static final int FULL_BYTES = 64 * 1024;

    /** The member that made the connection. */
    interface Owner {
        /** The connection is there. */
        void opened();

        /** A frame that is not empty, valid during the call. */
        void arrived(ByteBuf frame);

        /** There is no memory for a frame: the connection is closed next. */
        void lackedMemory();

        /** The connection that was there is gone; called once. */
        void ended(String reason);
    }

    private final Owner owner;
    private final int maxFrameBytes;
    private @Nullable Channel channel;
    private @Nullable FrameReader reader;

    /** Null without TLS. */
    private @Nullable LinkTls tls;

    private @Nullable ByteBuf gathered;
    private boolean unflushed;
    private boolean greeted;
    private boolean heard;
    private boolean said;
    private int silentTicks;

    /** Why this end has closed the connection; null while it has not. */
    private @Nullable String closedFor;

    FrameChannel(Owner owner, int maxFrameBytes) {
        this.owner = owner;
        this.maxFrameBytes = maxFrameBytes;
    }

    // ---- in

    @Override
    public void channelActive(ChannelHandlerContext context) {
        channel = context.channel();
        reader = new FrameReader(context.alloc());
        if (closedFor != null) {
            context.close();
            return;
        }
        owner.opened();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object received) {
        ByteBuf bytes = (ByteBuf) received;
        FrameReader from = reader;
        if (from == null || closedFor != null) {
            bytes.release();
            return;
        }
        heard = true;
        from.add(bytes);
        try {
            while (closedFor == null) {
                ByteBuf frame = from.next(greeted ? maxFrameBytes : PeerHandshake.MAX_FRAME_BYTES);
                if (frame == null) {
                    return;
                }
                if (frame.isReadable()) {
                    owner.arrived(frame);
                }
            }
        } catch (MalformedMessageException e) {
            close("it sent a frame that this member does not understand: " + e.getMessage());
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        release();
        String reason = closedFor == null ? "the other end has closed it" : closedFor;
        closedFor = reason;
        owner.ended(reason);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof OutOfMemoryError lack) {
            closeFor(lack);
        } else {
            close(reasonOf(cause));
        }
        context.close();
    }

    /** A handshake that has failed ends the connection. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent completed && !completed.isSuccess()) {
            close(reasonOf(completed.cause()));
        }
    }

    private String reasonOf(Throwable cause) {
        LinkTls used = tls;
        return used == null ? String.valueOf(cause.getMessage()) : used.explain(cause);
    }

    /** The connection uses TLS, whose handler stands before this one. */
    void speaks(LinkTls used) {
        tls = used;
    }

    /** Empty without TLS; complete once a frame has arrived. */
    Optional<LinkTls> tls() {
        return Optional.ofNullable(tls);
    }

    /** What ties proofs to this connection; nothing without TLS. */
    byte[] binding() {
        LinkTls used = tls;
        return used == null ? ProvenHandshake.UNBOUND : used.binding();
    }

    /** Longer frames may come from now on, and keepalives are given. */
    void greeted() {
        greeted = true;
    }

    // ---- out

    /**
     * Puts a frame behind what is gathered. Where there is no memory for it, the connection is closed: a member that is
     * out of direct memory, which clients use too, goes on without that link until it is dialled again.
     */
    void write(Consumer<ByteBuf> payload, int roomBytes) {
        Channel to = channel;
        if (to == null || closedFor != null) {
            return;
        }
        try {
            gather(to, payload, roomBytes);
        } catch (OutOfMemoryError e) {
            closeFor(e);
        }
    }

    private void closeFor(OutOfMemoryError lack) {
        if (closedFor == null) {
            owner.lackedMemory();
            close("there is no memory for its frames: " + lack.getMessage());
        }
    }

    private void gather(Channel to, Consumer<ByteBuf> payload, int roomBytes) {
        if (roomBytes >= FULL_BYTES) {
            writeGathered(to);
        }
        ByteBuf buffer = gathered;
        if (buffer == null) {
            buffer = to.alloc().buffer(Math.max(FIRST_BYTES, roomBytes + FrameReader.LENGTH_BYTES));
            gathered = buffer;
        }
        int start = buffer.writerIndex();
        boolean complete = false;
        try {
            payload.accept(buffer.writeInt(0));
            buffer.setInt(start, buffer.writerIndex() - start - FrameReader.LENGTH_BYTES);
            complete = true;
        } finally {
            if (!complete) {
                buffer.writerIndex(start);
            }
        }
        said = true;
        unflushed = true;
        if (buffer.readableBytes() >= FULL_BYTES) {
            writeGathered(to);
        }
    }

    /** Puts a message behind what is gathered. */
    void write(PeerMessage message, int roomBytes) {
        write(out -> MessageCodec.write(out, message), roomBytes);
    }

    /** Sends what is gathered. */
    void flush() {
        Channel to = channel;
        if (unflushed && to != null) {
            unflushed = false;
            writeGathered(to);
            to.flush();
        }
    }

    private void writeGathered(Channel to) {
        ByteBuf buffer = gathered;
        if (buffer != null) {
            gathered = null;
            to.write(buffer, to.voidPromise());
        }
    }

    /** What the other end has still to read before it gets what is sent now. */
    long backlogBytes() {
        Channel to = channel;
        ByteBuf buffer = gathered;
        ChannelOutboundBuffer pending = to == null ? null : to.unsafe().outboundBuffer();
        return (buffer == null ? 0 : buffer.readableBytes()) + (pending == null ? 0 : pending.totalPendingWriteBytes());
    }

    // ---- life

    /**
     * Half an election timeout has passed. Counts turns of the thread rather than time, so that a pause of one's own is
     * no silence.
     */
    void tick() {
        silentTicks = heard ? 0 : silentTicks + 1;
        heard = false;
        if (silentTicks > SILENT_TICKS) {
            close("nothing was heard on it for three election timeouts");
            return;
        }
        if (greeted && !said) {
            write(out -> {}, 0);
            flush();
        }
        said = false;
    }

    boolean isClosed() {
        return closedFor != null;
    }

    /**
     * Ends it; {@link Owner#ended} follows, later, if it was open. What is gathered is sent as far as it goes at once.
     */
    void close(String reason) {
        if (closedFor != null) {
            return;
        }
        flush();
        closedFor = reason;
        Channel open = channel;
        if (open != null) {
            open.close();
        }
    }

    private void release() {
        ByteBuf buffer = gathered;
        if (buffer != null) {
            gathered = null;
            buffer.release();
        }
        FrameReader from = reader;
        if (from != null) {
            reader = null;
            from.release();
        }
    }
}
