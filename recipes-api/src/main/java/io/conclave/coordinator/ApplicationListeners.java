package io.conclave.coordinator;

import io.conclave.error.CredentialsRejectedException;
import io.conclave.node.NodeEvent;
import io.conclave.recipe.RecipeContext;
import io.conclave.recipe.Watchers;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.spi.SerialExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes calls to an application's listeners off the dispatcher: each listener is called serially, none waits for
 * another.
 *
 * <p>The stages of requests complete on one queue of their own, in the order of the requests.
 */
final class ApplicationListeners {
    private final RecipeContext context;
    private final SerialExecutor completions;
    private final List<Listener<SessionState>> stateListeners = new CopyOnWriteArrayList<>();
    /** Guarded by itself. */
    private final List<Listener<CredentialsRejectedException>> rejectionListeners = new ArrayList<>();

    private @Nullable CredentialsRejectedException lastRejection; // guarded by rejectionListeners
    private final Map<Watcher, SerialExecutor> watcherQueues = new WeakHashMap<>(); // guarded by itself

    private record Listener<T>(Consumer<T> listener, SerialExecutor queue) {
        void tell(T news) {
            queue.execute(() -> listener.accept(news));
        }
    }

    ApplicationListeners(RecipeContext context) {
        this.context = context;
        this.completions = queue("stages of requests");
    }

    /** Where stages given to the application complete. */
    Executor completions() {
        return completions;
    }

    Registration onStateChange(Consumer<SessionState> listener) {
        Objects.requireNonNull(listener, "listener");
        Listener<SessionState> entry = new Listener<>(listener, queue("state listener " + listener));
        stateListeners.add(entry);
        return () -> stateListeners.remove(entry);
    }

    void tell(SessionState state) {
        if (state == SessionState.CONNECTED) {
            synchronized (rejectionListeners) {
                lastRejection = null;
            }
        }
        stateListeners.forEach(entry -> entry.tell(state));
    }

    /** A listener that comes late is told of the last rejection, unless there was a connection since. */
    Registration onRejection(Consumer<CredentialsRejectedException> listener) {
        Objects.requireNonNull(listener, "listener");
        Listener<CredentialsRejectedException> entry =
                new Listener<>(listener, queue("rejection listener " + listener));
        synchronized (rejectionListeners) {
            rejectionListeners.add(entry);
            if (lastRejection != null) {
                entry.tell(lastRejection);
            }
        }
        return () -> {
            synchronized (rejectionListeners) {
                rejectionListeners.remove(entry);
            }
        };
    }

    void tellRejected(CredentialsRejectedException rejection) {
        synchronized (rejectionListeners) {
            lastRejection = rejection;
            rejectionListeners.forEach(entry -> entry.tell(rejection));
        }
    }

    /** The request with its watcher called on a listener thread. */
    <R> Request<R> offDispatcher(Request<R> request) {
        return Watchers.map(request, watcher -> new QueuedWatcher(watcher, queueOf(watcher)));
    }

    private SerialExecutor queueOf(Watcher watcher) {
        synchronized (watcherQueues) {
            return watcherQueues.computeIfAbsent(watcher, w -> queue("watcher"));
        }
    }

    private SerialExecutor queue(String name) {
        return new SerialExecutor(name, context.listenerExecutor(), context.time());
    }

    /** Equal for equal watchers, whatever their queue, so that a watch can be removed by the watcher that was set. */
    private record QueuedWatcher(Watcher watcher, SerialExecutor queue) implements Watcher {
        @Override
        public void onEvent(NodeEvent event) {
            queue.execute(() -> watcher.onEvent(event));
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof QueuedWatcher queued && queued.watcher.equals(watcher);
        }

        @Override
        public int hashCode() {
            return watcher.hashCode();
        }
    }
}
