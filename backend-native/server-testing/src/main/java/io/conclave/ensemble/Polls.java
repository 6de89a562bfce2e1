package io.conclave.ensemble;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/** Waits until something is so at the servers: asks again at intervals, and gives up after three minutes. */
final class Polls {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final TimeSource time;
    private final Duration interval;

    private Polls(TimeSource time, Duration interval) {
        this.time = time;
        this.interval = interval;
    }

    static Polls inJvm(TimeSource time) {
        return new Polls(time, Duration.ofMillis(5));
    }

    /** Processes are asked over sockets, and less often. */
    static Polls ofProcesses(TimeSource time) {
        return new Polls(time, Duration.ofMillis(50));
    }

    /**
     * Waits; blocks.
     *
     * @param what for the message of the failure
     * @param ensemble whose state the message tells
     * @throws IllegalStateException if it takes too long, or the thread is interrupted
     */
    void await(String what, BooleanSupplier condition, ConclaveEnsemble ensemble) {
        long deadline = time.monotonicNanos() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (time.monotonicNanos() - deadline > 0) {
                throw new IllegalStateException("waited " + LIMIT.toSeconds() + " s for " + what + ": " + ensemble);
            }
            pause();
        }
    }

    private void pause() {
        CountDownLatch later = new CountDownLatch(1);
        time.schedule(interval, later::countDown);
        try {
            later.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the ensemble", e);
        }
    }
}
