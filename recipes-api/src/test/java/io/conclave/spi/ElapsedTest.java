package io.conclave.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.FixedTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ElapsedTest {
    private final FixedTime time = new FixedTime();

    @Test
    void driftOfOnePercentIsAdded() {
        Elapsed mark = Elapsed.since(time);
        time.advance(Duration.ofSeconds(100));
        assertEquals(Duration.ofSeconds(101).toNanos(), mark.nanos());
    }

    @Test
    void largerOfTheTwoClocksCounts() {
        Elapsed mark = Elapsed.since(time);
        time.millis += 5_000; // the machine was suspended: the monotonic clock stood still
        assertEquals(Duration.ofMillis(5_050).toNanos(), mark.nanos());
        time.millis -= 60_000; // the wall clock was set back
        time.nanos += Duration.ofSeconds(1).toNanos();
        assertEquals(Duration.ofMillis(1_010).toNanos(), mark.nanos());
    }

    @Test
    void neverNegativeAndNeverOverflowing() {
        Elapsed mark = Elapsed.since(time);
        time.millis = -1_000;
        time.nanos = -1;
        assertEquals(0, mark.nanos());
        time.millis = Long.MAX_VALUE;
        assertEquals(Long.MAX_VALUE, mark.nanos());
        assertEquals(Duration.ZERO, mark.remainingOf(Duration.ofDays(1)));
    }

    @Test
    void spanLongerThanNanosecondsCanSayIsOneWithoutEnd() {
        Elapsed mark = Elapsed.since(time);
        assertEquals(Duration.ofNanos(Long.MAX_VALUE), mark.remainingOf(Duration.ofSeconds(Long.MAX_VALUE)));
    }

    @Test
    void marksAreOrderedByTheMonotonicClock() {
        Elapsed first = Elapsed.since(time);
        time.nanos = 1;
        Elapsed second = Elapsed.since(time);
        assertTrue(second.isAfter(first));
        assertFalse(first.isAfter(second));
        assertFalse(first.isAfter(first));
    }
}
