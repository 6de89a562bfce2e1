package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A process that a test starts, and that has to end by itself. */
final class ChildProcess {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private ChildProcess() {}

    /** An application with the class path of this JVM. */
    static ProcessBuilder application(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    /** Runs it to its end, which must have this code. What it wrote; a failure shows that too. */
    static String run(ProcessBuilder command, Path log, int code) throws IOException, InterruptedException {
        Process process =
                command.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            Supplier<String> text = () -> textOf(log);
            assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as(text)
                    .isTrue();
            assertThat(process.exitValue()).as(text).isEqualTo(code);
            return text.get();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String textOf(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
