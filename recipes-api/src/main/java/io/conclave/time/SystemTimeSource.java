package io.conclave.time;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The machine's clocks, and one shared daemon thread for timers that ends when there have been none for a while. */
final class SystemTimeSource implements TimeSource {
    static final SystemTimeSource INSTANCE = new SystemTimeSource(Duration.ofSeconds(10));

    private static final Logger LOG = LoggerFactory.getLogger(SystemTimeSource.class);

    private final ScheduledThreadPoolExecutor timers;

    /**
     * The clocks.
     *
     * @param idle how long the thread waits for the next timer before it ends
     */
    SystemTimeSource(Duration idle) {
        timers = new ScheduledThreadPoolExecutor(1, SystemTimeSource::newThread);
        timers.setRemoveOnCancelPolicy(true);
        timers.setKeepAliveTime(idle.toNanos(), TimeUnit.NANOSECONDS);
        timers.allowCoreThreadTimeOut(true);
    }

    /** It serves all applications of the JVM, so it keeps nothing of the one whose thread needs it first. */
    private static Thread newThread(Runnable task) {
        Thread thread = new Thread(null, task, "conclave-timer", 0, false);
        thread.setContextClassLoader(SystemTimeSource.class.getClassLoader());
        thread.setDaemon(true);
        return thread;
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
