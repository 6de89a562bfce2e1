package io.conclave.testkit;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Clocks that stand still until a test moves them.
 *
 * <p>Timers belong to the monotonic clock. A move runs the timers that become due in order of their time (those of the
 * same time in order of scheduling), each with the clocks at its own time, so a timer that schedules another one inside
 * the move sees it run too. A timer with no delay runs at the next move, also one by zero. Thread-safe; timers run
 * outside the lock, on the thread that moves the clock or on the executor given.
 */
public final class ManualTimeSource implements TimeSource {
    private static final Logger LOG = LoggerFactory.getLogger(ManualTimeSource.class);
    private static final long NANOS_PER_MILLI = 1_000_000L;
    private static final long START_WALL_MS = 1_700_000_000_000L;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration POLL = Duration.ofMillis(10);

    private final Executor executor;
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final PriorityQueue<Task> tasks = new PriorityQueue<>();
    private long monotonicNanos;
    private long wallNanosSinceStart;
    private long lastTaskNumber;

    private static final class Task implements Comparable<Task> {
        final long dueNanos;
        final long number;
        final Runnable action;

        Task(long dueNanos, long number, Runnable action) {
            this.dueNanos = dueNanos;
            this.number = number;
            this.action = action;
        }

        @Override
        public int compareTo(Task other) {
            int byTime = Long.compare(dueNanos, other.dueNanos);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    /** Clocks whose timers run on the thread that moves them. */
    public ManualTimeSource() {
        this(Runnable::run);
    }

    /** Clocks whose timers run on the executor; a move hands them over and does not wait for them. */
    public ManualTimeSource(Executor executor) {
        this.executor = Objects.requireNonNull(executor, "executor");
    }

    @Override
    public long monotonicNanos() {
        synchronized (lock) {
            return monotonicNanos;
        }
    }

    @Override
    public long wallMillis() {
        synchronized (lock) {
            return START_WALL_MS + Math.floorDiv(wallNanosSinceStart, NANOS_PER_MILLI);
        }
    }

    @Override
    public Timer schedule(Duration delay, Runnable action) {
        Objects.requireNonNull(action, "action");
        long delayNanos = delay.isNegative() ? 0 : saturatedNanos(delay);
        synchronized (lock) {
            Task task = new Task(saturatedSum(monotonicNanos, delayNanos), ++lastTaskNumber, action);
            tasks.add(task);
            return () -> cancel(task);
        }
    }

    /** Moves both clocks forward and runs what becomes due. */
    public void advance(Duration by) {
        move(forward(by), true);
    }

    /**
     * Moves both clocks by steps, a hundred a second of real time, until the condition holds; fails after two minutes.
     *
     * <p>This is the way to wait for a timer that another thread arms. That thread reads these clocks when it comes to
     * it, perhaps after the test has moved them: a test that moves them once and then waits would wait for a timer that
     * lies beyond the end of time.
     *
     * <p>If something has to be done by others before a time on these clocks (a handshake, a heartbeat), a step must be
     * so small that a busy machine does it in time: with steps of 10 ms these clocks go as fast as real ones.
     */
    public void advanceUntil(Duration step, Callable<Boolean> condition) {
        Awaitility.await("a condition that holds while manual time goes on")
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(POLL)
                .until(() -> {
                    if (condition.call()) {
                        return true;
                    }
                    advance(step);
                    return condition.call();
                });
    }

    /**
     * Moves both clocks at once, as a process sees them that was suspended: what became due meanwhile runs after the
     * move, late, with the clocks where they are then.
     */
    public void suspend(Duration by) {
        long nanos = forward(by);
        synchronized (lock) {
            monotonicNanos = saturatedSum(monotonicNanos, nanos);
            wallNanosSinceStart = saturatedSum(wallNanosSinceStart, nanos);
        }
        advance(Duration.ZERO);
    }

    /**
     * Moves the monotonic clock forward and runs what becomes due; the wall clock stands, as if an operator had set it
     * back.
     */
    public void advanceMonotonicOnly(Duration by) {
        move(forward(by), false);
    }

    /**
     * Moves the wall clock alone; a negative duration sets it back. This is what a suspended virtual machine sees on
     * waking: no timer has run.
     */
    public void advanceWallOnly(Duration by) {
        synchronized (lock) {
            wallNanosSinceStart += by.toNanos();
        }
    }

    /** How many timers wait. */
    public int pendingTimers() {
        synchronized (lock) {
            return tasks.size();
        }
    }

    /** How far the clocks must move for the next timer to run; empty if none waits. */
    public Optional<Duration> untilNextTimer() {
        synchronized (lock) {
            return Optional.ofNullable(tasks.peek()).map(next -> Duration.ofNanos(next.dueNanos - monotonicNanos));
        }
    }

    private void cancel(Task task) {
        synchronized (lock) {
            tasks.remove(task);
        }
    }

    private void move(long byNanos, boolean wallToo) {
        long target = saturatedSum(monotonicNanos(), byNanos);
        Task due = nextDue(target, wallToo);
        while (due != null) {
            run(due.action);
            due = nextDue(target, wallToo);
        }
    }

    private void run(Runnable action) {
        executor.execute(() -> {
            try {
                action.run();
            } catch (RuntimeException | Error e) {
                LOG.error("Timer task {} failed", action, e);
            }
        });
    }

    /**
     * Takes the next task due until the target and sets the clocks to its time; with none left, sets them to the
     * target.
     */
    private @Nullable Task nextDue(long targetNanos, boolean wallToo) {
        synchronized (lock) {
            Task next = tasks.peek();
            boolean isDue = next != null && next.dueNanos <= targetNanos;
            // Another thread may have moved the clocks meanwhile: they never go back.
            long forwardNanos = Math.max(0, (isDue ? next.dueNanos : targetNanos) - monotonicNanos);
            monotonicNanos += forwardNanos;
            if (wallToo) {
                wallNanosSinceStart += forwardNanos;
            }
            return isDue ? tasks.poll() : null;
        }
    }

    private static long forward(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("Invalid move of the monotonic clock by " + by + ": it never goes back");
        }
        return saturatedNanos(by);
    }

    private static long saturatedNanos(Duration duration) {
        // A hundred years is unlimited here; beyond it Duration.toNanos overflows.
        return duration.toSeconds() > 3_000_000_000L ? 3_000_000_000L * 1_000_000_000L : duration.toNanos();
    }

    private static long saturatedSum(long a, long b) {
        return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
    }
}
