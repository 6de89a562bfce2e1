package io.conclave.recovery;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RetryTest {
    @Test
    void delayIsHalfASecondWithSomeJitter() {
        Set<Duration> delays = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            Duration delay = Retry.delay(new RefusedException(RefusalReason.NOT_WRITABLE, "read only"));
            assertTrue(delay.compareTo(Duration.ofMillis(400)) >= 0, delay::toString);
            assertTrue(delay.compareTo(Duration.ofMillis(600)) <= 0, delay::toString);
            delays.add(delay);
        }
        assertTrue(delays.size() > 10, "no jitter: " + delays);
    }

    @Test
    void delayIsTheSameForWhatAnApplicationThrows() {
        assertTrue(Retry.delay(new AssertionError()).compareTo(Duration.ofMillis(400)) >= 0);
    }
}
