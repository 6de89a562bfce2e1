package io.conclave.benchmarks;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.Keeping;
import io.conclave.locks.KeptLock;
import io.conclave.locks.LockGrant;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/**
 * Compares kept locks with Curator's mutex, both as clients of one Apache ZooKeeper, durable and in a JVM of its own,
 * in alternating rounds after a warm-up of both: one caller alone, and two sessions with fifty threads each. The
 * sessions of the second case are in one JVM; for the locks they are two processes.
 */
public final class KeptLockBenchmark {
    private static final int PROCESSES = 2;
    private static final int THREADS = 50;
    private static final int ROUNDS = 3;
    private static final Duration ROUND = Duration.ofSeconds(3);
    private static final Duration KEPT = Duration.ofSeconds(5);
    private static final Path DIRECTORY = Path.of("target", "benchmark");

    private final PrintStream out;
    private final TimeSource time = TimeSource.system();

    private KeptLockBenchmark(PrintStream out) {
        this.out = out;
    }

    /** Acquires and releases once. */
    private interface Turn {
        void take() throws Exception;
    }

    /** What a round came to; the longest wait for each process. */
    private record Measured(double turnsPerSecond, List<Double> longestMs) {}

    /** Called by the JVM. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && !arguments[0].isEmpty()) {
            System.err.println("Unknown option \"" + arguments[0] + "\"; there are none");
            System.exit(2);
        }
        new KeptLockBenchmark(System.out).run();
        System.exit(0);
    }

    private void run() throws IOException, InterruptedException, ExecutionException {
        Files.createDirectories(DIRECTORY);
        try (BenchmarkServer server =
                        BenchmarkServer.start(ServerKind.ZOOKEEPER, DIRECTORY, List.of("-Xms512m", "-Xmx512m"), time);
                Coordinator first = Coordinator.connect("zookeeper://" + server.hostAndPort());
                Coordinator second = Coordinator.connect("zookeeper://" + server.hostAndPort());
                CuratorFramework third = CuratorConnection.open(server.hostAndPort());
                CuratorFramework fourth = CuratorConnection.open(server.hostAndPort())) {
            out.println("| case | Conclave turns/s | longest wait ms | Curator turns/s | longest wait ms | ratio |");
            out.println("|---|---:|---:|---:|---:|---:|");
            compare(
                    "kept, uncontended",
                    1,
                    List.of(kept(first, "/benchmark/kept-1")),
                    List.of(curators(third, "/benchmark/curator-1")));
            compare(
                    PROCESSES + " processes with " + THREADS + " threads",
                    THREADS,
                    List.of(kept(first, "/benchmark/kept-2"), kept(second, "/benchmark/kept-2")),
                    List.of(curators(third, "/benchmark/curator-2"), curators(fourth, "/benchmark/curator-2")));
        }
    }

    private static Turn kept(Coordinator coordinator, String path) {
        KeptLock lock = DistributedLock.at(coordinator, path).kept(Keeping.idleFor(KEPT));
        return () -> {
            try (LockGrant grant = lock.acquire()) {
                grant.ensureHeld();
            }
        };
    }

    private static Turn curators(CuratorFramework framework, String path) {
        InterProcessMutex mutex = new InterProcessMutex(framework, path);
        return () -> {
            mutex.acquire();
            mutex.release();
        };
    }

    private void compare(String name, int threads, List<Turn> ours, List<Turn> theirs)
            throws InterruptedException, ExecutionException {
        List<Measured> our = new ArrayList<>();
        List<Measured> their = new ArrayList<>();
        for (int round = 0; round <= ROUNDS; round++) {
            Measured one = measure(threads, ours);
            Measured other = measure(threads, theirs);
            if (round > 0) { // the first one warms up
                our.add(one);
                their.add(other);
            }
        }
        out.println(String.format(
                Locale.ROOT,
                "| %s | %,.0f | %s | %,.0f | %s | %.1f |",
                name,
                median(our),
                longest(our),
                median(their),
                longest(their),
                median(our) / median(their)));
    }

    private static double median(List<Measured> rounds) {
        return rounds.stream()
                .mapToDouble(Measured::turnsPerSecond)
                .sorted()
                .skip(rounds.size() / 2)
                .findFirst()
                .orElseThrow();
    }

    private static String longest(List<Measured> rounds) {
        double[] longest = new double[rounds.get(0).longestMs.size()];
        rounds.forEach(round -> Arrays.setAll(longest, i -> Math.max(longest[i], round.longestMs.get(i))));
        return String.join(
                ", ",
                Arrays.stream(longest)
                        .mapToObj(ms -> String.format(Locale.ROOT, "%.1f", ms))
                        .toList());
    }

    /** So many threads of each process take turns for a time. */
    private Measured measure(int threads, List<Turn> processes) throws InterruptedException, ExecutionException {
        ExecutorService callers = Executors.newCachedThreadPool();
        long startNanos = time.monotonicNanos();
        long endNanos = startNanos + ROUND.toNanos();
        List<List<Future<long[]>>> running = new ArrayList<>();
        for (Turn turn : processes) {
            List<Future<long[]>> ofProcess = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                ofProcess.add(callers.submit(() -> turnsUntil(endNanos, turn)));
            }
            running.add(ofProcess);
        }
        long turns = 0;
        List<Double> longestMs = new ArrayList<>();
        for (List<Future<long[]>> ofProcess : running) {
            long longestNanos = 0;
            for (Future<long[]> caller : ofProcess) {
                turns += caller.get()[0];
                longestNanos = Math.max(longestNanos, caller.get()[1]);
            }
            longestMs.add(longestNanos / 1e6);
        }
        callers.shutdown();
        return new Measured(turns / ((time.monotonicNanos() - startNanos) / 1e9), longestMs);
    }

    /** The number of turns, and the longest one in nanoseconds, which is a wait but for a few microseconds. */
    private long[] turnsUntil(long endNanos, Turn turn) throws Exception {
        long turns = 0;
        long longestNanos = 0;
        for (long before = time.monotonicNanos(); before < endNanos; ) {
            turn.take();
            long now = time.monotonicNanos();
            longestNanos = Math.max(longestNanos, now - before);
            before = now;
            turns++;
        }
        return new long[] {turns, longestNanos};
    }
}
