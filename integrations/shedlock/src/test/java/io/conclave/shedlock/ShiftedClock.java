package io.conclave.shedlock;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The machine's clock, which tests put forward, so that nothing waits for locks to expire. */
final class ShiftedClock extends Clock {
    private volatile Duration shift = Duration.ZERO;

    /** Puts the clock forward. */
    void advance(Duration by) {
        shift = shift.plus(by);
    }

    @Override
    public Instant instant() {
        return Clock.systemUTC().instant().plus(shift);
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        throw new UnsupportedOperationException("The clock of ShedLock is read as an instant");
    }
}
