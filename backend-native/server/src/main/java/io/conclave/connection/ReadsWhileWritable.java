package io.conclave.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;

/**
 * Stands between the socket and TLS, which reads on by itself until it has something to pass on: reads nothing while
 * the client does not take what is sent to it, since TLS has answers of its own.
 */
final class ReadsWhileWritable extends ChannelDuplexHandler {
    private boolean wantsRead;

    @Override
    public void read(ChannelHandlerContext context) {
        if (ConnectionOutput.isFull(context.channel())) {
            wantsRead = true;
        } else {
            context.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (wantsRead && context.channel().isWritable()) {
            wantsRead = false;
            context.read();
        }
        context.fireChannelWritabilityChanged();
    }
}
