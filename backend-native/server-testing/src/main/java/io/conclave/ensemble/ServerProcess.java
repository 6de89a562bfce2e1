package io.conclave.ensemble;

import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * A server in a process of its own, on this JVM's Java and class path; it ends when this JVM does. It is queried with
 * the four-letter words that an operator uses, and its output is appended to a file beside its configuration.
 */
final class ServerProcess implements RunningServer {
    private static final int ASK_LIMIT_MS = 1_000;
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final int LAST_LINES = 20;
    /** For a fast start and little memory; options of the user follow and win. */
    private static final List<String> JVM_OPTIONS = List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private final int id;
    private final InetSocketAddress clientAddress;
    private final Path output;
    private final long outputBegin;
    private final Process process;
    private Optional<StopSignal> stopped = Optional.empty();

    private ServerProcess(int id, InetSocketAddress clientAddress, Path output, List<String> command)
            throws IOException {
        this.id = id;
        this.clientAddress = clientAddress;
        this.output = output;
        this.outputBegin = Files.exists(output) ? Files.size(output) : 0;
        this.process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                .start();
    }

    /** Returns when the process exists. */
    static ServerProcess start(ServerConfig config, List<String> jvmOptions) {
        int id = config.ensemble().memberId();
        ServerText text = new ServerText(config);
        try {
            Path file = text.write();
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(JVM_OPTIONS);
            command.addAll(jvmOptions);
            command.addAll(mainClass());
            command.add(file.toString());
            config.ensemble()
                    .dialInstead()
                    .forEach((to, proxy) -> command.add(to + "=" + proxy.getHostString() + ":" + proxy.getPort()));
            InetSocketAddress address = new InetSocketAddress(
                    config.clientPortAddress().orElseThrow(),
                    config.clientPort().orElseThrow());
            return new ServerProcess(id, address, text.directory().resolve("conclave-server.out"), command);
        } catch (IOException e) {
            throw new UncheckedIOException("server " + id + " cannot be started: " + e, e);
        }
    }

    /** The options by which this JVM found the main class. */
    private static List<String> mainClass() {
        Module module = ServerMain.class.getModule();
        if (module.isNamed()) {
            return List.of(
                    "--module-path",
                    System.getProperty("jdk.module.path"),
                    "--add-modules",
                    "ALL-MODULE-PATH",
                    "--module",
                    module.getName() + "/" + ServerMain.class.getName());
        }
        return List.of("-cp", System.getProperty("java.class.path"), ServerMain.class.getName());
    }

    @Override
    public Optional<ServerStatus> status() {
        // servers of earlier versions have lines without ZooKeeper's prefix
        Map<String, String> answer = ask("mntr")
                .lines()
                .map(line -> line.split("\t", 2))
                .filter(parts -> parts.length == 2)
                .collect(Collectors.toMap(
                        parts -> parts[0].replace("zk_conclave_", "conclave_"),
                        parts -> parts[1],
                        (one, other) -> other));
        if (!answer.containsKey("zk_server_state")) {
            return Optional.empty();
        }
        return Optional.of(new ServerStatus(
                Set.of("leader", "standalone").contains(answer.get("zk_server_state")),
                Long.parseLong(answer.getOrDefault("conclave_term", "0")),
                !Objects.equals(answer.get("zk_server_state"), "read-only"),
                Integer.parseInt(answer.getOrDefault("conclave_voters", "0")),
                Integer.parseInt(answer.getOrDefault("conclave_members", "0"))));
    }

    @Override
    public boolean isListening() {
        return ask("ruok").equals("imok");
    }

    /** The answer to a four-letter word; empty if there is none. */
    private String ask(String word) {
        try (Socket socket = new Socket()) {
            socket.connect(clientAddress, ASK_LIMIT_MS);
            socket.setSoTimeout(ASK_LIMIT_MS);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }

    @Override
    public Optional<String> ending() {
        return process.isAlive()
                ? Optional.empty()
                : Optional.of("its process ended with status " + process.exitValue() + " and said:\n" + lastLines());
    }

    private String lastLines() {
        try {
            byte[] all = Files.readAllBytes(output);
            int begin = (int) Math.min(outputBegin, all.length);
            List<String> lines = new String(all, begin, all.length - begin, StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
        } catch (IOException e) {
            return output + " cannot be read: " + e;
        }
    }

    @Override
    public ConclaveServer server() {
        throw new UnsupportedOperationException("server " + id + " is not in this JVM, but process " + process.pid());
    }

    @Override
    public void pause() {
        stopped = Optional.of(StopSignal.send(process.pid()));
    }

    @Override
    public void resume() {
        stopped.ifPresent(StopSignal::end);
        stopped = Optional.empty();
    }

    /** Through the handle, since the process itself would have its input closed as well, which ends it at once. */
    @Override
    public void stop() {
        process.toHandle().destroy();
        try {
            process.onExit().get(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException(
                    "server " + id + " had not ended " + STOP_LIMIT.toSeconds()
                            + " s after it was asked to, and was killed",
                    e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("server " + id + " cannot be waited for: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(
                    "interrupted while waiting for the end of server " + id + ", which was killed", e);
        } finally {
            process.destroyForcibly();
        }
    }

    @Override
    public void kill() {
        process.destroyForcibly().onExit().join();
        stopped.ifPresent(StopSignal::forget);
    }

    @Override
    public String toString() {
        return "process " + process.pid() + " "
                + status().map(ServerStatus::toString).orElse("does not serve");
    }
}
