package io.conclave.coordinator;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads on which listeners and dispatchers run: the application's, or daemon threads that come and go with the work.
 *
 * <p>Own threads are never shut down, only let go when they are idle: the last callbacks of a coordinator that was closed still have to run.
 */
final class ListenerThreads implements AutoCloseable {
    private final Executor executor;
    private final @Nullable ThreadPoolExecutor owned;

    ListenerThreads(Optional<Executor> given) {
        if (given.isPresent()) {
            executor = given.get();
            owned = null;
        } else {
            AtomicInteger count = new AtomicInteger();
            owned = new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                        Thread thread = new Thread(task, "conclave-listener-" + count.incrementAndGet());
                        thread.setDaemon(true);
                        return thread;
                    });
            executor = owned;
        }
    }

    Executor executor() {
        return executor;
    }

    /** Lets idle threads go at once; an application's executor is left alone. */
    @Override
    public void close() {
        if (owned != null) {
            owned.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        }
    }
}
