package io.conclave.connection;

import io.conclave.consensus.Strangers;
import io.conclave.time.TimeSource;
import io.conclave.tls.HandshakeBound;
import io.conclave.tls.TlsContext;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * What the connections of all ports with TCP share at their beginning: the first byte tells whether a client speaks
 * TLS, and a client that speaks what its port does not take is told so in the log. Thread-safe.
 */
final class PortEntry {
    /** The first byte of a handshake of TLS. A client without it sends a length, of less than 2^24, or a letter. */
    private static final byte TLS_HANDSHAKE = 0x16;

    /** Of ports with TLS; how many one address may have, {@link ConnectionCounts} says. */
    private final Strangers<ClientConnection> strangers = new Strangers<>(Strangers.MOST);

    private final Refusals refusals;
    private final Refusals gaveWay;
    private final AtomicLong secure = new AtomicLong();
    private final BooleanSupplier offersIds;

    /**
     * The entry of ports to which nobody is connected.
     *
     * @param gaveWay told of connections that others have pushed out
     * @param offersIds whether all members understand ids of certificates
     */
    PortEntry(TimeSource time, Refusals gaveWay, BooleanSupplier offersIds) {
        this.gaveWay = gaveWay;
        this.offersIds = offersIds;
        refusals = Refusals.ofTls(time);
    }

    /** Stands in front of a connection until its first byte is there. */
    void guard(Channel channel, ClientConnection connection, PortSecurity security) {
        channel.pipeline().addFirst(new FirstByte(connection, security));
        InetAddress address = connection.address();
        if (security.tls().isPresent() && address != null) {
            strangers.add(connection, address.getHostAddress()).ifPresent(this::giveWay);
            channel.closeFuture().addListener(closed -> strangers.remove(connection));
        }
    }

    private void giveWay(ClientConnection connection) {
        String reason = "its handshake of TLS was not complete, nor were those of " + Strangers.MOST
                + " other connections, of which no address has more than " + Strangers.FEW_OF_AN_ADDRESS
                + ", or than its own";
        gaveWay.add(connection, reason);
        connection.loop().post(() -> connection.close(reason));
    }

    TlsCounts counts() {
        return new TlsCounts(secure.get(), strangers.count(), refusals.count());
    }

    private void secured(ClientConnection connection, Channel channel) {
        strangers.remove(connection);
        secure.incrementAndGet();
        channel.closeFuture().addListener(closed -> secure.decrementAndGet());
    }

    private final class FirstByte extends ChannelInboundHandlerAdapter {
        private final ClientConnection connection;
        private final PortSecurity security;

        FirstByte(ClientConnection connection, PortSecurity security) {
            this.connection = connection;
            this.security = security;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            if (!bytes.isReadable()) {
                bytes.release();
                return;
            }
            boolean isTls = bytes.getByte(bytes.readerIndex()) == TLS_HANDSHAKE;
            if (isTls && security.tls().isPresent()) {
                secure(context, security.tls().get());
            } else if (isTls || !security.takesPlain()) {
                bytes.release();
                refuse(context, isTls);
                return;
            } else {
                strangers.remove(connection);
            }
            context.pipeline().remove(this);
            context.fireChannelRead(message);
        }

        private void secure(ChannelHandlerContext context, TlsContext tls) {
            InetSocketAddress client = (InetSocketAddress) context.channel().remoteAddress();
            TlsEntry entry = new TlsEntry(
                    connection,
                    tls,
                    security.superUser(),
                    () -> secured(connection, context.channel()),
                    refusals,
                    offersIds);
            context.pipeline().addAfter(context.name(), "tls entry", entry);
            SslHandler handler = tls.serverHandler(client.getAddress().getHostAddress(), client.getPort());
            context.pipeline().addAfter(context.name(), "tls", handler);
            context.pipeline().addAfter(context.name(), "handshake bound", new HandshakeBound(handler));
            context.pipeline().addAfter(context.name(), "reads", new ReadsWhileWritable());
        }

        private void refuse(ChannelHandlerContext context, boolean isTls) {
            SocketAddress port = context.channel().localAddress();
            String reason = isTls
                    ? "it speaks TLS, and the port " + port + " does not (secureClientPort, client.portUnification)"
                    : "it does not speak TLS, and the port " + port + " takes nothing else";
            refusals.add(context.channel().remoteAddress(), reason);
            connection.close(reason);
        }
    }
}
