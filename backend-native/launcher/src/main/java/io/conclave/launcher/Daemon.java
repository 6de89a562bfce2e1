package io.conclave.launcher;

import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** A server in a process of its own: started, ended and asked from here. */
final class Daemon {
    private static final int NOT_SERVING = 3;
    private static final Duration STOP_LIMIT = Duration.ofSeconds(60);
    private static final int ASK_LIMIT_MS = 5_000;
    private static final long POLL_MS = 50;

    /** What is read of the output of a server that starts. */
    private static final int MAX_OUTPUT_BYTES = 1 << 20;

    /** Of this command only: the server logs more. */
    private static final String LOG_OPTIONS = "-Dconclave.log.";

    /** The script gives their options to the server only: two processes cannot open the same port. */
    private static final List<String> SERVER_VARIABLES = List.of("JVM_FLAGS", "SERVER_JVMFLAGS");

    /** The new process reads them itself. */
    private static final List<String> JAVA_VARIABLES =
            List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

    /** Output of former runs that is kept in front of that of the next one. */
    private static final long MAX_OLD_OUTPUT_BYTES = 1 << 20;

    private Daemon() {}

    static int start(Console console, Path file, ServerConfig config, String none) {
        ServerFiles files = ServerFiles.of(config);
        Optional<ServerFiles.Running> running = files.running();
        if (running.isPresent()) {
            return console.fail("The server of " + files.directory() + " runs already, as process "
                    + running.get().process().pid());
        }
        try {
            Files.createDirectories(files.directory());
            long begin = beginOfOutput(files);
            Process process = new ProcessBuilder(command(file, files, System.getenv()))
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(
                            ProcessBuilder.Redirect.appendTo(files.output().toFile()))
                    .redirectErrorStream(true)
                    .start();
            return awaitReady(console, config, files, process, begin);
        } catch (IOException e) {
            return console.fail("The server cannot be started: " + e);
        }
    }

    /**
     * This very Java with the same options, where the server writes, and its own options, which come last and count.
     * Neither the end of the terminal nor a Ctrl-C there ends the server, though both are sent to it if a script has
     * called this command.
     */
    static List<String> command(Path file, ServerFiles files, Map<String, String> environment) {
        List<String> command = new ArrayList<>();
        command.addAll(List.of("sh", "-c", "trap '' HUP INT; exec \"$@\"", "conclave-server"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.removeIf(option -> option.startsWith(LOG_OPTIONS));
        command.removeAll(wordsOf(JAVA_VARIABLES, environment));
        command.add("-Dconclave.log.to=file");
        command.add("-Dconclave.log.file=" + files.log());
        command.add("-Dconclave.audit.file=" + files.auditLog());
        command.addAll(wordsOf(SERVER_VARIABLES, environment));
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(Main.class.getName());
        command.add("start-foreground");
        command.add(file.toString());
        return command;
    }

    /** As a shell splits them. */
    private static List<String> wordsOf(List<String> variables, Map<String, String> environment) {
        return variables.stream()
                .map(environment::get)
                .filter(Objects::nonNull)
                .flatMap(value -> Stream.of(value.split("\\s+", -1)))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    private static int awaitReady(Console console, ServerConfig config, ServerFiles files, Process process, long begin)
            throws IOException {
        long limitMs = Math.max(10_000L, (long) config.ensemble().initLimitTicks() * config.tickTimeMs());
        for (long waitedMs = 0; waitedMs < limitMs; waitedMs += POLL_MS) {
            String output = outputSince(files, begin);
            Optional<String> ready = output.lines()
                    .filter(line -> line.startsWith(Foreground.READY))
                    .findFirst();
            if (ready.isPresent()) {
                console.say(ready.get() + ", process " + process.pid() + ", output in " + files.output() + ", log in "
                        + files.log());
                return Main.DONE;
            }
            if (!process.isAlive()) {
                return console.fail(output.strip() + "\nThe server has ended; all of its output is in " + files.output()
                        + ", its log in " + files.log());
            }
            pause();
        }
        console.say("The server runs as process " + process.pid() + " but does not serve yet: it has no leader. Are "
                + "most of the others running, and was one of them bootstrapped with init? Its log is in "
                + files.log());
        return Main.DONE;
    }

    private static long beginOfOutput(ServerFiles files) throws IOException {
        if (!Files.exists(files.output())) {
            return 0;
        }
        if (Files.size(files.output()) > MAX_OLD_OUTPUT_BYTES) {
            Files.move(files.output(), files.olderOutput(), StandardCopyOption.REPLACE_EXISTING);
            return 0;
        }
        return Files.size(files.output());
    }

    private static String outputSince(ServerFiles files, long begin) throws IOException {
        try (SeekableByteChannel output = Files.newByteChannel(files.output())) {
            InputStream since = Channels.newInputStream(output.position(Math.min(begin, output.size())));
            return new String(since.readNBytes(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8);
        }
    }

    private static void pause() {
        CountDownLatch later = new CountDownLatch(1);
        TimeSource.system().schedule(Duration.ofMillis(POLL_MS), later::countDown);
        try {
            later.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static int stop(Console console, Path file, ServerConfig config, String none) {
        ServerFiles files = ServerFiles.of(config);
        Optional<ServerFiles.Running> running = files.running();
        if (running.isEmpty()) {
            console.say("No server of " + files.directory() + " runs.");
            return Main.DONE;
        }
        return end(console, running.get().process());
    }

    static int end(Console console, ProcessHandle process) {
        if (!process.destroy() && process.isAlive()) {
            return console.fail("Process " + process.pid() + " runs still: this user may not end it. Run the command as"
                    + " the server's user");
        }
        try {
            process.onExit().get(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            console.say("The server has ended in order.");
            return Main.DONE;
        } catch (TimeoutException e) {
            return console.fail("Process " + process.pid() + " was asked to end and runs still, after "
                    + STOP_LIMIT.toSeconds() + " s");
        } catch (ExecutionException e) {
            return console.fail("Process " + process.pid() + " cannot be waited for: " + e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Main.FAILED;
        }
    }

    static int status(Console console, Path file, ServerConfig config, String none) {
        ServerFiles files = ServerFiles.of(config);
        Optional<ServerFiles.Running> running = files.running();
        if (running.isEmpty()) {
            return console.fail("No server of " + files.directory() + " runs.");
        }
        InetSocketAddress address = address(config, running.get().port());
        try {
            String answer = ask(address, "srvr").strip();
            console.say(answer);
            return answer.contains("\nMode: ") ? Main.DONE : NOT_SERVING;
        } catch (IOException e) {
            return console.fail("Process " + running.get().process().pid() + " runs, but does not answer on port "
                    + running.get().port() + ": " + e);
        }
    }

    /** Where a server on this machine is reached. */
    static InetSocketAddress address(ServerConfig config, int port) {
        return new InetSocketAddress(config.clientPortAddress().orElse("localhost"), port);
    }

    private static String ask(InetSocketAddress address, String word) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(address, ASK_LIMIT_MS);
            socket.setSoTimeout(ASK_LIMIT_MS);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
