package io.conclave.connection;

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;

/** Its client reads when it is told to. */
final class UnreadChannel extends EmbeddedChannel {
    private boolean reads;
    private int takes;

    @Override
    protected void doWrite(ChannelOutboundBuffer written) throws Exception {
        if (reads) {
            super.doWrite(written);
        }
        for (; takes > 0; takes--) {
            written.remove();
        }
    }

    /** Its client reads so many of the buffers that were sent. */
    void read(int buffers) {
        takes = buffers;
        flushOutbound();
    }

    /** Whether its client reads all that is sent from now on. */
    void reads(boolean all) {
        reads = all;
    }

    /** Its client reads all that was sent. */
    void readAll() {
        reads = true;
        flushOutbound();
        reads = false;
    }
}
