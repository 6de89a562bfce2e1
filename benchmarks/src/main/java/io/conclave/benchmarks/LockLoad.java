package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * So many contenders for one lock, each a session and a thread of its own: a holder that releases it stands in line
 * again at once. Alone, the latency is that of acquire and release; with others it is the hand-over, from the call of
 * release to the next one's return from acquire.
 */
final class LockLoad implements AutoCloseable {
    private final TimeSource time;
    private final Supplier<Duration> serverTime;
    private final List<RecipeClient.Mutex> mutexes;
    private final Runnable onClose;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final LatencyHistogram latencies = new LatencyHistogram(); // touched by the holder alone
    private volatile long releasedAtNanos;

    /**
     * A load of these contenders.
     *
     * @param onClose closes their sessions
     */
    LockLoad(List<RecipeClient.Mutex> mutexes, Runnable onClose, TimeSource time, Supplier<Duration> serverTime) {
        this.mutexes = List.copyOf(mutexes);
        this.onClose = onClose;
        this.time = time;
        this.serverTime = serverTime;
    }

    /** Opens the sessions. Blocks. */
    static LockLoad of(
            Library library, String hostAndPort, LockCase lockCase, TimeSource time, Supplier<Duration> serverTime) {
        List<RecipeClient> clients = new ArrayList<>();
        List<RecipeClient.Mutex> mutexes = new ArrayList<>();
        for (int i = 0; i < lockCase.contenders(); i++) {
            RecipeClient client = library.connect(hostAndPort);
            clients.add(client);
            mutexes.add(lockCase.open(client, "/benchmark/" + library.label()));
        }
        return new LockLoad(mutexes, () -> clients.forEach(RecipeClient::close), time, serverTime);
    }

    /** Runs for a time, and until every contender has had its last turn. Blocks. */
    Measurement run(Duration duration) {
        latencies.clear();
        long startNanos = time.monotonicNanos();
        Duration cpuBefore = serverTime.get();
        releasedAtNanos = startNanos;
        long endNanos = startNanos + duration.toNanos();
        List<Future<Void>> contenders = new ArrayList<>();
        for (RecipeClient.Mutex mutex : mutexes) {
            contenders.add(threads.submit(contender(mutex, endNanos)));
        }
        contenders.forEach(LockLoad::await);
        double seconds = (time.monotonicNanos() - startNanos) / 1e9;
        double cpuMicros = serverTime.get().minus(cpuBefore).toNanos() / 1e3;
        long turns = latencies.total();
        return new Measurement(
                turns / seconds,
                latencies.percentileMs(0.5),
                latencies.percentileMs(0.99),
                cpuMicros / Math.max(1, turns));
    }

    private Callable<Void> contender(RecipeClient.Mutex mutex, long endNanos) {
        boolean alone = mutexes.size() == 1;
        return () -> {
            long nowNanos;
            do {
                long beforeNanos = time.monotonicNanos();
                RecipeClient.Held held = mutex.acquire();
                nowNanos = time.monotonicNanos();
                if (!alone) {
                    latencies.record(nowNanos - releasedAtNanos);
                    releasedAtNanos = time.monotonicNanos();
                }
                held.release();
                if (alone) {
                    latencies.record(time.monotonicNanos() - beforeNanos);
                }
            } while (nowNanos < endNanos);
            return null;
        };
    }

    private static void await(Future<Void> contender) {
        try {
            contender.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException("interrupted", e);
        } catch (ExecutionException e) {
            throw new BenchmarkException("a contender failed", e);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        onClose.run();
    }
}
