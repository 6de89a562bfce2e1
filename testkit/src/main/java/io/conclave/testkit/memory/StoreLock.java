package io.conclave.testkit.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one lock of a store. What it guards hands tasks to executors in order while it is held, but they are started only
 * after it has been released, so an executor that runs tasks on the calling thread is as good as any other and no
 * foreign code runs under the lock.
 */
final class StoreLock {
    private static final Logger LOG = LoggerFactory.getLogger(StoreLock.class);

    private final ReentrantLock lock = new ReentrantLock();
    /** {@code @GuardedBy("lock")}. */
    private List<Runnable> afterUnlock = new ArrayList<>();

    void run(Runnable action) {
        call(() -> {
            action.run();
            return Boolean.TRUE;
        });
    }

    <T> T call(Supplier<T> action) {
        List<Runnable> deferred = List.of();
        lock.lock();
        try {
            return action.get();
        } finally {
            if (lock.getHoldCount() == 1) {
                deferred = afterUnlock;
                afterUnlock = new ArrayList<>();
            }
            lock.unlock();
            deferred.forEach(Runnable::run);
        }
    }

    /** An executor that hands tasks to the given one, but never while the calling thread holds the lock. */
    Executor outside(Executor threads) {
        return task -> {
            if (lock.isHeldByCurrentThread()) {
                afterUnlock.add(() -> hand(threads, task));
            } else {
                hand(threads, task);
            }
        };
    }

    private static void hand(Executor threads, Runnable task) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            // Dropping it would stop a session's dispatcher for good, which no backend may do.
            LOG.debug("The callback executor is shut down; {} gets a thread of its own", task, e);
            Thread thread = new Thread(task, "memory-store-callbacks");
            thread.setDaemon(true);
            thread.start();
        }
    }
}
