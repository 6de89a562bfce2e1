package io.conclave.ensemble;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The time of one server among several in a JVM: while the server is paused clocks go on, and its timers wait. */
final class PausableTime implements TimeSource {
    private final TimeSource time;
    private final Object lock = new Object();
    /** Guarded by lock, like the next. */
    private boolean paused;

    private final List<Task> held = new ArrayList<>();

    PausableTime(TimeSource time) {
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
    public Timer schedule(Duration delay, Runnable action) {
        Task task = new Task(action);
        Timer timer = time.schedule(delay, () -> due(task));
        return () -> {
            task.cancelled = true;
            timer.cancel();
        };
    }

    private void due(Task task) {
        synchronized (lock) {
            if (paused) {
                held.add(task);
                return;
            }
        }
        task.run();
    }

    /** Holds back timers that fall due from now on. */
    void pause() {
        synchronized (lock) {
            paused = true;
        }
    }

    /** Runs the held timers, in order. */
    void resume() {
        List<Task> late;
        synchronized (lock) {
            paused = false;
            late = List.copyOf(held);
            held.clear();
        }
        late.forEach(task -> time.schedule(Duration.ZERO, task::run));
    }

    private static final class Task {
        private final Runnable action;
        private volatile boolean cancelled;

        Task(Runnable action) {
            this.action = action;
        }

        void run() {
            if (!cancelled) {
                action.run();
            }
        }
    }
}
