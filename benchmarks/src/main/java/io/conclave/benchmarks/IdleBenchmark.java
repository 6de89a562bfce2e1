package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What three servers need for connections whose clients do nothing but ping: processor time of all three, and heap of
 * the one that has most. The clients are sockets with the few bytes that a session needs, on servers in turn.
 */
final class IdleBenchmark {
    private static final int SERVERS = 3;
    private static final int SESSION_TIMEOUT_MS = 30_000;
    private static final Duration BETWEEN_PINGS = Duration.ofSeconds(10);

    private IdleBenchmark() {}

    /** One client that pings now and then. */
    private static final class IdleClient implements AutoCloseable {
        private final RawSession session;
        private boolean pinged;

        IdleClient(int port) throws IOException {
            session = new RawSession(port, SESSION_TIMEOUT_MS);
        }

        /** The answer to the last one is there since long. */
        void ping() throws IOException {
            if (pinged) {
                session.read();
            }
            pinged = true;
            session.sendPing();
        }

        @Override
        public void close() throws IOException {
            session.close();
        }
    }

    /** @param args how many connections, and for how many seconds each figure is taken */
    public static void main(String[] args) throws Exception {
        int connections = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
        int seconds = args.length > 1 ? Integer.parseInt(args[1]) : 30;
        System.out.println("| servers | connections | processor time, ms a second | heap of the largest, MB |");
        System.out.println("|---|---:|---:|---:|");
        List<String> arguments = List.of("--servers=" + SERVERS, "--server-jvm=-Xms256m -Xmx256m");
        BenchmarkOptions options = BenchmarkOptions.parse(arguments);
        for (ServerKind kind : options.kinds()) {
            try (BenchmarkCluster cluster = BenchmarkCluster.start(kind, options, TimeSource.system())) {
                run(cluster, connections, seconds);
            }
        }
    }

    private static void run(BenchmarkCluster cluster, int connections, int seconds) throws Exception {
        List<IdleClient> clients = new ArrayList<>();
        try {
            List<Integer> ports = cluster.ports();
            for (int i = 0; i < connections; i++) {
                clients.add(new IdleClient(ports.get(i % SERVERS)));
            }
            pingFor(clients, seconds); // so that what they do is compiled
            report(cluster, connections, seconds, () -> pingFor(clients, seconds));
        } finally {
            for (IdleClient client : clients) {
                client.close();
            }
        }
        Thread.sleep(SESSION_TIMEOUT_MS * 2L); // until their sessions have ended
        report(cluster, 0, seconds, () -> pingFor(List.of(), seconds));
    }

    private static void report(BenchmarkCluster cluster, int connections, int seconds, Runnable load) {
        Duration before = cluster.processorTime();
        load.run();
        double used = cluster.processorTime().minus(before).toMillis() / (double) seconds;
        double heap = cluster.idle(Duration.ofMillis(1)).heapMegabytes();
        System.out.printf(
                Locale.ROOT, "| %s | %d | %.0f | %.1f |%n", cluster.kind().title(), connections, used, heap);
    }

    /** Each client pings once in ten seconds, one after the other. */
    private static void pingFor(List<IdleClient> clients, int seconds) {
        long steps = Duration.ofSeconds(seconds).toMillis();
        long between = BETWEEN_PINGS.toMillis();
        long began = System.nanoTime();
        try {
            long pinged = 0;
            for (long ms = 0; ms < steps; ms = (System.nanoTime() - began) / 1_000_000) {
                long due = clients.size() * ms / between;
                for (; pinged < due; pinged++) {
                    clients.get((int) (pinged % clients.size())).ping();
                }
                Thread.sleep(1);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new BenchmarkException("interrupted", e);
        }
    }
}
