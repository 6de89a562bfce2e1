package io.conclave.benchmarks;

import io.conclave.benchmarks.Workload.SessionNodes;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.session.SessionState;
import io.conclave.session.TlsOptions;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.BackendSession;
import io.conclave.spi.ConnectString;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Asks one server, through the backend that a connect string names: sessions that stay open for the whole run, and
 * rounds in which each of them keeps a number of requests under way (a closed loop: a completed request is followed by
 * the next at once).
 */
final class Load implements AutoCloseable {
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(20);
    private static final int WAIT_SECONDS = 30;
    private static final int NODES_OF_A_SESSION = 20;
    private static final int MAX_QUEUED_REQUESTS = 100_000;

    private final String name;
    private final NodePath root;
    private final Supplier<Duration> processorTime;
    private final Backend backend;
    private final TimeSource time;
    private final List<SessionLoad> sessions = new ArrayList<>();

    /**
     * Opens the sessions and creates their znodes. Blocks.
     *
     * @param root where its znodes are
     * @param processorTime what the server has used so far
     * @param callbacks where answers are taken and the next requests given
     */
    Load(
            String connectString,
            Optional<TlsOptions> tls,
            NodePath root,
            Supplier<Duration> processorTime,
            int sessionCount,
            Executor callbacks,
            TimeSource time) {
        this.name = connectString;
        this.root = root;
        this.processorTime = processorTime;
        this.time = time;
        ConnectString parsed = ConnectString.parse(connectString);
        backend = provider(parsed.scheme())
                .open(
                        parsed,
                        new BackendOptions(
                                SESSION_TIMEOUT,
                                time,
                                callbacks,
                                List.of(),
                                Acl.OPEN,
                                MAX_QUEUED_REQUESTS,
                                MetricsHook.NONE,
                                true,
                                tls));
        try {
            openSessions(sessionCount);
        } catch (RuntimeException e) {
            backend.close();
            throw e;
        }
    }

    private static BackendProvider provider(String scheme) {
        return ServiceLoader.load(BackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> provider.schemes().contains(scheme))
                .findFirst()
                .orElseThrow(() -> new BenchmarkException("no backend for " + scheme));
    }

    private void openSessions(int count) {
        CountDownLatch connected = new CountDownLatch(count);
        List<BackendSession> opened = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            opened.add(backend.openSession(state -> {
                if (state == SessionState.CONNECTED) {
                    connected.countDown();
                }
            }));
        }
        awaitOrFail(connected, count + " sessions to connect");
        awaitCreated(List.of(create(opened.get(0), root)));
        List<CompletableFuture<?>> created = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            BackendSession session = opened.get(i);
            SessionNodes nodes = new SessionNodes(root.child("s" + i), NODES_OF_A_SESSION);
            created.add(create(session, nodes.base()));
            for (NodePath path : nodes.all()) {
                created.add(create(session, path));
            }
            sessions.add(new SessionLoad(session, nodes, time));
        }
        awaitCreated(created);
    }

    private static CompletableFuture<?> create(BackendSession session, NodePath path) {
        return session.submit(Create.of(path).withData(Workload.DATA))
                .exceptionally(Load::ignoreNodeExists)
                .toCompletableFuture();
    }

    private void awaitCreated(List<CompletableFuture<?>> created) {
        try {
            CompletableFuture.allOf(created.toArray(CompletableFuture<?>[]::new))
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException(name + ": interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new BenchmarkException(name + ": cannot create the znodes to work on", e);
        }
    }

    @SuppressWarnings("NullAway") // nobody looks at the answer of a create that found its znode there
    private static Create.Created ignoreNodeExists(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof RefusedException refused && refused.reason() == RefusalReason.NODE_EXISTS) {
            return null;
        }
        throw new CompletionException(cause);
    }

    /**
     * Runs one round and reports it. Blocks for its duration (or until the first answer if that takes longer) and until
     * all of its requests are answered.
     */
    Measurement run(Shape shape, Workload workload, Duration duration) {
        List<SessionLoad> used = sessions.subList(0, shape.sessions());
        CountDownLatch answered = new CountDownLatch(shape.sessions() * shape.outstanding());
        CountDownLatch measured = new CountDownLatch(1);
        CountDownLatch failed = new CountDownLatch(1);
        Duration processorBefore = processorTime.get();
        long startNanos = time.monotonicNanos();
        for (SessionLoad session : used) {
            session.begin(workload, shape.outstanding(), answered, measured, failed);
        }
        boolean anyFailed = awaitFailure(failed, duration);
        awaitOrFail(measured, "the first answer of " + shape + " " + workload);
        used.forEach(SessionLoad::stop);
        Duration processor = processorTime.get().minus(processorBefore);
        long elapsedNanos = time.monotonicNanos() - startNanos;
        awaitOrFail(answered, "the last answers of " + shape + " " + workload);
        LatencyHistogram latencies = new LatencyHistogram();
        for (SessionLoad session : used) {
            session.failure().ifPresent(failure -> {
                throw new BenchmarkException(name + ": a request of " + shape + " " + workload + " failed", failure);
            });
            latencies.add(session.latencies());
        }
        if (anyFailed) {
            throw new BenchmarkException(name + ": a request failed");
        }
        return new Measurement(
                latencies.total() * 1e9 / elapsedNanos,
                latencies.percentileMs(0.5),
                latencies.percentileMs(0.99),
                processor.toNanos() / 1e3 / latencies.total());
    }

    private boolean awaitFailure(CountDownLatch failed, Duration duration) {
        try {
            return failed.await(duration.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException(name + ": interrupted", e);
        }
    }

    private void awaitOrFail(CountDownLatch latch, String what) {
        try {
            if (!latch.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
                throw new BenchmarkException(name + ": waited " + WAIT_SECONDS + " s in vain for " + what);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException(name + ": interrupted", e);
        }
    }

    /** Closes the sessions. Blocks for a few seconds at most. */
    @Override
    public void close() {
        backend.close();
    }
}
