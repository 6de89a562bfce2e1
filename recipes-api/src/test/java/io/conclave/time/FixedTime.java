package io.conclave.time;

import java.time.Duration;

/** Clocks that stand where they are put; the testkit's clock cannot be used below the testkit. */
public final class FixedTime implements TimeSource {
    public long nanos;
    public long millis;

    @Override
    public long monotonicNanos() {
        return nanos;
    }

    @Override
    public long wallMillis() {
        return millis;
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        return () -> {};
    }

    public void advance(Duration by) {
        nanos += by.toNanos();
        millis += by.toMillis();
    }
}
