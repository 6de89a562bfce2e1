package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import io.conclave.tls.HandshakeBound;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;

/**
 * Looks at the first byte of a connection that was made to this member: a handshake of TLS begins with 22, a frame with
 * 0. Gives way to what is spoken, or refuses it. Belongs to the network's thread.
 */
final class InboundTls extends ChannelInboundHandlerAdapter {
    private static final byte TLS_HANDSHAKE = 22;

    private final PeerTls tls;
    private final InboundLink link;

    InboundTls(PeerTls tls, InboundLink link) {
        this.tls = tls;
        this.link = link;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object received) {
        ByteBuf bytes = (ByteBuf) received;
        if (!bytes.isReadable()) {
            bytes.release();
            return;
        }
        boolean speaksTls = bytes.getByte(bytes.readerIndex()) == TLS_HANDSHAKE;
        ChannelPipeline pipeline = context.pipeline();
        if (speaksTls && tls.context().isPresent()) {
            LinkTls made = LinkTls.called(tls, link.remoteHost());
            link.frames().speaks(made);
            pipeline.addAfter(context.name(), null, made.handler());
            pipeline.replace(this, null, new HandshakeBound(made.handler()));
            pipeline.fireChannelRead(bytes);
        } else if (!speaksTls && tls.takesPlain()) {
            pipeline.remove(this);
            pipeline.fireChannelRead(bytes);
        } else {
            bytes.release();
            pipeline.remove(this);
            link.refuseForm(speaksTls);
        }
    }
}
