package io.conclave.coordinator;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The threads on which listeners and dispatchers run: the application's, or daemon threads that come and go with the work. */
final class ListenerThreads implements AutoCloseable {
    private final Executor executor;
    private final @Nullable ExecutorService owned;

    ListenerThreads(Optional<Executor> given) {
        if (given.isPresent()) {
            executor = given.get();
            owned = null;
        } else {
            AtomicInteger count = new AtomicInteger();
            ExecutorService pool = Executors.newCachedThreadPool(task -> {
                Thread thread = new Thread(task, "conclave-listener-" + count.incrementAndGet());
                thread.setDaemon(true);
                return thread;
            });
            executor = pool;
            owned = pool;
        }
    }

    Executor executor() {
        return executor;
    }

    /** Lets what is queued run and takes nothing more; an application's executor is left alone. */
    @Override
    public void close() {
        if (owned != null) {
            owned.shutdown();
        }
    }
}
