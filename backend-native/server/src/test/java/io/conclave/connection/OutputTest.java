package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class OutputTest {
    @Test
    void nothingWaitsForAClientThatIsGone() {
        EmbeddedChannel channel = new EmbeddedChannel();
        Output output = new Output(channel);
        assertEquals(0, output.backlogBytes());
        channel.close().syncUninterruptibly();
        assertEquals(0, output.backlogBytes());
    }
}
