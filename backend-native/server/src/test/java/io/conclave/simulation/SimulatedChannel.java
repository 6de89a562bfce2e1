package io.conclave.simulation;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;

/** The server's end of a client's connection. */
final class SimulatedChannel extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false);
    private static final ByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false, true);

    /** Where it goes from here. */
    interface Peer {
        void sent(byte[] bytes);

        void closed();
    }

    private static final class Address extends SocketAddress {
        private static final long serialVersionUID = 1L;
        private final String text;

        Address(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    private final DefaultChannelConfig config = new DefaultChannelConfig(this);
    private final Peer peer;
    private final Address address;
    private final Queue<ByteBuf> received = new ArrayDeque<>();
    private boolean open = true;
    private boolean active;
    private boolean delivering;

    SimulatedChannel(String name, Peer peer) {
        super(null);
        this.address = new Address(name);
        this.peer = peer;
        config.setAllocator(ALLOCATOR);
    }

    /** Bytes have come. On the loop. */
    void receive(byte[] bytes) {
        if (open) {
            received.add(Unpooled.wrappedBuffer(bytes));
            deliver();
        }
    }

    private void deliver() {
        if (delivering) {
            return;
        }
        delivering = true;
        try {
            boolean any = false;
            while (open && config.isAutoRead() && !received.isEmpty()) {
                any = true;
                pipeline().fireChannelRead(received.remove());
            }
            if (any) {
                pipeline().fireChannelReadComplete();
            }
        } finally {
            delivering = false;
        }
    }

    /** The other side has closed, or the connection is broken. On the loop. */
    void end() {
        if (open) {
            close();
        }
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new AbstractUnsafe() {
            @Override
            public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
                promise.setFailure(new UnsupportedOperationException());
            }
        };
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true;
    }

    @Override
    protected SocketAddress localAddress0() {
        return address;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return address;
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        active = true;
        promise.setSuccess();
    }

    @Override
    protected void doBind(SocketAddress local) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected void doClose() {
        if (open) {
            open = false;
            active = false;
            peer.closed();
        }
    }

    @Override
    protected void doBeginRead() {
        if (!received.isEmpty() && !delivering) {
            eventLoop().execute(this::deliver);
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer buffer) {
        for (Object message = buffer.current(); message != null; message = buffer.current()) {
            ByteBuf source = (ByteBuf) message;
            if (source.isReadable()) {
                byte[] bytes = new byte[source.readableBytes()];
                source.readBytes(bytes);
                peer.sent(bytes);
            }
            buffer.remove();
        }
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return active;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }
}
