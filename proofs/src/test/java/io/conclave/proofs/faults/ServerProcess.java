package io.conclave.proofs.faults;

import io.conclave.launcher.Main;
import io.conclave.testkit.proxy.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A stand-alone server as a process of its own, that can be killed, stopped, and started again on the same port and
 * directory.
 */
final class ServerProcess implements AutoCloseable {
    private static final String READY = "Conclave is ready on port";
    private static final Duration START = Duration.ofSeconds(60);

    private final Path home;
    private final int port = FreePort.find();
    private final List<String> configuration = new ArrayList<>();
    private final List<String> jvmOptions = new ArrayList<>();
    private @Nullable Process process;
    private int starts;

    private ServerProcess(Path home, Path dataDirectory) {
        this.home = home;
        configuration.add("clientPort=" + port);
        configuration.add("dataDir=" + dataDirectory);
        configuration.add("preAllocSize=8192");
    }

    /** A server that keeps its data, configuration and logs under a directory; it is not started yet. */
    static ServerProcess in(Path home) {
        return in(home, home.resolve("data"));
    }

    /** The same with a data directory elsewhere. */
    static ServerProcess in(Path home, Path dataDirectory) {
        return new ServerProcess(home, dataDirectory);
    }

    /** Adds a line to its configuration. */
    ServerProcess with(String key, Object value) {
        configuration.add(key + "=" + value);
        return this;
    }

    /** Adds an option for its JVM. */
    ServerProcess withJvm(String option) {
        jvmOptions.add(option);
        return this;
    }

    int port() {
        return port;
    }

    String connectString() {
        return "conclave://127.0.0.1:" + port;
    }

    /** Starts it, and returns when it serves. */
    ServerProcess start() {
        launch();
        try {
            Awaitility.await()
                    .atMost(START)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> log().contains(READY) || !isAlive());
        } catch (ConditionTimeoutException e) {
            throw new IllegalStateException("the server is not ready after " + START + ":\n" + log(), e);
        }
        if (!isAlive()) {
            throw new IllegalStateException("the server ended with " + process().exitValue() + ":\n" + log());
        }
        return this;
    }

    /** Starts it although it is expected to give up; returns its exit status. */
    int startInVain() throws InterruptedException {
        launch();
        if (!process().waitFor(START.toSeconds(), TimeUnit.SECONDS)) {
            throw new IllegalStateException("the server goes on:\n" + log());
        }
        return process().exitValue();
    }

    private void launch() {
        if (isAlive()) {
            throw new IllegalStateException("the server runs already");
        }
        try {
            Path file = Files.write(home.resolve("zoo.cfg"), configuration);
            starts++;
            process = new ProcessBuilder(ChildJvm.command(jvmOptions, Main.class, "start-foreground", file.toString()))
                    .redirectErrorStream(true)
                    .redirectOutput(logFile().toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** kill -9; returns when it is gone. */
    void kill() throws InterruptedException {
        process().destroyForcibly().waitFor();
    }

    /** SIGTERM; returns its exit status when it is gone. */
    int terminate() throws InterruptedException {
        process().destroy();
        if (!process().waitFor(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the server does not end on SIGTERM:\n" + log());
        }
        return process().exitValue();
    }

    /** SIGSTOP. */
    void pause() {
        ChildJvm.signal(process(), "STOP");
    }

    /** SIGCONT. */
    void resume() {
        ChildJvm.signal(process(), "CONT");
    }

    boolean isAlive() {
        return process != null && process.isAlive();
    }

    long pid() {
        return process().pid();
    }

    /** What it has written to its console since its last start. */
    String log() {
        return ChildJvm.textOf(logFile());
    }

    private Path logFile() {
        return home.resolve("server-" + starts + ".log");
    }

    private Process process() {
        if (process == null) {
            throw new IllegalStateException("the server was never started");
        }
        return process;
    }

    /** Kills it if it still runs. */
    @Override
    public void close() {
        if (process != null) {
            process.destroyForcibly();
            process.onExit().join();
        }
    }
}
