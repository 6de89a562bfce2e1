package io.conclave.coordinator;

import io.conclave.time.TimeSource;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads on which listeners and dispatchers run: the application's, or daemon threads that come and go with the
 * work.
 *
 * <p>Of the own ones, dispatchers have theirs, one for each session with work, so that no listener holds them up.
 * Listeners have virtual threads where the JVM does not pin them ({@link VirtualThreads}), else {@link GrowingThreads}.
 *
 * <p>Own threads are never shut down, only let go when they are idle: the last callbacks of a coordinator that was
 * closed still have to run.
 */
final class ListenerThreads implements AutoCloseable {
    /** How many platform threads the listeners of a coordinator have as long as none waits for long. */
    static final int BOUND = 32;

    private final Executor listeners;
    private final Executor dispatchers;
    private final @Nullable ThreadPoolExecutor owned;

    ListenerThreads(Optional<Executor> given) {
        if (given.isPresent()) {
            listeners = given.get();
            dispatchers = listeners;
            owned = null;
        } else {
            AtomicInteger count = new AtomicInteger();
            owned = new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                        Thread thread = new Thread(task, "conclave-listener-" + count.incrementAndGet());
                        thread.setDaemon(true);
                        return thread;
                    });
            dispatchers = owned;
            listeners = VirtualThreads.named("conclave-listener-")
                    .orElseGet(() -> new GrowingThreads(owned, BOUND, TimeSource.system()));
        }
    }

    /** Where listeners run, which may block. */
    Executor listeners() {
        return listeners;
    }

    /** Where dispatchers run, which do not block. */
    Executor dispatchers() {
        return dispatchers;
    }

    /** Lets idle threads go at once; an application's executor is left alone. */
    @Override
    public void close() {
        if (owned != null) {
            owned.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        }
    }
}
