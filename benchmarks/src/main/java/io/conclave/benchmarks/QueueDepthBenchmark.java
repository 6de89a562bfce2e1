package io.conclave.benchmarks;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.queues.DistributedPriorityQueue;
import io.conclave.queues.DistributedQueue;
import io.conclave.queues.ItemQueue;
import io.conclave.time.TimeSource;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/**
 * At which depth a queue in a coordination store stops being a good one: fills queues to growing depths, and measures
 * puts and takes there, with this project's stand-alone server in a JVM of its own.
 */
public final class QueueDepthBenchmark {
    private static final int FILL_AT_ONCE = 1000;
    private static final int PRIORITY = 10;
    private static final int AT_ONCE = 16; // callers of one consumer

    private final List<Integer> depths;
    private final Duration round;
    private final Path directory;
    private final TimeSource time = TimeSource.system();
    private final PrintStream out;

    QueueDepthBenchmark(List<Integer> depths, Duration round, Path directory, PrintStream out) {
        this.depths = depths;
        this.round = round;
        this.directory = directory;
        this.out = out;
    }

    /**
     * Called by the JVM.
     *
     * @param arguments {@code --depths=100,1000,...} {@code --round-ms=N} {@code --directory=PATH}
     */
    public static void main(String[] arguments) throws Exception {
        List<Integer> depths = List.of(100, 1000, 5000, 10_000, 20_000, 50_000);
        Duration round = Duration.ofSeconds(3);
        Path directory = Path.of("target", "benchmark");
        for (String argument : arguments) {
            String value = argument.substring(argument.indexOf('=') + 1);
            if (argument.startsWith("--depths=")) {
                depths = Arrays.stream(value.split(",", -1))
                        .map(Integer::parseInt)
                        .toList();
            } else if (argument.startsWith("--round-ms=")) {
                round = Duration.ofMillis(Long.parseLong(value));
            } else if (argument.startsWith("--directory=")) {
                directory = Path.of(value);
            } else if (!argument.isEmpty()) {
                System.err.println("Unknown option \"" + argument
                        + "\"; there are --depths=100,1000,... --round-ms=N --directory=PATH");
                System.exit(2);
            }
        }
        new QueueDepthBenchmark(depths, round, directory, System.out).run();
        System.exit(0);
    }

    /** A put and a take, or one of them, again and again. */
    private interface Step {
        void run() throws Exception;
    }

    /** Runs everything and prints a table in Markdown. Blocks. */
    void run() throws Exception {
        Files.createDirectories(directory);
        out.println("| depth | list KB | put/s | put + take in line/s | put + tryTake/s | priority: put + take/s"
                + " | priority, 16 at once/s |");
        out.println("|---:|---:|---:|---:|---:|---:|---:|");
        try (BenchmarkServer server =
                BenchmarkServer.start(ServerKind.CONCLAVE, directory, List.of("-Xms1g", "-Xmx1g"), time)) {
            for (int depth : depths) {
                at(depth, "conclave://" + server.hostAndPort());
            }
        }
    }

    private void at(int depth, String connectString) throws Exception {
        try (Coordinator producer = Coordinator.connect(connectString);
                Coordinator consumer = Coordinator.connect(connectString)) {
            byte[] item = new byte[100];
            String path = "/depth-" + depth;
            DistributedQueue<byte[]> in = DistributedQueue.at(producer, path, DataCodec.BYTES);
            fill(depth, () -> in.putAsync(item));
            DistributedQueue<byte[]> fifo = DistributedQueue.at(consumer, path, DataCodec.BYTES);
            double puts = perSecond(() -> in.put(item));
            drainTo(depth, fifo);
            double inLine = perSecond(() -> {
                in.put(item);
                fifo.take();
            });
            double tried = perSecond(() -> {
                in.put(item);
                fifo.tryTake();
            });
            drainTo(0, fifo);
            DistributedPriorityQueue<byte[]> byPriority =
                    DistributedPriorityQueue.at(producer, path + "-by-priority", DataCodec.BYTES);
            fill(depth, () -> byPriority.putAsync(item, PRIORITY));
            DistributedPriorityQueue<byte[]> urgent =
                    DistributedPriorityQueue.at(consumer, path + "-by-priority", DataCodec.BYTES);
            double prioritized = perSecond(() -> {
                byPriority.put(item, PRIORITY);
                urgent.take();
            });
            double atOnce = AT_ONCE
                    * perSecond(() -> {
                        List<CompletableFuture<?>> all = new ArrayList<>();
                        for (int i = 0; i < AT_ONCE; i++) {
                            all.add(byPriority.putAsync(item, PRIORITY));
                            all.add(urgent.takeAsync());
                        }
                        CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new))
                                .join();
                    });
            drainTo(0, urgent);
            out.println(String.format(
                    Locale.ROOT,
                    "| %,d | %,d | %,.0f | %,.0f | %,.0f | %,.0f | %,.0f |",
                    depth,
                    depth * 60L / 1000,
                    puts,
                    inLine,
                    tried,
                    prioritized,
                    atOnce));
        }
    }

    /** What gathers goes along in one request. */
    private static void fill(int items, java.util.function.Supplier<CompletableFuture<Void>> put) {
        List<CompletableFuture<Void>> puts = new ArrayList<>();
        for (int i = 0; i < items; i++) {
            puts.add(put.get());
            if (puts.size() == FILL_AT_ONCE || i == items - 1) {
                CompletableFuture.allOf(puts.toArray(CompletableFuture<?>[]::new))
                        .join();
                puts.clear();
            }
        }
    }

    private static void drainTo(int items, ItemQueue<byte[]> queue) throws InterruptedException {
        int surplus = queue.count().waiting() - items;
        List<CompletableFuture<byte[]>> takes = new ArrayList<>();
        for (int i = 0; i < surplus; i++) {
            takes.add(queue.takeAsync());
            if (takes.size() == FILL_AT_ONCE || i == surplus - 1) {
                CompletableFuture.allOf(takes.toArray(CompletableFuture<?>[]::new))
                        .join();
                takes.clear();
            }
        }
    }

    private double perSecond(Step step) throws Exception {
        long startNanos = time.monotonicNanos();
        long steps = 0;
        while (time.monotonicNanos() - startNanos < round.toNanos()) {
            step.run();
            steps++;
        }
        return steps * 1e9 / (time.monotonicNanos() - startNanos);
    }
}
