package io.conclave.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchmarkIT {
    @Test
    void anEnsembleIsAskedOverItsLeaderAndAFollower(@TempDir Path directory) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BenchmarkOptions options = BenchmarkOptions.parse(
                        List.of("--servers=3", "--kinds=zookeeper", "--shapes=1x1", "--workloads=set,get"))
                .withDirectory(directory)
                .withTimes(1, Duration.ofMillis(100), Duration.ofMillis(100));

        new Benchmark(options, TimeSource.system(), new PrintStream(bytes, true, StandardCharsets.UTF_8)).run();

        String output = bytes.toString(StandardCharsets.UTF_8);
        for (Place place : List.of(Place.LEADER, Place.FOLLOWER)) {
            assertTrue(output.contains("| " + place + " | set | 1x1 |"), output);
            assertTrue(output.contains("| " + place + " | get | 1x1 |"), output);
        }
        assertTrue(output.contains("zookeeper idle: "), output);
    }

    @Test
    void bothServersRunInProcessesOfTheirOwnAndRatiosArePrinted(@TempDir Path directory) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BenchmarkOptions options = BenchmarkOptions.SHORT
                .withDirectory(directory)
                .withTimes(1, Duration.ofMillis(100), Duration.ofMillis(100));

        new Benchmark(options, TimeSource.system(), new PrintStream(bytes, true, StandardCharsets.UTF_8)).run();

        String output = bytes.toString(StandardCharsets.UTF_8);
        for (Workload workload : options.workloads()) {
            for (Shape shape : options.shapes()) {
                assertTrue(output.contains("| alone | " + workload + " | " + shape + " |"), output);
            }
        }
        assertFalse(output.contains("NaN"), output);
        try (var left = Files.list(directory)) {
            assertEquals(0, left.count(), "the servers' directories are removed");
        }
    }

    @Test
    void theSameServerIsComparedWithAndWithoutTls(@TempDir Path directory) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BenchmarkOptions options = BenchmarkOptions.parse(
                        List.of("--kinds=conclave-tls,conclave", "--shapes=1x1", "--workloads=get"))
                .withDirectory(directory)
                .withTimes(1, Duration.ofMillis(100), Duration.ofMillis(100));

        new Benchmark(options, TimeSource.system(), new PrintStream(bytes, true, StandardCharsets.UTF_8)).run();

        String output = bytes.toString(StandardCharsets.UTF_8);
        assertTrue(output.contains("| Conclave with TLS ops/s |"), output);
        assertTrue(output.contains("| alone | get | 1x1 |"), output);
        assertFalse(output.contains("NaN"), output);
    }
}
