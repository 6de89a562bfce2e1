package io.conclave.ensemble;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Threads that are held up until they are let go. */
final class Standstill {
    private final CountDownLatch standing;
    private final CountDownLatch over = new CountDownLatch(1);

    private Standstill(List<Executor> threads) {
        standing = new CountDownLatch(threads.size());
        threads.forEach(thread -> thread.execute(this::stand));
    }

    /**
     * Holds threads up, each after its current task. Blocks until all stand still.
     *
     * @throws IllegalStateException if that takes too long; then none of them is held
     */
    static Standstill of(List<Executor> threads, Duration limit) {
        Standstill standstill = new Standstill(threads);
        boolean all = false;
        try {
            all = standstill.standing.await(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for threads to stand still", e);
        } finally {
            if (!all) {
                standstill.end();
            }
        }
        if (!all) {
            throw new IllegalStateException(standstill.standing.getCount() + " of " + threads.size()
                    + " threads have not finished what they were at within " + limit.toSeconds() + " s");
        }
        return standstill;
    }

    private void stand() {
        standing.countDown();
        boolean interrupted = false;
        while (true) {
            try {
                over.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lets the threads go on. */
    void end() {
        over.countDown();
    }
}
