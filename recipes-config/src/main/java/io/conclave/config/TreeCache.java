package io.conclave.config;

import io.conclave.cache.MirrorChanges;
import io.conclave.error.WaitTimeoutException;
import io.conclave.mirror.Mirror;
import io.conclave.session.Registration;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** What the caches have in common; see {@link NodeCache}, {@link ChildrenCache} and {@link SubtreeCache}. */
public abstract sealed class TreeCache implements AutoCloseable permits NodeCache, ChildrenCache, SubtreeCache {
    private final Mirror mirror;

    TreeCache(Mirror mirror) {
        this.mirror = mirror;
    }

    Mirror mirror() {
        return mirror;
    }

    /** The number of the present state, from 1; 0 while nothing is loaded yet. Never blocks. */
    public final long number() {
        return mirror.number();
    }

    /**
     * Whether the cache follows the tree now; not so while it loads, and from the loss of a connection until all has
     * been read again. Never blocks.
     */
    public final boolean isCurrent() {
        return mirror.isCurrent();
    }

    /**
     * Completes on a listener thread when the first state is complete; fails with
     * {@link io.conclave.error.ClosedException} if the cache or the coordinator is closed before that.
     */
    public final CompletableFuture<Void> loaded() {
        return mirror.loaded();
    }

    /**
     * Waits for the first state. Blocks.
     *
     * @throws WaitTimeoutException if it is not complete in time; the cache goes on loading
     * @throws InterruptedException if the thread is interrupted; likewise
     */
    public final void awaitLoaded(Duration timeout) throws InterruptedException {
        mirror.awaitLoaded(timeout);
    }

    /**
     * Tells a listener of the present state, as soon as there is one, with everything as added; then of the differences
     * to every later one. The latest state always comes, those that follow each other more quickly than the listener
     * returns come together. It is called serially on a listener thread and may block; what it throws is logged.
     */
    public final Registration onChange(Consumer<? super MirrorChanges> listener) {
        return mirror.listen(listener);
    }

    /** Ends the cache; what it saw last can still be asked for. Idempotent, never blocks. */
    @Override
    public final void close() {
        mirror.close();
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName() + "[" + mirror + "]";
    }
}
