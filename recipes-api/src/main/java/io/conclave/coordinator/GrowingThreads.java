package io.conclave.coordinator;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks on a bounded number of threads; a thread whose task takes long does not count.
 *
 * <p>The bound alone would be a trap: where each thread waits for a result that another task has to bring, that task
 * would never run. So while tasks wait for a thread, a look every {@link #TICK} finds the threads that have been at one
 * task for longer than {@link #PATIENCE}, and lets another one work for each of them. Short tasks, however many, share
 * few threads; tasks that block have a thread each, but not at once.
 */
final class GrowingThreads implements Executor {
    private static final Duration PATIENCE = Duration.ofMillis(50);
    private static final Duration TICK = Duration.ofMillis(20);

    private final Executor threads;
    private final TimeSource time;
    private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final Set<Worker> workers = ConcurrentHashMap.newKeySet();
    private final AtomicInteger active = new AtomicInteger();
    private final AtomicInteger limit; // the bound, and one more for each worker that is stuck
    private final AtomicBoolean watching = new AtomicBoolean();

    /**
     * Creates it without threads.
     *
     * @param threads gives each task that it is given a thread at once
     * @param bound how many threads work, those not counted that are at one task for long
     * @param time the machine's clock, by which tasks really take long
     */
    GrowingThreads(Executor threads, int bound, TimeSource time) {
        this.threads = threads;
        this.time = time;
        this.limit = new AtomicInteger(bound);
    }

    @Override
    public void execute(Runnable task) {
        queue.add(task);
        try {
            startIfRoom();
        } catch (RuntimeException | Error e) {
            if (queue.remove(task)) { // else another thread has it
                throw e;
            }
        }
    }

    private void startIfRoom() {
        while (!queue.isEmpty()) {
            int now = active.get();
            if (now >= limit.get()) {
                watch();
                return;
            }
            if (active.compareAndSet(now, now + 1)) {
                start();
                return;
            }
        }
    }

    private void start() {
        try {
            threads.execute(new Worker());
        } catch (RuntimeException | Error e) {
            active.decrementAndGet();
            throw e;
        }
    }

    private void watch() {
        if (watching.compareAndSet(false, true)) {
            time.schedule(TICK, this::look);
        }
    }

    private void look() {
        try {
            long nowNanos = time.monotonicNanos();
            workers.forEach(worker -> worker.look(nowNanos));
            while (!queue.isEmpty() && active.get() < limit.get()) {
                startIfRoom();
            }
        } finally { // also where no thread can be started now
            watching.set(false);
            if (!queue.isEmpty()) {
                watch();
            }
        }
    }

    /** How many threads may work now. */
    int limit() {
        return limit.get();
    }

    /** Works on one task after the other until there is none, or another worker is to go on. */
    private final class Worker implements Runnable {
        // All guarded by this.
        private long sinceNanos;
        private boolean isBusy;
        private boolean isStuck;

        @Override
        public void run() {
            workers.add(this);
            try {
                while (active.get() <= limit.get()) {
                    Runnable task = queue.poll();
                    if (task == null) {
                        return;
                    }
                    work(task);
                }
            } finally {
                workers.remove(this);
                active.decrementAndGet();
                startIfRoom(); // what came after the last look at the queue, or stands behind a task that threw
            }
        }

        private void work(Runnable task) {
            begin();
            try {
                task.run();
            } finally {
                end();
            }
        }

        private synchronized void begin() {
            sinceNanos = time.monotonicNanos();
            isBusy = true;
        }

        private synchronized void end() {
            isBusy = false;
            if (isStuck) {
                isStuck = false;
                limit.decrementAndGet();
            }
        }

        synchronized void look(long nowNanos) {
            if (isBusy && !isStuck && nowNanos - sinceNanos > PATIENCE.toNanos()) {
                isStuck = true;
                limit.incrementAndGet();
            }
        }
    }
}
