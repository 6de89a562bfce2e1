package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Latencies of writers at the leader of three servers that hold many znodes and take snapshots meanwhile, every 100,000
 * changes as configured for both kinds; in alternating rounds, after a round of both that is not counted.
 */
final class SnapshotBenchmark {
    private static final int SERVERS = 3;
    private static final int WRITERS = 50;
    private static final int SESSION_TIMEOUT_MS = 30_000;
    private static final Path DIRECTORY = Path.of("target", "benchmark");
    private static final byte[] DATA = new byte[100];

    private SnapshotBenchmark() {}

    /** @param args how many znodes there are, how many rounds, and how many seconds a round lasts */
    public static void main(String[] args) throws Exception {
        int znodes = args.length > 0 && !args[0].isEmpty() ? Integer.parseInt(args[0]) : 200_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        Duration length = Duration.ofSeconds(args.length > 2 ? Integer.parseInt(args[2]) : 15);
        Files.createDirectories(DIRECTORY);
        System.out.println("| servers | round | sets/s | p50 ms | p99 ms | p99.9 ms | longest ms |");
        System.out.println("|---|---:|---:|---:|---:|---:|---:|");
        BenchmarkOptions options =
                BenchmarkOptions.parse(List.of("--servers=" + SERVERS, "--server-jvm=-Xms512m -Xmx512m"));
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try (BenchmarkCluster ours = BenchmarkCluster.start(ServerKind.CONCLAVE, options, TimeSource.system());
                BenchmarkCluster theirs = BenchmarkCluster.start(ServerKind.ZOOKEEPER, options, TimeSource.system())) {
            for (BenchmarkCluster cluster : List.of(ours, theirs)) {
                try (RawSession session =
                        new RawSession(cluster.at(Place.LEADER).port(), SESSION_TIMEOUT_MS)) {
                    session.fill(znodes, DATA);
                }
            }
            for (int round = 0; round <= rounds; round++) {
                round(ours, threads, length, round);
                round(theirs, threads, length, round);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void round(BenchmarkCluster cluster, ExecutorService threads, Duration length, int round)
            throws Exception {
        int port = cluster.at(Place.LEADER).port();
        List<Callable<LatencyHistogram>> writers = new ArrayList<>();
        for (int writer = 0; writer < WRITERS; writer++) {
            String path = "/parent0/child" + writer;
            writers.add(() -> write(port, path, length));
        }
        LatencyHistogram all = new LatencyHistogram();
        for (Future<LatencyHistogram> writer : threads.invokeAll(writers)) {
            all.add(writer.get());
        }
        if (round > 0) {
            System.out.printf(
                    Locale.ROOT,
                    "| %s | %d | %.0f | %.2f | %.2f | %.2f | %.2f |%n",
                    cluster.kind().title(),
                    round,
                    all.total() / (double) length.toSeconds(),
                    all.percentileMs(0.5),
                    all.percentileMs(0.99),
                    all.percentileMs(0.999),
                    all.percentileMs(1));
        }
    }

    private static LatencyHistogram write(int port, String path, Duration length) throws IOException {
        LatencyHistogram latencies = new LatencyHistogram();
        try (RawSession session = new RawSession(port, SESSION_TIMEOUT_MS)) {
            long end = System.nanoTime() + length.toNanos();
            for (long began = System.nanoTime(); began < end; began = System.nanoTime()) {
                session.set(path, DATA);
                latencies.record(System.nanoTime() - began);
            }
        }
        return latencies;
    }
}
