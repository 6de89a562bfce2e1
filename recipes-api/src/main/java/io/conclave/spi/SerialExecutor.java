package io.conclave.spi;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one at a time, in order, on the threads of another executor, and names a task in a warning that keeps the
 * others waiting.
 *
 * <p>No thread is held while there is nothing to do. What a task throws is logged and does not stop the next one.
 */
public final class SerialExecutor implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);
    private static final long STUCK_NANOS = Duration.ofSeconds(2).toNanos();
    private static final Duration NO_THREAD_DELAY = Duration.ofMillis(100);
    private static final ThreadLocal<@Nullable SerialExecutor> CURRENT = new ThreadLocal<>();

    private final String name;
    private final Executor threads;
    private final TimeSource time;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pending = new AtomicInteger();
    private volatile @Nullable Running running;

    private static final class Running {
        final Runnable task;
        final long sinceNanos;
        boolean warned;

        Running(Runnable task, long sinceNanos) {
            this.task = task;
            this.sinceNanos = sinceNanos;
        }
    }

    /**
     * Creates an idle executor.
     *
     * @param name appears in warnings
     * @param threads where the tasks run
     * @param time measures how long a task takes
     */
    public SerialExecutor(String name, Executor threads, TimeSource time) {
        this.name = name;
        this.threads = threads;
        this.time = time;
    }

    /** Runs the task after all that were given before. Never blocks. */
    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (pending.getAndIncrement() == 0) {
            startDraining();
        } else {
            warnIfStuck();
        }
    }

    /** Whether the calling thread is running a task of this executor. */
    public boolean isCurrent() {
        return CURRENT.get() == this;
    }

    private void startDraining() {
        try {
            threads.execute(this::drain);
        } catch (RuntimeException | Error e) {
            // What waits here must run even so: a release or a loss signal may be among it.
            LOG.warn("{}: the executor for callbacks rejects tasks; using a thread of our own", name, e);
            drainOnOwnThread();
        }
    }

    private void drainOnOwnThread() {
        try {
            Thread thread = new Thread(this::drain, "conclave-callbacks");
            thread.setDaemon(true);
            thread.start();
        } catch (OutOfMemoryError e) {
            LOG.error("{}: no thread can be started, trying again", name, e); // nothing else would start it any more
            time.schedule(NO_THREAD_DELAY, this::startDraining);
        }
    }

    private void drain() {
        SerialExecutor outer = CURRENT.get();
        CURRENT.set(this);
        try {
            do {
                Runnable task = tasks.poll();
                if (task != null) {
                    run(task);
                }
            } while (pending.decrementAndGet() > 0);
        } finally {
            CURRENT.set(outer);
        }
    }

    private void run(Runnable task) {
        running = new Running(task, time.monotonicNanos());
        try {
            task.run();
        } catch (Throwable e) { // Kotlin and Scala code may throw anything: those behind it must have their turn
            LOG.error("{}: callback {} failed", name, task, e);
        } finally {
            running = null;
        }
    }

    private void warnIfStuck() {
        Running current = running;
        if (current != null && !current.warned && time.monotonicNanos() - current.sinceNanos > STUCK_NANOS) {
            current.warned = true;
            LOG.warn(
                    "{}: callback {} has not returned for over {} ms and keeps those behind it waiting",
                    name,
                    current.task,
                    STUCK_NANOS / 1_000_000);
        }
    }
}
