package io.conclave.benchmarks;

import io.conclave.session.TlsOptions;
import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A server in a JVM of its own, on a directory that is emptied before and removed after. */
final class BenchmarkServer implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofMinutes(3);
    private static final int PROBE_MS = 5;

    private final ServerKind kind;
    private final Path directory;
    private final int port;
    private final List<String> command;
    private Process process;

    private BenchmarkServer(ServerKind kind, Path directory, int port, List<String> command) {
        this.kind = kind;
        this.directory = directory;
        this.port = port;
        this.command = command;
        process = begin();
    }

    /** Starts a stand-alone server with this class path, and returns when it listens. Blocks. */
    static BenchmarkServer start(ServerKind kind, Path parent, List<String> jvmOptions, TimeSource time) {
        Path directory = parent.resolve(kind.label());
        int port = FreePort.find();
        Path configuration = prepare(kind, directory, port, List.of());
        BenchmarkServer server =
                launch(kind, directory, port, jvmOptions, kind.mainAndArguments(configuration.toString()));
        server.awaitOrFail(server::isListening, "listen", time);
        return server;
    }

    /** Starts a member of an ensemble with this class path; it serves when it has found the others. */
    static BenchmarkServer startMember(
            ServerKind kind, Path directory, int number, List<String> ensemble, List<String> jvmOptions) {
        int port = FreePort.find();
        Path configuration = prepare(kind, directory, port, ensemble);
        try {
            Files.writeString(directory.resolve("data").resolve("myid"), number + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        kind.bootstrap(number, configuration.toString()).ifPresent(arguments -> {
            BenchmarkServer bootstrap = launch(kind, directory, port, jvmOptions, arguments);
            if (!bootstrap.hasEndedWithin((int) START_TIMEOUT.toMillis()) || bootstrap.process.exitValue() != 0) {
                throw bootstrap.failed("cannot bootstrap its cluster");
            }
        });
        return launch(kind, directory, port, jvmOptions, kind.ensembleMainAndArguments(configuration.toString()));
    }

    private static Path prepare(ServerKind kind, Path directory, int port, List<String> ensemble) {
        try {
            delete(directory);
            Path data = Files.createDirectories(directory.resolve("data"));
            List<String> lines = new ArrayList<>(ensemble);
            lines.addAll(kind.linesOfTls(directory));
            return Files.writeString(
                    directory.resolve("zoo.cfg"), configuration(data, port) + String.join("\n", lines) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to " + directory, e);
        }
    }

    private static BenchmarkServer launch(
            ServerKind kind, Path directory, int port, List<String> jvmOptions, List<String> mainAndArguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(mainAndArguments);
        return new BenchmarkServer(kind, directory, port, command);
    }

    private Process begin() {
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("output.log").toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + kind.label() + " in " + directory, e);
        }
    }

    /** The same lines for both: snapshots as often, one tick, no bound on connections. */
    private static String configuration(Path data, int port) {
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

    /** Waits for the process to do something, for as long as a start may take. */
    void awaitOrFail(BooleanSupplier done, String what, TimeSource time) {
        awaitOrFail(done, what, START_TIMEOUT, time);
    }

    /** Waits for the process to do something, with a bound. */
    void awaitOrFail(BooleanSupplier done, String what, Duration bound, TimeSource time) {
        long startNanos = time.monotonicNanos();
        while (!done.getAsBoolean()) {
            if (hasEndedWithin(PROBE_MS)) {
                throw failed("has ended");
            }
            if (time.monotonicNanos() - startNanos > bound.toNanos()) {
                throw failed("does not " + what + " after " + bound);
            }
        }
    }

    /** Ends the process with SIGKILL. Blocks. */
    void kill() {
        process.destroyForcibly();
        hasEndedWithin((int) START_TIMEOUT.toMillis());
    }

    /** Starts the process again, on what it has left. */
    void startAgain() {
        process = begin();
    }

    private BenchmarkException failed(String what) {
        process.destroyForcibly();
        try {
            return new BenchmarkException(
                    kind.label() + " " + what + ":\n" + Files.readString(directory.resolve("output.log")));
        } catch (IOException e) {
            return new BenchmarkException(kind.label() + " " + what, e);
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

    /** What it says that it is in its ensemble: leader, follower; empty if it does not serve. */
    String mode() {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(1000);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith("Mode: "))
                    .map(line -> line.substring("Mode: ".length()).trim())
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    /** The heap that is in use behind a full collection, in bytes. Blocks. */
    long liveHeapBytes() {
        runJcmd("GC.run");
        Matcher used = Pattern.compile("total \\d+K, used (\\d+)K").matcher(runJcmd("GC.heap_info"));
        long bytes = 0;
        while (used.find()) {
            bytes += Long.parseLong(used.group(1)) * 1024;
        }
        return bytes;
    }

    private String runJcmd(String command) {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        try {
            Process asked = new ProcessBuilder(jcmd, Long.toString(process.pid()), command)
                    .redirectErrorStream(true)
                    .start();
            return new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return ""; // a runtime without tools
        }
    }

    /** Waits for so long; false if the process goes on, as it should. */
    boolean hasEndedWithin(int waitMs) {
        try {
            return process.waitFor(waitMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
            throw new BenchmarkException("interrupted", e);
        }
    }

    ServerKind kind() {
        return kind;
    }

    String connectString() {
        return kind.scheme() + "://" + hostAndPort();
    }

    /** How clients speak TLS with it, if they do. */
    Optional<TlsOptions> tls() {
        return kind.tls(directory);
    }

    int port() {
        return port;
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

    /** Removes a directory and all in it, if it is there. */
    static void delete(Path directory) throws IOException {
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
