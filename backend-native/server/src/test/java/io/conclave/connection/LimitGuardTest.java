package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LimitGuardTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final LimitGuard guard = new LimitGuard(ClientLimits.defaults().with(ClientLimit.ACL_BYTES, 10), time);

    @Test
    void aFloodOfRefusalsGetsALineNowAndThenForEachLimit() {
        assertTrue(guard.refused(ClientLimit.ACL_BYTES, "the first"));
        for (int i = 0; i < 1000; i++) {
            assertFalse(guard.refused(ClientLimit.ACL_BYTES, "another one"));
        }
        assertTrue(guard.refused(ClientLimit.WATCHES, "for another reason"));
        time.advance(Duration.ofSeconds(11));
        assertTrue(guard.refused(ClientLimit.ACL_BYTES, "one of later"));
        assertEquals(1002, guard.count(ClientLimit.ACL_BYTES));
    }

    @Test
    void zeroMeansNoBound() {
        assertTrue(guard.allows(ClientLimit.ACL_BYTES, 10));
        assertFalse(guard.allows(ClientLimit.ACL_BYTES, 11));
        LimitGuard open = new LimitGuard(ClientLimits.defaults().with(ClientLimit.ACL_BYTES, 0), time);
        assertTrue(open.allows(ClientLimit.ACL_BYTES, Long.MAX_VALUE));
    }
}
