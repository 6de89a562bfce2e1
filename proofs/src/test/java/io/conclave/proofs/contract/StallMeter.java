package io.conclave.proofs.contract;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how late a thread of this JVM is woken at worst: on a machine that is busy with other things that may be
 * longer than a session's timeout.
 */
final class StallMeter {
    private static final long EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final AtomicLong longestNanos = new AtomicLong();

    /** Measures from now on, until the JVM ends. */
    StallMeter() {
        Thread thread = new Thread(this::run, "stall-meter");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        for (long last = System.nanoTime(); ; ) {
            LockSupport.parkNanos(EVERY_NANOS);
            long now = System.nanoTime();
            longestNanos.accumulateAndGet(now - last - EVERY_NANOS, Math::max);
            last = now;
        }
    }

    /** The worst since this was asked last. */
    long longestMs() {
        return TimeUnit.NANOSECONDS.toMillis(longestNanos.getAndSet(0));
    }
}
