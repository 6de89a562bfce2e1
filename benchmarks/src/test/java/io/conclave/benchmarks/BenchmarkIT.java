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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchmarkIT {
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
                assertTrue(output.contains("| " + workload + " | " + shape + " |"), output);
            }
        }
        assertFalse(output.contains("NaN"), output);
        try (var left = Files.list(directory)) {
            assertEquals(0, left.count(), "the servers' directories are removed");
        }
    }
}
