package io.conclave.proofs.ensemble;

import io.conclave.proofs.faults.ChildJvm;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server of an ensemble, as a process of its own that can be killed, stopped, and started again on the same ports and
 * directory. Used by one thread at a time.
 */
public final class Member {
    static final String START = "start-foreground";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final int number;
    private final Path home;
    private final InetSocketAddress clientAddress;
    private final String peerAddress;
    private final CommandLine commandLine;
    private @Nullable Path classes;
    private Duration ahead = Duration.ZERO;
    private @Nullable Process process;
    private boolean isPaused;
    private int starts;
    private int commands;

    /** How a server describes itself in its answer to {@code srvr}. */
    public enum Mode {
        LEADER,
        FOLLOWER,
        OBSERVER,
        /** It does not answer, or serves no client at the moment. */
        NOT_SERVING
    }

    /** How a command of this kind's launcher is started for this member. */
    interface CommandLine {
        /**
         * The command line that starts the server, or that of a word such as {@code members} with what follows the
         * configuration file.
         */
        List<String> of(String word, List<String> arguments);
    }

    Member(int number, Path home, InetSocketAddress clientAddress, String peerAddress, CommandLine commandLine) {
        this.number = number;
        this.home = home;
        this.clientAddress = clientAddress;
        this.peerAddress = peerAddress;
        this.commandLine = commandLine;
    }

    /** Its number in the configuration, from 1. */
    public int number() {
        return number;
    }

    /** What a client of ZooKeeper calls a connect string. */
    public String hostPort() {
        return host() + ":" + clientPort();
    }

    /** Where clients reach it. */
    public String host() {
        return clientAddress.getHostString();
    }

    /** Where clients reach it. */
    public int clientPort() {
        return clientAddress.getPort();
    }

    /** The text by which an operator adds it to the others: {@code server.4=host:peerPort:participant;clientPort}. */
    public String line(String role) {
        return "server." + number + "=" + peerAddress + ":" + role + ";" + clientPort();
    }

    /** What it is started with from now on: these classes in front of the present ones; null for the present ones. */
    public void version(@Nullable Path newClasses) {
        classes = newClasses;
    }

    /** By how much its wall clock is ahead from its next start on; the time that passes is the machine's. */
    public void clockAhead(Duration value) {
        ahead = value;
    }

    /** Edits its configuration file: one line has this key, and this value; it counts from its next start on. */
    public void configure(String key, Object value) throws IOException {
        Path file = home.resolve("zoo.cfg");
        List<String> lines = new ArrayList<>(Files.readAllLines(file));
        lines.removeIf(line -> line.startsWith(key + "="));
        lines.add(key + "=" + value);
        Files.write(file, lines);
    }

    private List<String> commandOf(String word, List<String> arguments) {
        List<String> command = new ArrayList<>(commandLine.of(word, arguments));
        if (word.equals(START) && !ahead.isZero()) {
            command.replaceAll(
                    part -> part.equals(EnsembleKind.CONCLAVE.mainClass()) ? OtherClockServer.class.getName() : part);
            command.add(command.indexOf("-cp"), "-D" + OtherClockServer.AHEAD_MS + "=" + ahead.toMillis());
        }
        Path first = classes;
        if (first != null) {
            command.replaceAll(part -> part.equals(ChildJvm.CLASS_PATH) ? first + File.pathSeparator + part : part);
        }
        return command;
    }

    /** Starts the process; it serves when it has found the others. */
    public void start() {
        start(List.of());
    }

    /** The same with more options of the JVM, which win. */
    public void start(List<String> jvmOptions) {
        if (isAlive()) {
            throw new IllegalStateException(this + " runs already");
        }
        starts++;
        List<String> command = commandOf(START, List.of());
        command.addAll(command.indexOf("-cp"), jvmOptions);
        process = run(command, logFile());
    }

    static Process run(List<String> command, Path output) {
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** kill -9; returns when it is gone. */
    public void kill() throws InterruptedException {
        process().destroyForcibly().waitFor();
        isPaused = false;
    }

    /** SIGTERM; returns its exit status when it is gone. */
    public int terminate() throws InterruptedException {
        process().destroy();
        if (!process().waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException(this + " does not end on SIGTERM:\n" + log());
        }
        return process().exitValue();
    }

    /** SIGSTOP. */
    public void pause() {
        signal("STOP");
        isPaused = true;
    }

    /** SIGCONT. */
    public void resume() {
        signal("CONT");
        isPaused = false;
    }

    private void signal(String name) {
        ChildJvm.signal(process(), name);
    }

    /** Whether its process exists, stopped or not. */
    public boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** Whether it was sent a SIGSTOP and no SIGCONT since. */
    public boolean isPaused() {
        return isPaused;
    }

    /** What it says that it is. Blocks for up to two seconds. */
    public Mode mode() {
        if (!isAlive() || isPaused) {
            return Mode.NOT_SERVING;
        }
        return ask("srvr")
                .flatMap(answer -> FourLetterWord.field(answer, "Mode"))
                .map(Member::parse)
                .orElse(Mode.NOT_SERVING);
    }

    private static Mode parse(String mode) {
        return switch (mode) {
            case "leader" -> Mode.LEADER;
            case "follower" -> Mode.FOLLOWER;
            case "observer" -> Mode.OBSERVER;
            default -> Mode.NOT_SERVING;
        };
    }

    /** Asks it a four-letter word; empty if there is no answer within a second. Blocks. */
    public Optional<String> ask(String word) {
        return FourLetterWord.ask(clientAddress, word);
    }

    /**
     * Runs a command of the launcher on this member's configuration, such as {@code members} or {@code remove 3}; for
     * kinds that have them. Blocks until it is done.
     *
     * @return what it has printed
     * @throws IllegalStateException with what it has printed, if it failed
     */
    public String command(String word, String... arguments) {
        Process command = begin(word, arguments);
        Path output = home.resolve("command-" + commands + ".log");
        try {
            if (!command.waitFor(2 * PATIENCE.toMillis(), TimeUnit.MILLISECONDS) || command.exitValue() != 0) {
                command.destroyForcibly();
                throw new IllegalStateException(word + " on " + this + " failed:\n" + ChildJvm.textOf(output));
            }
        } catch (InterruptedException e) {
            command.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        return ChildJvm.textOf(output);
    }

    /** Begins such a command, and leaves it alone. */
    public Process begin(String word, String... arguments) {
        return run(commandOf(word, List.of(arguments)), home.resolve("command-" + ++commands + ".log"));
    }

    /**
     * Deletes all that it keeps on disk but the file that says its number, as if it had been given a new disk. It must
     * not run.
     */
    public void wipe() throws IOException {
        if (isAlive()) {
            throw new IllegalStateException(this + " runs");
        }
        Path data = home.resolve("data");
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!file.equals(data) && !file.equals(data.resolve("myid"))) {
                    Files.delete(file);
                }
            }
        }
    }

    /** The id of its process. */
    public long pid() {
        return process().pid();
    }

    /** Processor time that its process has used so far; zero if the system does not tell. */
    public Duration processorTime() {
        return process().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /**
     * Processor time that the threads of its process with this name have used so far, which a busy machine does not
     * make longer; zero if the system does not tell.
     */
    public Duration processorTime(String thread) {
        Path tasks = Path.of("/proc/" + pid() + "/task");
        if (!Files.exists(tasks)) {
            return Duration.ZERO;
        }
        try (Stream<Path> all = Files.list(tasks)) {
            return Duration.ofNanos(all.filter(task -> read(task, "comm").equals(thread))
                    .map(task -> read(task, "schedstat"))
                    .filter(times -> !times.isEmpty())
                    .mapToLong(times -> Long.parseLong(times.split(" ")[0]))
                    .sum());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Empty if the thread has ended. */
    private static String read(Path task, String what) {
        try {
            return Files.readString(task.resolve(what)).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** What it has written to its console since its last start. */
    public String log() {
        return ChildJvm.textOf(logFile());
    }

    private Path logFile() {
        return home.resolve("member-" + number + "-" + starts + ".log");
    }

    private Process process() {
        if (process == null) {
            throw new IllegalStateException(this + " was never started");
        }
        return process;
    }

    /** Kills it if it still runs. */
    void end() {
        if (process != null) {
            process.destroyForcibly();
            process.onExit().join();
        }
    }

    @Override
    public String toString() {
        return "member " + number;
    }
}
