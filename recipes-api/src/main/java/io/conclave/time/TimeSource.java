package io.conclave.time;

import java.time.Duration;

/**
 * The only reader of clocks in this library, and the only class that waits for time to pass.
 *
 * <p>It is injected everywhere, so that tests and simulations move time themselves. Two clocks are kept because neither
 * is enough: the monotonic one stops while a virtual machine is suspended, the wall clock can be set; see
 * {@code io.conclave.spi.Elapsed}.
 */
public interface TimeSource {
    /** Monotonic time in nanoseconds from an arbitrary origin. Never blocks. */
    long monotonicNanos();

    /** Wall clock time in milliseconds since the epoch. Never blocks. */
    long wallMillis();

    /**
     * Runs a task once after a delay. Never blocks.
     *
     * @param delay how long to wait; zero or negative runs it as soon as possible
     * @param task must not block; it runs on a thread of this source. What it throws is logged
     * @return a handle that cancels the task if it has not begun
     */
    Timer schedule(Duration delay, Runnable task);

    /** A task that waits for its time. */
    @FunctionalInterface
    interface Timer {
        /** Cancels the task if it has not begun; otherwise does nothing. Never blocks. */
        void cancel();
    }

    /** The clocks of this machine. One daemon thread, shared by all users, runs the scheduled tasks. */
    static TimeSource system() {
        return SystemTimeSource.INSTANCE;
    }
}
