package io.conclave.consensus.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM of tests leaves none of its certificates behind. */
@Tag("proof")
class TestTlsTest {
    @TempDir
    private Path temporary;

    @Test
    void certificatesAreGoneWhenTheJvmHasEnded() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + temporary,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Writer.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("written: true"), output);
        try (Stream<Path> left = Files.list(temporary)) {
            List<String> folders = left.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("conclave-tls"))
                    .toList();
            assertEquals(List.of(), folders);
        }
    }

    /** A JVM that writes certificates. */
    static final class Writer {
        public static void main(String[] arguments) {
            TestTls certificates = new TestTls();
            certificates.members();
            System.out.println("written: " + Files.exists(certificates.file("own")));
        }
    }
}
