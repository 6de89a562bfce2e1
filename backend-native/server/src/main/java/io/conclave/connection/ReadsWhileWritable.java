package io.conclave.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * Stands between the socket and TLS, which reads on by itself until it has something to pass on: reads nothing while
 * the client does not take what is sent to it, since TLS has answers of its own.
 */
final class ReadsWhileWritable extends ChannelDuplexHandler {
    private boolean wantsRead;

    @Override
    public void read(ChannelHandlerContext context) {
        ChannelOutboundBuffer output = context.channel().unsafe().outboundBuffer();
        if (output == null || output.isWritable()) { // there is none behind the end of the output
            context.read();
        } else {
            wantsRead = true;
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
