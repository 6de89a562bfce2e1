package io.conclave.benchmarks;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecipeBenchmarkIT {
    @Test
    void queuesAreMeasuredAtGrowingDepths(@TempDir Path directory) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new QueueDepthBenchmark(
                        List.of(10, 100),
                        Duration.ofMillis(100),
                        directory,
                        new PrintStream(bytes, true, StandardCharsets.UTF_8))
                .run();
        String output = bytes.toString(StandardCharsets.UTF_8);
        assertTrue(output.contains("| 100 | 6 |"), output);
    }

    @Test
    void bothLibrariesTakeTurnsOnOneZooKeeperAndRatiosArePrinted(@TempDir Path directory) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        RecipeOptions options = RecipeOptions.DEFAULT
                .withDirectory(directory)
                .withContenders(List.of(1, 4))
                .withParticipants(1) // with more, Curator's turns may come to no end
                .withTimes(1, Duration.ofMillis(100), Duration.ofMillis(100));

        new RecipeBenchmark(options, TimeSource.system(), new PrintStream(bytes, true, StandardCharsets.UTF_8)).run();

        String output = bytes.toString(StandardCharsets.UTF_8);
        assertTrue(output.contains("| lock, uncontended |"), output);
        assertTrue(output.contains("| lock, 3 waiters |"), output);
        assertTrue(output.contains("| multi-lock of 10, uncontended |"), output);
        assertTrue(output.contains("| semaphore, uncontended |"), output);
        assertTrue(output.contains("| double barrier of 1 |"), output);
        assertTrue(output.contains("| election, leader's session closed |"), output);
        assertTrue(output.contains("| queue, 1 consumer, 1 in flight |"), output);
        assertTrue(output.contains("| priority queue, 10 consumers, 20 in flight |"), output);
        assertFalse(output.contains("NaN"), output);
    }
}
