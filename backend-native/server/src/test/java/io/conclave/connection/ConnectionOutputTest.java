package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class ConnectionOutputTest {
    @Test
    void nothingWaitsForAClientThatIsGone() {
        EmbeddedChannel channel = new EmbeddedChannel();
        ConnectionOutput output = new ConnectionOutput(channel);
        assertEquals(0, output.backlogBytes());
        channel.close().syncUninterruptibly();
        assertEquals(0, output.backlogBytes());
    }
}
