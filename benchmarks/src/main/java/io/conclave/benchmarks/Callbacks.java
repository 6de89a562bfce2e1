package io.conclave.benchmarks;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * The threads on which answers arrive and the next requests are given.
 *
 * @param executor where the sessions' dispatchers run
 * @param onClose ends the threads
 */
record Callbacks(Executor executor, Runnable onClose) implements AutoCloseable {
    /**
     * So many threads; 0 for the connections' own, {@link BenchmarkOptions#AS_A_COORDINATOR} for as many as there is
     * work.
     */
    static Callbacks on(int threads) {
        if (threads == 0) {
            return new Callbacks(Runnable::run, () -> {});
        }
        ThreadFactory factory = task -> {
            Thread thread = new Thread(task, "benchmark-callbacks");
            thread.setDaemon(true);
            return thread;
        };
        ExecutorService pool = threads == BenchmarkOptions.AS_A_COORDINATOR
                ? Executors.newCachedThreadPool(factory)
                : Executors.newFixedThreadPool(threads, factory);
        return new Callbacks(pool, pool::shutdown);
    }

    @Override
    public void close() {
        onClose.run();
    }
}
