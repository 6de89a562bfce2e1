package io.conclave.connection;

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;

/** Its client reads when it is told to. */
final class UnreadChannel extends EmbeddedChannel {
    private boolean reads;

    @Override
    protected void doWrite(ChannelOutboundBuffer written) throws Exception {
        if (reads) {
            super.doWrite(written);
        }
    }

    /** Its client reads all that was sent. */
    void readAll() {
        reads = true;
        flushOutbound();
        reads = false;
    }
}
