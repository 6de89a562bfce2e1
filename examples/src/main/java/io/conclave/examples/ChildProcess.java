package io.conclave.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A JVM started by a demo, on the demo's own class path; its output is read line by line. */
final class ChildProcess {
    private final Process process;
    private final Thread reader;

    private ChildProcess(Process process, Consumer<String> onLine) {
        this.process = process;
        this.reader = new Thread(() -> read(onLine), "output of process " + process.pid());
        reader.start();
    }

    static ChildProcess start(Consumer<String> onLine, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dslf4j.internal.verbosity=ERROR"));
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("demo."))
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        try {
            return new ChildProcess(
                    new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start(),
                    onLine);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot start " + main.getSimpleName(), e);
        }
    }

    private void read(Consumer<String> onLine) {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                onLine.accept(line);
            }
        } catch (IOException e) {
            onLine.accept("the output of process " + process.pid() + " ended: " + e.getMessage());
        }
    }

    /** kill -9: the process gets no chance to say anything. */
    void kill() {
        process.toHandle().destroyForcibly(); // unlike Process.destroyForcibly, leaves what it has said to be read
    }

    /** A line of input for the process. */
    void tell(String line) {
        try {
            process.outputWriter(StandardCharsets.UTF_8)
                    .append(line)
                    .append('\n')
                    .flush();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot tell process " + process.pid() + " \"" + line + "\"", e);
        }
    }

    /** Sends a signal by its name, such as STOP and CONT. */
    void signal(String signal) throws InterruptedException {
        try {
            int status = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new IllegalStateException("kill -" + signal + " ended with status " + status);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot send " + signal + " to process " + process.pid(), e);
        }
    }

    /** A request to end in order. */
    void terminate() {
        process.destroy();
    }

    /** Waits for the end, interrupted or not. */
    void awaitUninterruptibly() {
        process.onExit().join();
    }

    /** Waits for the end; the exit status. */
    int await() throws InterruptedException {
        int status = process.waitFor();
        reader.join();
        return status;
    }
}
