package io.conclave.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.node.NodePath;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchmarkTest {
    private static final NodePath ROOT = NodePath.of("/benchmark");
    private static final Duration ROUND = Duration.ofMillis(100);

    @Test
    void everyShapeRunsAgainstADurableServer(@TempDir Path directory) {
        ServerConfig config = ServerConfig.builder()
                .clientPort(0)
                .dataDirectory(Optional.of(directory))
                .build();
        ExecutorService callbacks = Executors.newCachedThreadPool();
        try (ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), failure -> {})) {
            String connectString = "conclave://127.0.0.1:" + server.clientPort().orElseThrow();
            try (Load load = new Load(
                    connectString,
                    Optional.empty(),
                    ROOT,
                    () -> Duration.ZERO,
                    BenchmarkOptions.SHORT.sessionCount(),
                    callbacks,
                    TimeSource.system())) {
                for (Workload workload : BenchmarkOptions.SHORT.workloads()) {
                    for (Shape shape : BenchmarkOptions.SHORT.shapes()) {
                        assertMeasured(load.run(shape, workload, ROUND), shape + " " + workload);
                    }
                }
            }
        } finally {
            callbacks.shutdown();
        }
    }

    private static void assertMeasured(Measurement round, String what) {
        assertTrue(round.operationsPerSecond() > 0, what);
        assertTrue(round.p50Ms() > 0 && round.p50Ms() <= round.p99Ms(), what + ": " + round);
    }

    @Test
    void aServerThatGoesAwayEndsTheRoundWithAnError(@TempDir Path directory) {
        ServerConfig config = ServerConfig.builder()
                .clientPort(0)
                .dataDirectory(Optional.of(directory))
                .build();
        ExecutorService callbacks = Executors.newCachedThreadPool();
        ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), failure -> {});
        String connectString = "conclave://127.0.0.1:" + server.clientPort().orElseThrow();
        try (Load load = new Load(
                connectString, Optional.empty(), ROOT, () -> Duration.ZERO, 1, callbacks, TimeSource.system())) {
            callbacks.execute(server::close);
            assertThrows(
                    BenchmarkException.class, () -> load.run(new Shape(1, 100), Workload.SET, Duration.ofSeconds(60)));
        } finally {
            server.close();
            callbacks.shutdown();
        }
    }

    @Test
    void percentilesAreWithinTwoPercent() {
        LatencyHistogram histogram = new LatencyHistogram();
        for (int micros = 1; micros <= 100_000; micros++) {
            histogram.record(micros * 1000L);
        }
        assertEquals(100_000, histogram.total());
        assertEquals(50, histogram.percentileMs(0.5), 1);
        assertEquals(99, histogram.percentileMs(0.99), 2);
    }

    @Test
    void everyLatencyHasABucketNoSmallerThanItself() {
        for (long nanos = 1; nanos <= 3_600_000_000_000L; nanos += nanos / 7 + 1) {
            LatencyHistogram histogram = new LatencyHistogram();
            histogram.record(nanos);
            double ms = histogram.percentileMs(1);
            assertTrue(
                    ms * 1e6 >= nanos * 0.999 && ms * 1e6 <= nanos * 1.02 + 1,
                    nanos + " ns is said to be " + ms + " ms");
        }
    }

    @Test
    void latencyAboveAnHourCountsAsAnHour() {
        LatencyHistogram histogram = new LatencyHistogram();
        assertEquals(0, histogram.percentileMs(0.5));
        histogram.record(Long.MAX_VALUE);
        histogram.record(-1);
        assertEquals(3_600_000, histogram.percentileMs(1), 36_000);
        assertEquals(0, histogram.percentileMs(0.5));
        assertEquals(2, histogram.total());
    }

    @Test
    void mediansOfAnOddAndAnEvenNumberOfRounds() {
        List<Measurement> rounds = List.of(
                new Measurement(3, 30, 1, 0.3),
                new Measurement(1, 10, 9, 0.1),
                new Measurement(2, 20, 5, 0.2),
                new Measurement(4, 40, 7, 0.4));
        assertEquals(new Measurement(2.5, 25, 6, 0.25), Measurement.median(rounds));
        assertEquals(new Measurement(2, 20, 5, 0.2), Measurement.median(rounds.subList(0, 3)));
    }

    @Test
    void aWrongOptionIsNamed() {
        assertNamed("--shapes=1x1,50y1", "50y1");
        assertNamed("--workloads=set,put", "put");
        assertNamed("--rounds=0", "--rounds=0");
        assertNamed("--longer", "--longer");
        assertNamed("--callback-threads=-1", "--callback-threads=-1");
        BenchmarkOptions options =
                BenchmarkOptions.parse(List.of("--long", "--shapes=2x3", "--rounds=7", "--callback-threads=0"));
        assertEquals(0, options.callbackThreads());
        assertEquals(List.of(Place.STANDALONE), options.places());
        assertEquals(
                List.of(Place.LEADER, Place.FOLLOWER),
                BenchmarkOptions.parse(List.of("--servers=3")).places());
        assertEquals(List.of(new Shape(2, 3)), options.shapes());
        assertEquals(7, options.rounds());
        assertEquals(Duration.ofSeconds(5), options.round());
    }

    private static void assertNamed(String argument, String name) {
        IllegalArgumentException error =
                assertThrows(IllegalArgumentException.class, () -> BenchmarkOptions.parse(List.of(argument)));
        assertTrue(error.getMessage().contains(name), error.getMessage());
    }
}
