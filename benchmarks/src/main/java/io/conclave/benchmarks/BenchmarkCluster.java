package io.conclave.benchmarks;

import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The servers of one kind that work together: one alone, or an ensemble. */
final class BenchmarkCluster implements AutoCloseable {
    private final ServerKind kind;
    private final List<BenchmarkServer> servers;

    private BenchmarkCluster(ServerKind kind, List<BenchmarkServer> servers) {
        this.kind = kind;
        this.servers = servers;
    }

    /** Starts them on empty directories, and returns when all serve. Blocks. */
    static BenchmarkCluster start(ServerKind kind, BenchmarkOptions options, TimeSource time) {
        if (options.servers() == 1) {
            return new BenchmarkCluster(
                    kind, List.of(BenchmarkServer.start(kind, options.directory(), options.serverJvmOptions(), time)));
        }
        List<String> configuration =
                new ArrayList<>(List.of("initLimit=10", "syncLimit=5", "4lw.commands.whitelist=srvr"));
        kind.secretLine(options.directory()).ifPresent(configuration::add);
        for (int number = 1; number <= options.servers(); number++) {
            configuration.add("server." + number + "=127.0.0.1:" + FreePort.find() + ":" + FreePort.find());
        }
        BenchmarkCluster cluster = new BenchmarkCluster(kind, new ArrayList<>());
        try {
            for (int number = 1; number <= options.servers(); number++) {
                Path directory = options.directory().resolve(kind.label() + "-" + number);
                cluster.servers.add(BenchmarkServer.startMember(
                        kind, directory, number, configuration, options.serverJvmOptions()));
            }
            cluster.servers.forEach(
                    server -> server.awaitOrFail(() -> !server.mode().isEmpty(), "serve", time));
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    ServerKind kind() {
        return kind;
    }

    /** A server at this place. Blocks while it asks. */
    BenchmarkServer at(Place place) {
        if (place == Place.STANDALONE) {
            return servers.get(0);
        }
        return servers.stream()
                .filter(server -> server.mode().equals(place.toString()))
                .findFirst()
                .orElseThrow(() -> new BenchmarkException(kind.label() + " has no " + place));
    }

    /** All of them. */
    List<BenchmarkServer> servers() {
        return List.copyOf(servers);
    }

    /** Where clients reach them. */
    List<Integer> ports() {
        return servers.stream().map(BenchmarkServer::port).toList();
    }

    /** Processor time that all of them have used so far. */
    Duration processorTime() {
        return servers.stream().map(BenchmarkServer::processorTime).reduce(Duration.ZERO, Duration::plus);
    }

    String processes() {
        return servers.stream().map(server -> Long.toString(server.pid())).collect(Collectors.joining(", "));
    }

    /** What they need when nobody asks them anything, over a time. Blocks that long. */
    Idle idle(Duration duration) {
        Duration before = processorTime();
        if (servers.get(0).hasEndedWithin((int) duration.toMillis())) {
            throw new BenchmarkException(kind.label() + " has ended");
        }
        double processorPercent = 100.0 * processorTime().minus(before).toNanos() / duration.toNanos();
        long heap =
                servers.stream().mapToLong(BenchmarkServer::liveHeapBytes).max().orElse(0);
        return new Idle(processorPercent, heap / 1e6);
    }

    /**
     * What servers need that do nothing.
     *
     * @param processorPercent of one core, all of them together
     * @param heapMegabytes behind a full collection, of the largest
     */
    record Idle(double processorPercent, double heapMegabytes) {}

    /** Ends them all. Blocks. */
    @Override
    public void close() {
        servers.forEach(BenchmarkServer::close);
    }
}
