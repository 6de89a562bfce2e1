package io.conclave.launcher;

import io.conclave.consensus.LogException;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigException;
import io.conclave.server.ConfigFile;
import io.conclave.server.ServerConfig;
import io.conclave.server.ServerStartException;
import io.conclave.time.TimeSource;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * {@code conclave-server start-foreground <file>}: serves until a signal tells the process to end, which closes the log
 * in order. Exit status: that of the signal after an orderly end (143 for SIGTERM), 1 if the server could not start or
 * had to give up, 2 for a wrong command line or configuration.
 */
public final class Main {
    private static final int FAILED = 1;
    private static final int USAGE = 2;
    private static final String HOW_TO = "usage: conclave-server start-foreground <configuration file>";

    private Main() {}

    /** Called by the JVM. Returns only if the command line is wrong or the server could not start. */
    public static void main(String[] arguments) {
        int status = run(arguments, System.out, System.err);
        if (status != 0) {
            System.exit(status);
        }
    }

    static int run(String[] arguments, PrintStream out, PrintStream err) {
        if (arguments.length != 2 || !arguments[0].equals("start-foreground")) {
            err.println(problemOf(arguments) + "\n" + HOW_TO);
            return USAGE;
        }
        ServerConfig config;
        try {
            config = ConfigFile.read(Path.of(arguments[1]));
        } catch (ConfigException e) {
            err.println(e.getMessage());
            return USAGE;
        }
        try {
            serve(config, out);
            return 0;
        } catch (LogException | ServerStartException | UncheckedIOException e) {
            err.println("The server cannot start: " + e.getMessage());
            return FAILED;
        }
    }

    private static String problemOf(String[] arguments) {
        if (arguments.length == 0) {
            return "A command is missing.";
        }
        if (!arguments[0].equals("start-foreground")) {
            return "The command \"" + arguments[0] + "\" is unknown.";
        }
        return arguments.length == 1
                ? "start-foreground needs a configuration file."
                : "start-foreground takes one configuration file and nothing else.";
    }

    private static void serve(ServerConfig config, PrintStream out) {
        ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), Main::halt);
        Runtime.getRuntime().addShutdownHook(new Thread(server::close, "conclave-shutdown"));
        out.println("Conclave is ready on port " + server.clientPort().orElseThrow());
        out.flush();
        sleepUntilTheProcessEnds();
    }

    /** Memory and disk may disagree: no shutdown hook may run, and nothing else in this process. */
    private static void halt(LogException cause) {
        System.err.println("The log has failed, the process ends: " + cause.getMessage());
        System.err.flush();
        Runtime.getRuntime().halt(FAILED);
    }

    private static void sleepUntilTheProcessEnds() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
