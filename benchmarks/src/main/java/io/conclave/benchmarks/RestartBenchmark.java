package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * How long it takes from the start of killed servers until the first write is confirmed, and the processor time that
 * they have used until then: all of them are killed, and one of three.
 */
final class RestartBenchmark {
    private static final int SESSION_TIMEOUT_MS = 30_000;
    private static final int PROBE_MS = 500; // a server that starts may take a connection and never answer on it
    private static final Duration BOUND = Duration.ofMinutes(2);
    private static final byte[] DATA = new byte[100];

    private final int znodes;
    private final int rounds;
    private final TimeSource time = TimeSource.system();

    private RestartBenchmark(int znodes, int rounds) {
        this.znodes = znodes;
        this.rounds = rounds;
    }

    /** @param args how many znodes there are, how many times servers are killed, and how many servers there are */
    public static void main(String[] args) throws Exception {
        int znodes = args.length > 0 && !args[0].isEmpty() ? Integer.parseInt(args[0]) : 1_000_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        List<Integer> servers = args.length > 2 ? List.of(Integer.parseInt(args[2])) : List.of(1, 3);
        new RestartBenchmark(znodes, rounds).run(servers);
    }

    private void run(List<Integer> ensembles) throws IOException {
        System.out.println("| servers | killed | round | first write after, s | processor time, s |");
        System.out.println("|---|---:|---:|---:|---:|");
        for (int servers : ensembles) {
            BenchmarkOptions options = BenchmarkOptions.parse(
                    List.of("--servers=" + servers, "--server-jvm=-Xms1g -Xmx1g", "--kinds=conclave,zookeeper"));
            for (ServerKind kind : options.kinds()) {
                try (BenchmarkCluster cluster = BenchmarkCluster.start(kind, options, time)) {
                    fill(cluster.servers().get(0));
                    for (int round = 1; round <= rounds; round++) {
                        restart(cluster, cluster.servers(), round);
                    }
                    for (int round = 1; servers > 1 && round <= rounds; round++) {
                        restart(cluster, List.of(cluster.at(Place.FOLLOWER)), round);
                    }
                }
            }
        }
    }

    /** Whether a write is confirmed. */
    private static boolean writes(BenchmarkServer server, String path) {
        try (RawSession session = new RawSession(server.port(), SESSION_TIMEOUT_MS, PROBE_MS)) {
            session.set(path, DATA);
            return true;
        } catch (IOException | BenchmarkException e) {
            return false;
        }
    }

    private void fill(BenchmarkServer server) throws IOException {
        server.awaitOrFail(() -> writes(server, "/"), "write", BOUND, time);
        try (RawSession session = new RawSession(server.port(), SESSION_TIMEOUT_MS)) {
            session.fill(znodes, DATA);
        }
    }

    private void restart(BenchmarkCluster cluster, List<BenchmarkServer> killed, int round) {
        killed.forEach(BenchmarkServer::kill);
        long began = time.monotonicNanos();
        killed.forEach(BenchmarkServer::startAgain);
        BenchmarkServer first = killed.get(0);
        first.awaitOrFail(() -> writes(first, "/parent0"), "write again", BOUND, time);
        Duration took = Duration.ofNanos(time.monotonicNanos() - began);
        Duration processor = killed.stream().map(BenchmarkServer::processorTime).reduce(Duration.ZERO, Duration::plus);
        System.out.printf(
                Locale.ROOT,
                "| %d %s | %d | %d | %.2f | %.2f |%n",
                cluster.servers().size(),
                cluster.kind().title(),
                killed.size(),
                round,
                took.toMillis() / 1e3,
                processor.toMillis() / 1e3);
    }
}
