package io.conclave.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What the connections of a loop have done since the start; plain numbers, since they belong to the loop. */
final class LoopCounters {
    private static final double NANOS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private long received;
    private long sent;
    private long writes;
    private long minLatencyNanos = Long.MAX_VALUE;
    private long maxLatencyNanos;
    private double sumLatencyMs;

    void received() {
        received++;
    }

    void sent() {
        sent++;
    }

    void written(long latencyNanos) {
        writes++;
        minLatencyNanos = Math.min(minLatencyNanos, latencyNanos);
        maxLatencyNanos = Math.max(maxLatencyNanos, latencyNanos);
        sumLatencyMs += latencyNanos / NANOS_PER_MS;
    }

    ConnectionReport report(Iterable<ClientConnection> connections) {
        List<ConnectionReport.Client> clients = new ArrayList<>();
        long outstanding = 0;
        long watches = 0;
        for (ClientConnection connection : connections) {
            ConnectionReport.Client client = connection.report();
            clients.add(client);
            outstanding += client.queued();
            watches += connection.watchedPaths().size();
        }
        return new ConnectionReport(
                received,
                sent,
                outstanding,
                watches,
                writes,
                TimeUnit.NANOSECONDS.toMillis(minLatencyNanos),
                TimeUnit.NANOSECONDS.toMillis(maxLatencyNanos),
                sumLatencyMs,
                clients);
    }
}
