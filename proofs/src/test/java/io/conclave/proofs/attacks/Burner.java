package io.conclave.proofs.attacks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Takes as much of the processors as an attack does, by as many threads, and asks no server for anything. What other
 * clients wait for beside it, they wait for because attackers, servers and they share a machine.
 */
final class Burner implements AutoCloseable {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** For each thread: all of them together wake up as often as one by itself would. */
    private static final long PAUSE_MS = 1;

    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    /**
     * Begins.
     *
     * @param cores so many seconds of processor time in each second; what it does not get is taken later
     * @param count so many threads: the more there are, the more of them may be before others in the line for a
     *     processor
     */
    Burner(double cores, int count) {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> burn(cores / count, PAUSE_MS * count), "burner");
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
    }

    private void burn(double part, long pauseMs) {
        long sinceNanos = System.nanoTime();
        while (!stopped) {
            if (THREADS.getCurrentThreadCpuTime() >= (System.nanoTime() - sinceNanos) * part) {
                pause(pauseMs);
            }
        }
    }

    private static void pause(long ms) {
        try {
            TimeUnit.MILLISECONDS.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(5_000);
        }
    }
}
