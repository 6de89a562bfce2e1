package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.testkit.ManualTimeSource;
import java.net.InetAddress;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class RefusalsTest {
    private final ManualTimeSource time = new ManualTimeSource();

    @Test
    void aFloodOfRefusalsIsLoggedWithALineEveryTenSeconds() {
        Refusals refused = Refusals.ofConnections(time);
        int lines = 0;
        for (int i = 0; i < 60_000; i++) {
            lines += refused.add(InetAddress.getLoopbackAddress(), "there are too many") ? 1 : 0;
            time.advance(Duration.ofMillis(1));
        }
        assertEquals(6, lines);
        assertEquals(60_000, refused.count());
    }

    @Test
    void theNextLineSaysHowManyWereLeftOut() {
        LineLimit lines = new LineLimit(time, 2);
        assertEquals(OptionalLong.of(0), lines.next());
        assertEquals(OptionalLong.of(0), lines.next());
        assertEquals(OptionalLong.empty(), lines.next());
        time.advance(Duration.ofSeconds(9));
        assertEquals(OptionalLong.empty(), lines.next());
        time.advance(Duration.ofSeconds(1));
        assertEquals(OptionalLong.of(2), lines.next());
        assertEquals(OptionalLong.of(0), lines.next());
    }
}
