package io.conclave.time;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The machine's clocks and one shared daemon thread for timers. */
final class SystemTimeSource implements TimeSource {
    static final SystemTimeSource INSTANCE = new SystemTimeSource();

    private static final Logger LOG = LoggerFactory.getLogger(SystemTimeSource.class);

    private final ScheduledThreadPoolExecutor timers;

    private SystemTimeSource() {
        timers = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "conclave-timer");
            thread.setDaemon(true);
            return thread;
        });
        timers.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long monotonicNanos() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        long delayNanos = delay.isNegative() ? 0 : saturatedNanos(delay);
        ScheduledFuture<?> future = timers.schedule(() -> run(task), delayNanos, TimeUnit.NANOSECONDS);
        return () -> future.cancel(false);
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.error("Timer task {} failed", task, e);
        }
    }

    private static long saturatedNanos(Duration delay) {
        // A hundred years is unlimited here; beyond it Duration.toNanos overflows.
        return delay.toSeconds() > 3_000_000_000L ? 3_000_000_000L * 1_000_000_000L : delay.toNanos();
    }
}
