package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.testkit.ManualTimeSource;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class ConnectionOutputTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final LimitGuard guard = new LimitGuard(ClientLimits.defaults(), time);
    private final UnreadBytes unread = new UnreadBytes(guard, time);

    private ConnectionOutput output(EmbeddedChannel channel) {
        return new ConnectionOutput(channel, Runnable::run, unread.client("a client", () -> {}));
    }

    /** Its watches are removed some at a time, and what they fire meanwhile is for nobody. */
    @Test
    void noEventIsHeldForAConnectionThatHasEnded() {
        ConnectionOutput output = output(new EmbeddedChannel());
        output.beginHolding(1);
        output.release();
        assertFalse(output.isHolding());
    }

    @Test
    void nothingWaitsForAClientThatIsGone() {
        EmbeddedChannel channel = new EmbeddedChannel();
        ConnectionOutput output = output(channel);
        assertEquals(0, output.backlogBytes());
        channel.close().syncUninterruptibly();
        assertEquals(0, output.backlogBytes());
    }
}
