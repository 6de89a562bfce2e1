package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SessionCountsTest {
    @Test
    void anotherSecondHasRoomForOtherSessions() {
        ManualTimeSource time = new ManualTimeSource();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults().with(ClientLimit.SESSIONS_PER_SECOND, 3), time);
        SessionCounts counts = new SessionCounts(guard, time);
        for (int second = 0; second < 3; second++) {
            for (int i = 0; i < 3; i++) {
                assertTrue(counts.admits(null, 0, "somebody"));
            }
            assertFalse(counts.admits(null, 0, "somebody"));
            time.advance(Duration.ofSeconds(1));
        }
        assertEquals(3, guard.count(ClientLimit.SESSIONS_PER_SECOND));
    }
}
