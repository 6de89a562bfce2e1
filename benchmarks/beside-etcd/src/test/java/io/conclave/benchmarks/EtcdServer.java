package io.conclave.benchmarks;

import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One etcd with its own defaults, fsync among them, on a directory that is emptied before and removed after. */
final class EtcdServer implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

    private final Path directory;
    private final int port;
    private final Process process;

    private EtcdServer(Path directory, int port, Process process) {
        this.directory = directory;
        this.port = port;
        this.process = process;
    }

    /** Starts the etcd of the PATH. Blocks until it listens. */
    static EtcdServer start(Path parent, TimeSource time) throws IOException {
        Path directory = parent.resolve("etcd");
        BenchmarkServer.delete(directory);
        Files.createDirectories(directory);
        int port = FreePort.find();
        String clients = "http://127.0.0.1:" + port;
        String peers = "http://127.0.0.1:" + FreePort.find();
        Process process = new ProcessBuilder(List.of(
                        "etcd",
                        "--name=benchmark",
                        "--data-dir=" + directory.resolve("data").toAbsolutePath(),
                        "--listen-client-urls=" + clients,
                        "--advertise-client-urls=" + clients,
                        "--listen-peer-urls=" + peers,
                        "--initial-advertise-peer-urls=" + peers,
                        "--initial-cluster=benchmark=" + peers,
                        "--logger=zap",
                        "--log-level=warn"))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output.log").toFile())
                .start();
        EtcdServer server = new EtcdServer(directory, port, process);
        server.awaitListening(time);
        return server;
    }

    private void awaitListening(TimeSource time) throws IOException {
        long startNanos = time.monotonicNanos();
        while (!isListening()) {
            if (hasEndedWithin(50) || time.monotonicNanos() - startNanos > START_TIMEOUT.toNanos()) {
                process.destroyForcibly();
                throw new BenchmarkException(
                        "etcd does not listen:\n" + Files.readString(directory.resolve("output.log")));
            }
        }
    }

    private boolean isListening() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
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

    String endpoint() {
        return "http://127.0.0.1:" + port;
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
            BenchmarkServer.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + directory, e);
        }
    }
}
