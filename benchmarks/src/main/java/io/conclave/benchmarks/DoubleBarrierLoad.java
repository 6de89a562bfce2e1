package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * So many participants of one double barrier, each a session and a thread of its own: all enter and all leave, again
 * and again. The latency is that of one round: from the moment when all begin to enter until the last has left.
 *
 * <p>Between rounds the threads wait for each other in the JVM, because Curator's barrier cannot be entered while
 * somebody is still about to leave.
 */
final class DoubleBarrierLoad implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 60;

    private final TimeSource time;
    private final Supplier<Duration> serverTime;
    private final List<RecipeClient> clients = new ArrayList<>();
    private final List<RecipeClient.Crossing> crossings = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** Opens the sessions, for the library's barrier with this number. Blocks. */
    DoubleBarrierLoad(
            Library library,
            String hostAndPort,
            int number,
            int participants,
            TimeSource time,
            Supplier<Duration> serverTime) {
        this.time = time;
        this.serverTime = serverTime;
        for (int i = 0; i < participants; i++) {
            RecipeClient client = library.connect(hostAndPort);
            clients.add(client);
            crossings.add(
                    client.doubleBarrier("/benchmark/double-barrier-" + library.label() + "-" + number, participants));
        }
    }

    /** The rounds of one run; changed only while all threads wait for each other. */
    private static final class Rounds implements Runnable {
        final LatencyHistogram latencies = new LatencyHistogram();
        final TimeSource time;
        final long endNanos;
        long beganNanos = -1;
        boolean isOver;

        Rounds(TimeSource time, Duration duration) {
            this.time = time;
            this.endNanos = time.monotonicNanos() + duration.toNanos();
        }

        @Override
        public void run() {
            long nowNanos = time.monotonicNanos();
            if (beganNanos >= 0) {
                latencies.record(nowNanos - beganNanos);
                isOver = nowNanos >= endNanos;
            }
            beganNanos = nowNanos;
        }
    }

    /** Runs for a time, and until the last round is over; at least one. Blocks. */
    Measurement run(Duration duration) {
        Rounds rounds = new Rounds(time, duration);
        CyclicBarrier between = new CyclicBarrier(crossings.size(), rounds);
        Duration cpuBefore = serverTime.get();
        long startNanos = time.monotonicNanos();
        List<Future<Void>> participants = crossings.stream()
                .map(crossing -> threads.submit(participant(crossing, between, rounds)))
                .toList();
        participants.forEach(DoubleBarrierLoad::await);
        double seconds = (time.monotonicNanos() - startNanos) / 1e9;
        double cpuMicros = serverTime.get().minus(cpuBefore).toNanos() / 1e3;
        long count = rounds.latencies.total();
        return new Measurement(
                count / seconds,
                rounds.latencies.percentileMs(0.5),
                rounds.latencies.percentileMs(0.99),
                cpuMicros / Math.max(1, count));
    }

    private static Callable<Void> participant(RecipeClient.Crossing crossing, CyclicBarrier between, Rounds rounds) {
        return () -> {
            between.await(PATIENCE_SECONDS, TimeUnit.SECONDS); // and no longer, for one who failed does not come
            try {
                while (!rounds.isOver) {
                    crossing.enter();
                    crossing.leave();
                    between.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
                }
                return null;
            } catch (Exception e) {
                between.reset(); // the others need not wait
                throw e;
            }
        };
    }

    private static void await(Future<Void> participant) {
        try {
            participant.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException("interrupted", e);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof BrokenBarrierException)) {
                throw new BenchmarkException("a participant failed", e);
            }
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        clients.forEach(RecipeClient::close);
    }
}
