package io.conclave.testkit.driver;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The threads of one run, and the answer to the question whether all of them wait.
 *
 * <p>A thread that was woken and has not got a processor yet still looks as if it waited. Of one that waits for a
 * future that is seen anyway: the future's waiter says that it has been released. A thread that waits for a lock does
 * not count as waiting. Of other ways to wait it can only be guessed, by looking again and again.
 */
final class QuietThreads implements Executor {
    /** How often threads are looked at that surely wait: what runs may move on from one that was looked at already. */
    private static final int SURE_LOOKS = 3;

    private static final long LOOK_MICROS = 50;

    private final Executor pool;
    private final Set<Thread> busy = ConcurrentHashMap.newKeySet();
    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicLong steps = new AtomicLong();
    private final Semaphore stepped = new Semaphore(0);

    /** What a look at a thread, or at all of them, tells. Ordered. */
    private enum Look {
        RUNS,
        SEEMS_TO_WAIT,
        WAITS;

        Look and(Look other) {
            return compareTo(other) < 0 ? this : other;
        }
    }

    QuietThreads(Executor pool) {
        this.pool = pool;
    }

    @Override
    public void execute(Runnable task) {
        pending.incrementAndGet();
        step();
        pool.execute(() -> {
            Thread thread = Thread.currentThread();
            busy.add(thread);
            try {
                task.run();
            } finally {
                busy.remove(thread);
                pending.decrementAndGet();
                step();
            }
        });
    }

    private void step() {
        steps.incrementAndGet();
        stepped.release();
    }

    /** Waits until a task has begun or ended, or a moment; whether one has. */
    boolean awaitStep() throws InterruptedException {
        boolean any = stepped.tryAcquire(LOOK_MICROS, TimeUnit.MICROSECONDS);
        stepped.drainPermits();
        return any;
    }

    /**
     * Whether everybody waits.
     *
     * @param looks how many looks, with a short time in between, must agree where it can only be guessed
     */
    boolean isQuiet(int looks) throws InterruptedException {
        long before = steps.get();
        Look all = Look.WAITS;
        for (int look = 0; look < SURE_LOOKS; look++) {
            all = all.and(look());
        }
        if (all == Look.SEEMS_TO_WAIT) {
            stepped.drainPermits();
            for (int look = 0; look < looks && all != Look.RUNS; look++) {
                all = awaitStep() ? Look.RUNS : all.and(look());
            }
        }
        return all != Look.RUNS && steps.get() == before;
    }

    private Look look() {
        Look all = Look.WAITS;
        int seen = 0;
        for (Thread thread : busy) {
            all = all.and(look(thread));
            seen++;
        }
        return seen == pending.get() ? all : Look.RUNS;
    }

    private static Look look(Thread thread) {
        Thread.State state = thread.getState();
        boolean waits = state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        if (!waits || thread.isInterrupted()) {
            return Look.RUNS;
        }
        @Nullable Object blocker = LockSupport.getBlocker(thread);
        if (blocker instanceof ForkJoinPool.ManagedBlocker waiter) {
            return waiter.isReleasable() ? Look.RUNS : Look.WAITS;
        }
        boolean isForLock =
                blocker != null && blocker.getClass().getName().startsWith("java.util.concurrent.locks.Reentrant");
        return isForLock ? Look.RUNS : Look.SEEMS_TO_WAIT;
    }
}
