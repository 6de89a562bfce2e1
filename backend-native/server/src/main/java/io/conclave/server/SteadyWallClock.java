package io.conclave.server;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The wall clock for the times in the log, which never decrease: a clock that leaps a year ahead by mistake would stop
 * them for a year once it is set right. So a leap is not followed at once but at double speed, and an operator has time
 * to see the warning. What the clock says at the start of the process is believed. Thread-safe.
 */
final class SteadyWallClock {
    private static final Logger LOG = LoggerFactory.getLogger(SteadyWallClock.class);

    /** What a clock that is set by the network may be off. */
    private static final long MAX_LEAP_MS = Duration.ofMinutes(1).toMillis();

    private final TimeSource time;

    // All below: @GuardedBy("this").
    private long givenMs;
    private long givenAtMs;
    private boolean leapt;

    SteadyWallClock(TimeSource time) {
        this.time = time;
        this.givenMs = time.wallMillis();
        this.givenAtMs = monotonicMs();
    }

    private long monotonicMs() {
        return TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos());
    }

    /** Milliseconds since 1970. */
    synchronized long millis() {
        long nowMs = monotonicMs();
        long passedMs = Math.max(0, nowMs - givenAtMs);
        long wallMs = time.wallMillis();
        long leapMs = wallMs - givenMs - passedMs;
        if (leapMs <= MAX_LEAP_MS) {
            givenMs = wallMs;
            leapt = false;
        } else {
            givenMs += 2 * passedMs;
            warnOnce(leapMs);
        }
        givenAtMs = nowMs;
        return givenMs;
    }

    private void warnOnce(long leapMs) {
        if (!leapt) {
            leapt = true;
            LOG.warn(
                    "The wall clock has leapt ahead by {} s. The times in the log never decrease, so they follow it at"
                            + " double speed only: set the clock right if it is wrong",
                    Duration.ofMillis(leapMs).toSeconds());
        }
    }
}
