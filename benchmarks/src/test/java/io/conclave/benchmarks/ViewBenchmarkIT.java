package io.conclave.benchmarks;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ViewBenchmarkIT {
    @Test
    void bothLibrariesSeeAGroupAndACacheAndRatiosArePrinted(@TempDir Path directory) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ViewBenchmark.Options options = new ViewBenchmark.Options(5, 2, 50, 1, directory);

        new ViewBenchmark(options, TimeSource.system(), new PrintStream(bytes, true, StandardCharsets.UTF_8)).run();

        String output = bytes.toString(StandardCharsets.UTF_8);
        assertTrue(output.contains("| group of 5, messages per change |"), output);
        assertTrue(output.contains("| cache of 50, ms to load |"), output);
        assertFalse(output.contains("NaN"), output);
    }
}
