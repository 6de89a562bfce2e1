package io.conclave.benchmarks;

import io.conclave.node.NodePath;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/**
 * Compares this project's server with Apache ZooKeeper's, stand-alone or in ensembles: both durable, in JVMs of their
 * own with the same options and the same configuration, asked by the same client and the same program, in alternating
 * rounds after a warm-up of both.
 */
public final class Benchmark {
    private static final int IDLE_ROUNDS = 4;

    private final BenchmarkOptions options;
    private final TimeSource time;
    private final Report report;

    Benchmark(BenchmarkOptions options, TimeSource time, PrintStream out) {
        this.options = options;
        this.time = time;
        this.report = new Report(out, options.kinds());
    }

    /** Called by the JVM; exit status 2 for a wrong command line, 1 for a run that failed. */
    public static void main(String[] arguments) {
        if (List.of(arguments).contains("--help")) {
            System.out.println(BenchmarkOptions.HOW_TO);
            return;
        }
        BenchmarkOptions options;
        try {
            options = BenchmarkOptions.parse(List.of(arguments));
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n" + BenchmarkOptions.HOW_TO);
            System.exit(2);
            return;
        }
        try {
            new Benchmark(options, TimeSource.system(), System.out).run();
            System.exit(0);
        } catch (BenchmarkException | IOException e) {
            System.err.println(e);
            System.exit(1);
        }
    }

    /** Runs everything and prints it. Blocks. */
    void run() throws IOException {
        Files.createDirectories(options.directory());
        report.machine(options);
        Callbacks callbacks = Callbacks.on(options.callbackThreads());
        List<BenchmarkCluster> clusters = new ArrayList<>();
        try {
            for (ServerKind kind : options.kinds()) {
                clusters.add(BenchmarkCluster.start(kind, options, time));
            }
            clusters.forEach(report::processes);
            for (Place place : options.places()) {
                runAt(place, clusters, callbacks.executor());
            }
            Duration idle = options.round().multipliedBy(IDLE_ROUNDS);
            clusters.forEach(cluster -> report.idle(cluster, cluster.idle(idle)));
        } finally {
            clusters.forEach(BenchmarkCluster::close);
            callbacks.close();
        }
        report.summary();
    }

    private void runAt(Place place, List<BenchmarkCluster> clusters, Executor callbacks) {
        Map<ServerKind, Load> loads = new LinkedHashMap<>();
        try {
            for (BenchmarkCluster cluster : clusters) {
                loads.put(cluster.kind(), load(cluster, place, callbacks));
            }
            runAll(place, loads);
        } finally {
            loads.values().forEach(Load::close);
        }
    }

    /** All workloads in the largest shape, so that the compilers have seen everything before the first round counts. */
    private void warmUp(Map<ServerKind, Load> loads) {
        Shape largest = options.shapes().get(options.shapes().size() - 1);
        for (Workload workload : options.workloads()) {
            loads.values().forEach(load -> load.run(largest, workload, options.warmUp()));
        }
    }

    private Load load(BenchmarkCluster cluster, Place place, Executor callbacks) {
        BenchmarkServer server = cluster.at(place);
        return new Load(
                server.connectString(),
                server.tls(),
                NodePath.of("/benchmark-" + place),
                cluster::processorTime,
                options.sessionCount(),
                callbacks,
                time);
    }

    private void runAll(Place place, Map<ServerKind, Load> loads) {
        warmUp(loads);
        for (Workload workload : options.workloads()) {
            for (Shape shape : options.shapes()) {
                Report.Case current = new Report.Case(place, shape, workload);
                loads.values().forEach(load -> load.run(shape, workload, options.warmUp()));
                for (int round = 1; round <= options.rounds(); round++) {
                    int number = round;
                    loads.forEach((kind, load) ->
                            report.round(kind, current, number, load.run(shape, workload, options.round())));
                }
                if (loads.size() > 1) {
                    report.ratio(current);
                }
            }
        }
    }
}
