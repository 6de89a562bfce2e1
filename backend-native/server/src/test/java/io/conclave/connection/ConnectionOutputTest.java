package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class ConnectionOutputTest {
    /** Its watches are removed some at a time, and what they fire meanwhile is for nobody. */
    @Test
    void noEventIsHeldForAConnectionThatHasEnded() {
        ConnectionOutput output = new ConnectionOutput(new EmbeddedChannel());
        output.beginHolding(1);
        output.release();
        assertFalse(output.isHolding());
    }

    @Test
    void nothingWaitsForAClientThatIsGone() {
        EmbeddedChannel channel = new EmbeddedChannel();
        ConnectionOutput output = new ConnectionOutput(channel);
        assertEquals(0, output.backlogBytes());
        channel.close().syncUninterruptibly();
        assertEquals(0, output.backlogBytes());
    }
}
