package io.conclave.tls;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands between the socket and TLS: closes a connection whose other end sends more than a handshake has before the
 * handshake is complete. It is computed on other threads, and what comes meanwhile is kept.
 */
public final class HandshakeBound extends ChannelInboundHandlerAdapter {
    /** A handshake has some kilobytes, with a chain of large certificates some ten. */
    static final int MOST_BYTES = 256 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(HandshakeBound.class);

    private final SslHandler tls;
    private long bytes;

    /** @param tls stands behind it */
    public HandshakeBound(SslHandler tls) {
        this.tls = tls;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (tls.handshakeFuture().isDone()) {
            context.fireChannelRead(message);
            context.pipeline().remove(this);
            return;
        }
        bytes += ((ByteBuf) message).readableBytes();
        if (bytes <= MOST_BYTES) {
            context.fireChannelRead(message);
        } else {
            ((ByteBuf) message).release();
            if (context.channel().isOpen()) {
                LOG.debug("{} sends {} bytes before its handshake is done", context.channel(), bytes);
                context.close();
            }
        }
    }
}
