package io.conclave.client;

import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodeEvent;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.ConnectString;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A session as tests use it: blocking calls, and a list of all that was delivered. */
final class TestSession implements AutoCloseable {
    static final ExecutorService CALLBACKS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "callbacks");
        thread.setDaemon(true);
        return thread;
    });

    final Backend backend;
    final BackendSession session;
    final List<SessionState> states = new CopyOnWriteArrayList<>();
    /** States, events and whatever a test adds, in the order of delivery. */
    final List<Object> delivered = new CopyOnWriteArrayList<>();

    TestSession(String url, BackendOptions options) {
        backend = new WireBackendProvider().open(ConnectString.parse(url), options);
        session = backend.openSession(state -> {
            states.add(state);
            delivered.add(state);
        });
    }

    static TestSession connect(String url) {
        TestSession session = new TestSession(url, options());
        session.awaitState(SessionState.CONNECTED);
        return session;
    }

    static BackendOptions options() {
        return options(Duration.ofSeconds(30), TimeSource.system(), 1000);
    }

    static BackendOptions options(Duration timeout, TimeSource time, int maxQueued, Authentication... proofs) {
        return new BackendOptions(
                timeout,
                time,
                CALLBACKS,
                List.of(proofs),
                Acl.OPEN,
                maxQueued,
                MetricsHook.NONE,
                true,
                Optional.empty());
    }

    <R> CompletableFuture<R> submit(Request<R> request) {
        return session.submit(request).toCompletableFuture();
    }

    /** Waits for the answer; throws what the request failed with. */
    <R> R call(Request<R> request) {
        return join(submit(request));
    }

    static <R> R join(CompletableFuture<R> future) {
        try {
            return future.get(120, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** A watcher that adds its events to those delivered. */
    Watcher watcher() {
        return event -> delivered.add(event);
    }

    List<NodeEvent> events() {
        return delivered.stream()
                .filter(NodeEvent.class::isInstance)
                .map(NodeEvent.class::cast)
                .toList();
    }

    void awaitState(SessionState state) {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(2))
                .until(() -> !states.isEmpty() && states.get(states.size() - 1) == state);
    }

    @Override
    public void close() {
        backend.close();
    }
}
