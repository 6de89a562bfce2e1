package io.conclave.tls;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandler;

/**
 * Stands between the socket and TLS: reads no more once more has come than a handshake has, until that is complete. It
 * is computed on other threads, and what comes meanwhile is kept. A client may have sent much of what it has to say
 * behind its own end of the handshake: that waits in its socket.
 */
public final class HandshakeBound extends ChannelDuplexHandler {
    /** A handshake has some kilobytes; Java takes no message of it beyond 32 kB. */
    static final int MOST_BYTES = 64 << 10;

    private final SslHandler tls;
    private long bytes;
    private boolean holding;
    private boolean wantsRead;

    /** @param tls stands behind it */
    public HandshakeBound(SslHandler tls) {
        this.tls = tls;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        bytes += ((ByteBuf) message).readableBytes();
        if (bytes > MOST_BYTES && !tls.handshakeFuture().isDone()) {
            hold(context);
        }
        context.fireChannelRead(message);
    }

    private void hold(ChannelHandlerContext context) {
        context.channel().config().setAutoRead(false);
        if (!holding) {
            holding = true;
            tls.handshakeFuture().addListener(done -> {
                holding = false;
                context.channel().config().setAutoRead(true);
                if (wantsRead) {
                    context.read();
                }
            });
        }
    }

    /** TLS asks by itself until its handshake is complete. */
    @Override
    public void read(ChannelHandlerContext context) {
        if (holding) {
            wantsRead = true;
        } else {
            context.read();
        }
    }
}
