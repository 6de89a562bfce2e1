package io.conclave.testkit.driver;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The threads and timers of one process, which can be stopped as by SIGSTOP: what would begin to run waits until the
 * process goes on. Its clocks go on meanwhile, as clocks do.
 *
 * <p>Thread-safe. What runs already is not stopped, so a process is stopped while all of its threads wait.
 */
final class StoppableProcess implements Executor {
    private final Executor threads;
    private final TimeSource clocks;
    private final Object lock = new Object();
    /** {@code @GuardedBy("lock")}. */
    private final List<Runnable> waiting = new ArrayList<>();
    /** {@code @GuardedBy("lock")}. */
    private boolean isStopped;

    StoppableProcess(Executor threads, TimeSource time) {
        this.threads = threads;
        this.clocks = new Clocks(time);
    }

    /** The clocks by which this process is known to the store; its timers wait while it is stopped. */
    TimeSource clocks() {
        return clocks;
    }

    @Override
    public void execute(Runnable task) {
        if (!waits(task)) {
            threads.execute(task);
        }
    }

    private boolean waits(Runnable task) {
        synchronized (lock) {
            return isStopped && waiting.add(task);
        }
    }

    void stop() {
        synchronized (lock) {
            isStopped = true;
        }
    }

    /** Everything that waited begins to run; idempotent. */
    void goOn() {
        List<Runnable> due;
        synchronized (lock) {
            isStopped = false;
            due = List.copyOf(waiting);
            waiting.clear();
        }
        due.forEach(threads::execute);
    }

    private final class Clocks implements TimeSource {
        private final TimeSource time;

        Clocks(TimeSource time) {
            this.time = time;
        }

        @Override
        public long monotonicNanos() {
            return time.monotonicNanos();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            AtomicBoolean isOver = new AtomicBoolean();
            Runnable once = () -> {
                if (isOver.compareAndSet(false, true)) {
                    task.run();
                }
            };
            Timer timer = time.schedule(delay, () -> {
                if (!waits(once)) {
                    once.run();
                }
            });
            return () -> {
                isOver.set(true);
                timer.cancel();
            };
        }
    }
}
