package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * How soon a change of a znode has reached many sessions that watch it: one server of each kind and a bare loop over
 * sockets, in alternating rounds, after a round of each that is not counted.
 */
final class WatchersBenchmark {
    private static final int CHANGES = 50; // in a round
    private static final int SESSION_TIMEOUT_MS = 30_000;
    private static final String PATH = "/watched";
    private static final Path DIRECTORY = Path.of("target", "benchmark");

    private WatchersBenchmark() {}

    /** @param args how many watch the znode, and how many rounds there are */
    public static void main(String[] args) throws Exception {
        int watchers = args.length > 0 && !args[0].isEmpty() ? Integer.parseInt(args[0]) : 1000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
        Files.createDirectories(DIRECTORY);
        System.out.println("| server | watchers | round | p50 ms | p99 ms | last of a change, ms | processor ms |");
        System.out.println("|---|---:|---:|---:|---:|---:|---:|");
        List<String> jvm = List.of("-Xms512m", "-Xmx512m");
        try (BenchmarkServer ours = BenchmarkServer.start(ServerKind.CONCLAVE, DIRECTORY, jvm, TimeSource.system());
                BenchmarkServer theirs =
                        BenchmarkServer.start(ServerKind.ZOOKEEPER, DIRECTORY, jvm, TimeSource.system())) {
            for (BenchmarkServer server : List.of(ours, theirs)) {
                server.awaitOrFail(() -> isCreated(server), "create a znode", TimeSource.system());
            }
            for (int round = 0; round <= rounds; round++) {
                round(ours, watchers, round);
                round(theirs, watchers, round);
                floor(watchers, round);
            }
        }
    }

    /** A server that starts may take a connection and close it. */
    private static boolean isCreated(BenchmarkServer server) {
        try (RawSession session = new RawSession(server.port(), SESSION_TIMEOUT_MS)) {
            session.create(PATH);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void round(BenchmarkServer server, int count, int round) throws IOException {
        LatencyHistogram all = new LatencyHistogram();
        LatencyHistogram last = new LatencyHistogram();
        long processor = 0;
        try (RawSession writer = new RawSession(server.port(), SESSION_TIMEOUT_MS);
                Watchers watchers = new Watchers(server.port(), count, PATH)) {
            for (int change = 0; change < CHANGES; change++) {
                watchers.watch();
                long processorBefore = server.processorTime().toMillis();
                long began = System.nanoTime();
                writer.sendSet(PATH, new byte[10]);
                watchers.awaitChange(began, all);
                last.record(System.nanoTime() - began);
                writer.read();
                processor += server.processorTime().toMillis() - processorBefore;
            }
        }
        print(round, server.kind().title(), count, all, last, processor);
    }

    /** The same bytes to as many sockets, and nothing else. */
    private static void floor(int count, int round) throws IOException {
        LatencyHistogram all = new LatencyHistogram();
        LatencyHistogram last = new LatencyHistogram();
        try (BareNotifier notifier = new BareNotifier();
                Watchers watchers = new Watchers(notifier.port(), count, PATH)) {
            for (int change = 0; change < CHANGES; change++) {
                watchers.watch();
                long began = System.nanoTime();
                notifier.tellAll();
                watchers.awaitChange(began, all);
                last.record(System.nanoTime() - began);
            }
        }
        print(round, "bare loop", count, all, last, 0);
    }

    private static void print(
            int round, String title, int count, LatencyHistogram all, LatencyHistogram last, long processorMs) {
        if (round > 0) {
            System.out.printf(
                    Locale.ROOT,
                    "| %s | %d | %d | %.2f | %.2f | %.2f | %.1f |%n",
                    title,
                    count,
                    round,
                    all.percentileMs(0.5),
                    all.percentileMs(0.99),
                    last.percentileMs(0.5),
                    processorMs / (double) CHANGES);
        }
    }
}
