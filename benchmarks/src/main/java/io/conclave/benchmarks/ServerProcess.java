package io.conclave.benchmarks;

import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A server in a JVM of its own, on a directory that is emptied before and removed after. */
final class ServerProcess implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
    private static final int PROBE_MS = 50;

    private final ServerKind kind;
    private final Path directory;
    private final int port;
    private final Process process;

    private ServerProcess(ServerKind kind, Path directory, int port, Process process) {
        this.kind = kind;
        this.directory = directory;
        this.port = port;
        this.process = process;
    }

    /** Starts a server with this class path, and returns when it listens. Blocks. */
    static ServerProcess start(ServerKind kind, Path parent, List<String> jvmOptions, TimeSource time) {
        Path directory = parent.resolve(kind.label());
        try {
            delete(directory);
            Files.createDirectories(directory);
            int port = FreePort.find();
            Path configuration = directory.resolve("zoo.cfg");
            Files.writeString(configuration, configuration(directory.resolve("data"), port));
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(jvmOptions);
            command.addAll(List.of("-cp", System.getProperty("java.class.path")));
            command.addAll(kind.mainAndArguments(configuration.toString()));
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("output.log").toFile())
                    .start();
            ServerProcess server = new ServerProcess(kind, directory, port, process);
            server.awaitListening(time);
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + kind.label() + " in " + directory, e);
        }
    }

    /** The same lines for both: snapshots as often, one tick, no bound on connections. */
    private static String configuration(Path data, int port) throws IOException {
        Files.createDirectories(data);
        return String.join(
                "\n",
                "dataDir=" + data.toAbsolutePath(),
                "clientPort=" + port,
                "clientPortAddress=127.0.0.1",
                "tickTime=2000",
                "maxClientCnxns=0",
                "snapCount=100000",
                "");
    }

    private void awaitListening(TimeSource time) throws IOException {
        long startNanos = time.monotonicNanos();
        while (!isListening()) {
            boolean late = time.monotonicNanos() - startNanos > START_TIMEOUT.toNanos();
            if (late || hasEndedWithin(PROBE_MS)) {
                String output = Files.readString(directory.resolve("output.log"));
                process.destroyForcibly();
                throw new BenchmarkException(kind.label()
                        + (late ? " does not listen after " + START_TIMEOUT : " has ended") + ":\n" + output);
            }
        }
    }

    private boolean isListening() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private boolean hasEndedWithin(int waitMs) {
        try {
            return process.waitFor(waitMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
            throw new BenchmarkException("interrupted", e);
        }
    }

    String connectString() {
        return kind.scheme() + "://" + hostAndPort();
    }

    String hostAndPort() {
        return "127.0.0.1:" + port;
    }

    long pid() {
        return process.pid();
    }

    /** Processor time used so far; zero if the system does not tell. */
    Duration processorTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Ends the process and removes its directory. Blocks for ten seconds at most. */
    @Override
    public void close() {
        process.destroy();
        if (!hasEndedWithin(10_000)) {
            process.destroyForcibly();
            hasEndedWithin(5_000);
        }
        try {
            delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + directory, e);
        }
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
