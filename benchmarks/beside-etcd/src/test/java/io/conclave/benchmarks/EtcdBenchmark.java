package io.conclave.benchmarks;

import io.conclave.node.NodePath;
import io.conclave.time.TimeSource;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * Compares this project's server and lock with etcd's, each asked by its own Java client: stand-alone, durable, in
 * alternating rounds after a warm-up of both.
 */
public final class EtcdBenchmark {
    private static final long LEASE_SECONDS = 20;

    private final BenchmarkOptions options;
    private final TimeSource time;
    private final PrintStream out;
    private final List<String> table = new ArrayList<>();

    EtcdBenchmark(BenchmarkOptions options, TimeSource time, PrintStream out) {
        this.options = options;
        this.time = time;
        this.out = out;
    }

    /** Called by the JVM with the options of {@link Benchmark}. */
    public static void main(String[] arguments) throws IOException {
        new EtcdBenchmark(BenchmarkOptions.parse(List.of(arguments)), TimeSource.system(), System.out).run();
        System.exit(0);
    }

    /** Runs everything and prints it. Blocks. */
    void run() throws IOException {
        Files.createDirectories(options.directory());
        try (BenchmarkServer ours = BenchmarkServer.start(
                        ServerKind.CONCLAVE, options.directory(), options.serverJvmOptions(), time);
                EtcdServer etcd = EtcdServer.start(options.directory(), time)) {
            requests(ours, etcd);
            for (int contenders : List.of(1, 21)) {
                locks(ours, etcd, contenders);
            }
        }
        out.println();
        out.println("| what | Conclave /s | p50 ms | p99 ms | server us | etcd /s | p50 ms | p99 ms | server us |"
                + " ratio of rates |");
        out.println("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        table.forEach(out::println);
    }

    private void requests(BenchmarkServer ours, EtcdServer etcd) {
        Callbacks callbacks = Callbacks.on(options.callbackThreads());
        try (Load own = new Load(
                        ours.connectString(),
                        Optional.empty(),
                        NodePath.of("/benchmark"),
                        ours::processorTime,
                        options.sessionCount(),
                        callbacks.executor(),
                        time);
                EtcdLoad others = new EtcdLoad(etcd.endpoint(), options.sessionCount(), etcd::processorTime, time)) {
            for (Workload workload : List.of(Workload.SET, Workload.GET)) {
                for (Shape shape : options.shapes()) {
                    compare(
                            workload + " " + shape,
                            duration -> own.run(shape, workload, duration),
                            duration -> others.run(shape, workload, duration));
                }
            }
        } finally {
            callbacks.close();
        }
    }

    private void locks(BenchmarkServer ours, EtcdServer etcd, int contenders) {
        LockCase lockCase = new LockCase(LockCase.Kind.LOCK, contenders, true);
        try (LockLoad own = LockLoad.of(Library.CONCLAVE, ours.hostAndPort(), lockCase, time, ours::processorTime);
                LockLoad others = etcdLocks(etcd, contenders)) {
            compare(lockCase.toString(), own::run, others::run);
        }
    }

    private LockLoad etcdLocks(EtcdServer etcd, int contenders) {
        List<Client> clients = new ArrayList<>();
        List<RecipeClient.Mutex> mutexes = new ArrayList<>();
        ByteSequence name = ByteSequence.from("/lock-" + contenders, StandardCharsets.UTF_8);
        for (int i = 0; i < contenders; i++) {
            Client client = Client.builder().endpoints(etcd.endpoint()).build();
            clients.add(client);
            long lease = client.getLeaseClient().grant(LEASE_SECONDS).join().getID();
            client.getLeaseClient().keepAlive(lease, new Unobserved());
            Lock lock = client.getLockClient();
            mutexes.add(() -> {
                ByteSequence key = lock.lock(name, lease).get().getKey();
                return () -> lock.unlock(key).get();
            });
        }
        return new LockLoad(mutexes, () -> clients.forEach(Client::close), time, etcd::processorTime);
    }

    private void compare(String what, Function<Duration, Measurement> ours, Function<Duration, Measurement> etcd) {
        print(what, "conclave, warm-up", ours.apply(options.warmUp()));
        print(what, "etcd, warm-up", etcd.apply(options.warmUp()));
        List<Measurement> own = new ArrayList<>();
        List<Measurement> others = new ArrayList<>();
        for (int round = 0; round < options.rounds(); round++) {
            own.add(print(what, "conclave", ours.apply(options.round())));
            others.add(print(what, "etcd", etcd.apply(options.round())));
        }
        Measurement a = Measurement.median(own);
        Measurement b = Measurement.median(others);
        table.add(String.format(
                Locale.ROOT,
                "| %s | %s | %s | %.2f |",
                what,
                cells(a),
                cells(b),
                a.operationsPerSecond() / b.operationsPerSecond()));
    }

    private Measurement print(String what, String whose, Measurement round) {
        out.println(what + " " + whose + ": " + cells(round));
        return round;
    }

    private static String cells(Measurement one) {
        return String.format(
                Locale.ROOT,
                "%,.0f | %.2f | %.2f | %.1f",
                one.operationsPerSecond(),
                one.p50Ms(),
                one.p99Ms(),
                one.serverMicros());
    }

    /** Nothing is done with the answers: a lease that ends shows as a lock that fails. */
    private static final class Unobserved implements StreamObserver<LeaseKeepAliveResponse> {
        @Override
        public void onNext(LeaseKeepAliveResponse response) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
    }
}
