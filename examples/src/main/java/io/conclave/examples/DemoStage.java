package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.launcher.Main;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Where a demo plays: a folder, a durable server and the actors, each a process of its own. Closing it ends them all.
 */
final class DemoStage implements AutoCloseable {
    static final Duration SESSION_TIMEOUT = Duration.ofMillis(Long.getLong("demo.sessionMs", 2_000));

    /**
     * A dead process's session ends at the timeout, counted from its last heartbeat; the server looks every half tick,
     * and a busy machine needs a moment.
     */
    static final long TOLERANCE_MS = Long.getLong("demo.toleranceMs", 1_000);

    private final Path folder;
    private final ChildProcess server;
    private final CompletableFuture<String> port = new CompletableFuture<>();
    private final List<DemoProcess> actors = new ArrayList<>();

    private DemoStage(Path folder) throws IOException {
        this.folder = folder;
        Path config = file("zoo.cfg");
        Files.writeString(config, "tickTime=500\nclientPort=0\ndataDir=" + file("data") + "\n");
        this.server = ChildProcess.start(this::onServerLine, Main.class, "start-foreground", config.toString());
    }

    static DemoStage open() throws Exception {
        DemoStage stage = new DemoStage(Files.createTempDirectory("conclave-demo"));
        try {
            stage.port.get(2, TimeUnit.MINUTES);
        } catch (Exception e) {
            stage.close();
            throw e;
        }
        System.out.println("A durable server is ready at " + stage.connectString() + "; session timeout "
                + SESSION_TIMEOUT.toMillis() + " ms");
        return stage;
    }

    private void onServerLine(String line) {
        if (line.startsWith("Conclave is ready on port ")) {
            port.complete(line.substring(line.lastIndexOf(' ') + 1));
        } else {
            System.out.println("server: " + line);
        }
    }

    String connectString() {
        return "conclave://127.0.0.1:" + port.join();
    }

    /** Connects as the demo's processes do. */
    static Coordinator connect(String connectString) {
        return Coordinator.builder(connectString)
                .sessionTimeout(SESSION_TIMEOUT)
                .connect();
    }

    Coordinator connect() {
        return connect(connectString());
    }

    Path file(String name) {
        return folder.resolve(name);
    }

    /**
     * Starts a process whose first two arguments are its name and the connect string; what it says is printed with its
     * name.
     */
    DemoProcess start(String name, Class<?> main, String... more) {
        return start(name, line -> System.out.println(name + ": " + line), main, more);
    }

    /** As the other one; what it says goes to the listener instead. */
    DemoProcess start(String name, Consumer<String> onLine, Class<?> main, String... more) {
        List<String> arguments = new ArrayList<>(List.of(name, connectString()));
        arguments.addAll(List.of(more));
        DemoProcess actor = new DemoProcess(name, onLine, main, arguments);
        actors.add(actor);
        return actor;
    }

    /** Says what was checked, or ends the demo. */
    static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException("Not so: " + what);
        }
        System.out.println("Checked: " + what);
    }

    /** Checks that what a killed process had came back as soon as its session may end. */
    static void checkCameBack(String what, long killedAtMs) {
        long gapMs = TimeSource.system().wallMillis() - killedAtMs;
        check(
                gapMs <= SESSION_TIMEOUT.toMillis() + TOLERANCE_MS,
                what + " " + gapMs + " ms after the kill; the session timeout is " + SESSION_TIMEOUT.toMillis()
                        + " ms");
    }

    @Override
    public void close() throws IOException {
        actors.forEach(DemoProcess::killUninterruptibly);
        server.terminate();
        server.awaitUninterruptibly();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
