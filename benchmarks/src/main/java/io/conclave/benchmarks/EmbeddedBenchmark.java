package io.conclave.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What a lock of an embedded server costs: from connect to the first grant in this cold JVM, and then an acquire and a
 * release by one thread. Context switches and processor time say something on a busy machine, too.
 */
final class EmbeddedBenchmark {
    private static final Path TASKS = Path.of("/proc/self/task");
    private static final int ROUNDS = 7;

    private EmbeddedBenchmark() {}

    /** What one round used, for each acquire and release. */
    private record Used(double micros, double cpuMicros, double switches) {}

    /** @param args the connect string, and how many locks one round takes */
    public static void main(String[] args) throws InterruptedException {
        String connectString = args.length > 0 ? args[0] : "embedded:";
        int locks = args.length > 1 ? Integer.parseInt(args[1]) : 20_000;
        long began = System.nanoTime();
        try (Coordinator coordinator = Coordinator.connect(connectString)) {
            long connected = System.nanoTime();
            DistributedLock lock = DistributedLock.at(coordinator, NodePath.of("/locks/embedded"));
            lock.acquire().close();
            long granted = System.nanoTime();
            System.out.printf(
                    Locale.ROOT,
                    "%s: connect %.0f ms, first lock %.0f ms, cpu of the process %d ms%n",
                    connectString,
                    (connected - began) / 1e6,
                    (granted - connected) / 1e6,
                    cpuNanos() / 1_000_000);
            List<Used> rounds = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                Used used = round(lock, locks);
                System.out.printf(
                        Locale.ROOT,
                        "round %d: %.1f us, cpu %.1f us, %.1f switches%n",
                        round,
                        used.micros,
                        used.cpuMicros,
                        used.switches);
                rounds.add(used);
            }
            List<Used> warm = rounds.subList(ROUNDS / 2, ROUNDS);
            System.out.printf(
                    Locale.ROOT,
                    "warm, medians: %.1f us, cpu %.1f us, %.1f switches%n",
                    median(warm.stream().map(Used::micros)),
                    median(warm.stream().map(Used::cpuMicros)),
                    median(warm.stream().map(Used::switches)));
        }
    }

    private static Used round(DistributedLock lock, int locks) throws InterruptedException {
        long switches = switches();
        long cpu = cpuNanos();
        long began = System.nanoTime();
        for (int i = 0; i < locks; i++) {
            try (LockGrant grant = lock.acquire()) {
                grant.isHeld();
            }
        }
        double nanos = System.nanoTime() - began;
        return new Used(
                nanos / locks / 1000, (cpuNanos() - cpu) / 1000.0 / locks, (switches() - switches) / (double) locks);
    }

    private static double median(Stream<Double> values) {
        List<Double> sorted = new ArrayList<>(values.toList());
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }

    private static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** Of all threads of this process that live, as Linux counts them. */
    private static long switches() {
        try (Stream<Path> tasks = Files.list(TASKS)) {
            return tasks.mapToLong(EmbeddedBenchmark::switchesOf).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long switchesOf(Path task) {
        try (Stream<String> lines = Files.lines(task.resolve("status"))) {
            return lines.filter(line -> line.contains("ctxt_switches"))
                    .mapToLong(line ->
                            Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
                    .sum();
        } catch (IOException | UncheckedIOException e) {
            return 0; // it has just ended
        }
    }
}
