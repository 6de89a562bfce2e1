package io.conclave.connection;

import io.netty.channel.embedded.EmbeddedChannel;

/** Its client has yet to take so many bytes. */
final class SlowChannel extends EmbeddedChannel {
    volatile long waiting;

    @Override
    public boolean isWritable() {
        return waiting == 0;
    }

    @Override
    public long bytesBeforeWritable() {
        return waiting;
    }
}
