package io.conclave.client;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Lets the connection begin on a channel that is open. An attempt that fails has not used the connection up: Netty
 * takes such a handler once only, and a name may have more addresses. Belongs to the loop.
 */
final class PlainOpening extends ChannelInboundHandlerAdapter {
    private final Connection connection;

    PlainOpening(Connection connection) {
        this.connection = connection;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.pipeline().addLast(connection);
        context.fireChannelActive();
        context.pipeline().remove(this);
    }
}
