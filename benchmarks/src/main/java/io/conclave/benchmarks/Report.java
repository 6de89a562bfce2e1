package io.conclave.benchmarks;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints rounds as they come, and at the end a table of medians and ratios in Markdown. */
final class Report {
    /** What is measured together. */
    record Case(Place place, Shape shape, Workload workload) {}

    private final PrintStream out;
    private final ServerKind first;
    private final ServerKind second;
    private final Map<Case, Map<ServerKind, List<Measurement>>> rounds = new LinkedHashMap<>();

    /** @param kinds those that are compared, the first with the second; or one */
    Report(PrintStream out, List<ServerKind> kinds) {
        this.out = out;
        this.first = kinds.get(0);
        this.second = kinds.size() > 1 ? kinds.get(1) : ServerKind.ZOOKEEPER;
    }

    /** Says on what machine the run is, and how busy it was before. */
    void machine(BenchmarkOptions options) throws IOException {
        FileStore store = Files.getFileStore(options.directory());
        print(
                "%d processors, load average %.2f, Java %s, data on %s, servers with %s",
                Runtime.getRuntime().availableProcessors(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.version(),
                store.type(),
                String.join(" ", options.serverJvmOptions()));
        if (store.type().equals("tmpfs")) {
            print("WARNING: %s is in memory: the numbers say nothing about durable writes", options.directory());
        }
    }

    void processes(BenchmarkCluster cluster) {
        print("%s runs as process %s", cluster.kind().label(), cluster.processes());
    }

    void idle(BenchmarkCluster cluster, BenchmarkCluster.Idle idle) {
        print(
                "%s idle: %.1f%% of a core for all its processes, %.0f MB of heap in use in the largest",
                cluster.kind().label(), idle.processorPercent(), idle.heapMegabytes());
    }

    void round(ServerKind kind, Case current, int number, Measurement round) {
        rounds.computeIfAbsent(current, key -> new LinkedHashMap<>())
                .computeIfAbsent(kind, key -> new ArrayList<>())
                .add(round);
        print(
                "%-8s %-13s %-7s round %d %-10s %9.0f ops/s  p50 %8.3f ms  p99 %8.3f ms  server %7.1f us/op",
                current.place(),
                current.workload(),
                current.shape(),
                number,
                kind.label(),
                round.operationsPerSecond(),
                round.p50Ms(),
                round.p99Ms(),
                round.serverMicros());
    }

    void ratio(Case current) {
        print("%-8s %-13s %-7s ratio %.2f", current.place(), current.workload(), current.shape(), ratioOf(current));
    }

    private double ratioOf(Case key) {
        return median(key, first).operationsPerSecond() / median(key, second).operationsPerSecond();
    }

    private Measurement median(Case key, ServerKind kind) {
        return Measurement.median(rounds.getOrDefault(key, Map.of()).getOrDefault(kind, List.of()));
    }

    void summary() {
        print("");
        print(
                "| at | requests | shape | %s ops/s | p50 ms | p99 ms | cpu us/op |"
                        + " %s ops/s | p50 ms | p99 ms | cpu us/op | ratio |",
                first.title(), second.title());
        print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        for (Case key : rounds.keySet()) {
            Measurement one = median(key, first);
            Measurement other = median(key, second);
            print(
                    "| %s | %s | %s | %,.0f | %.2f | %.2f | %.1f | %,.0f | %.2f | %.2f | %.1f | %.2f |",
                    key.place(),
                    key.workload(),
                    key.shape(),
                    one.operationsPerSecond(),
                    one.p50Ms(),
                    one.p99Ms(),
                    one.serverMicros(),
                    other.operationsPerSecond(),
                    other.p50Ms(),
                    other.p99Ms(),
                    other.serverMicros(),
                    ratioOf(key));
        }
    }

    private void print(String format, Object... arguments) {
        out.println(String.format(Locale.ROOT, format, arguments));
    }
}
