package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * An election among clients each of which has a session of its own. The leader's session is closed again and again;
 * measured is the time from the call of close until the next leader is told that it leads. A new client takes the place
 * of the old one.
 */
final class ElectionLoad implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 30;

    private final Library library;
    private final String hostAndPort;
    private final String path;
    private final TimeSource time;
    private final Supplier<Duration> serverTime;
    private final BlockingQueue<Elected> elected = new LinkedBlockingQueue<>();
    private RecipeClient leader;
    private final List<RecipeClient> clients = new ArrayList<>();

    private record Elected(RecipeClient client, long atNanos) {}

    /** Opens the sessions and elects the first leader. Blocks. */
    ElectionLoad(Library library, String hostAndPort, int candidates, TimeSource time, Supplier<Duration> serverTime) {
        this.library = library;
        this.hostAndPort = hostAndPort;
        this.path = "/benchmark/election-" + library.label();
        this.time = time;
        this.serverTime = serverTime;
        for (int i = 0; i < candidates; i++) {
            join();
        }
        leader = next().client();
    }

    private void join() {
        RecipeClient client = library.connect(hostAndPort);
        clients.add(client);
        client.campaign(path, () -> elected.add(new Elected(client, time.monotonicNanos())));
    }

    /** So many leaders in succession. Blocks. */
    Measurement run(int successions) {
        LatencyHistogram latencies = new LatencyHistogram();
        Duration cpuBefore = serverTime.get();
        long totalNanos = 0;
        for (int i = 0; i < successions; i++) {
            long closedAtNanos = time.monotonicNanos();
            leader.close();
            Elected next = next();
            latencies.record(next.atNanos() - closedAtNanos);
            totalNanos += next.atNanos() - closedAtNanos;
            clients.remove(leader);
            leader = next.client();
            join();
        }
        double cpuMicros = serverTime.get().minus(cpuBefore).toNanos() / 1e3;
        return new Measurement(
                successions / (totalNanos / 1e9),
                latencies.percentileMs(0.5),
                latencies.percentileMs(0.99),
                cpuMicros / successions);
    }

    private Elected next() {
        try {
            Elected next = elected.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (next == null) {
                throw new BenchmarkException("no leader after " + PATIENCE_SECONDS + " s");
            }
            return next;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException("interrupted", e);
        }
    }

    @Override
    public void close() {
        clients.forEach(RecipeClient::close);
    }
}
