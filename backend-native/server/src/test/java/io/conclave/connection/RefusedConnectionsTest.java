package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.testkit.ManualTimeSource;
import java.net.InetAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RefusedConnectionsTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final RefusedConnections refused = new RefusedConnections(time);

    @Test
    void aFloodOfRefusalsIsLoggedWithALineEveryTenSeconds() {
        int lines = 0;
        for (int i = 0; i < 60_000; i++) {
            lines += refused.add(InetAddress.getLoopbackAddress()) ? 1 : 0;
            time.advance(Duration.ofMillis(1));
        }
        assertEquals(6, lines);
    }
}
