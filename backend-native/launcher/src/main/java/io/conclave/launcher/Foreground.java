package io.conclave.launcher;

import io.conclave.consensus.LogException;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** A server in this process. */
final class Foreground {
    /** Begins the line that says that clients are served. */
    static final String READY = "Conclave is ready on port ";

    private Foreground() {}

    static int serve(Console console, Path file, ServerConfig config, String none) {
        ServerFiles files = ServerFiles.of(config);
        ConclaveServer server;
        try {
            server = ConclaveServer.start(config, TimeSource.system(), Foreground::halt);
        } catch (RuntimeException e) {
            return console.fail("The server cannot start: " + e.getMessage());
        }
        int port = server.clientPort().orElseThrow();
        files.publish(port);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            server.close();
                            files.withdraw();
                        },
                        "conclave-shutdown"));
        if (!server.isServing()) {
            console.say("Conclave listens on port " + port + " and looks for a leader");
        }
        server.serving().thenRun(() -> console.say(READY + port));
        sleepUntilTheProcessEnds();
        return Main.DONE;
    }

    /** Memory and disk may disagree: no shutdown hook may run, and nothing else in this process. */
    private static void halt(LogException cause) {
        System.err.println("The log has failed, the process ends: " + cause.getMessage());
        System.err.flush();
        Runtime.getRuntime().halt(Main.FAILED);
    }

    private static void sleepUntilTheProcessEnds() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
