package io.conclave.ensemble;

import io.conclave.consensus.LogException;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A server of an ensemble for tests as a process: serves until a signal ends it in order, or until the JVM that started
 * it is gone, which it notices by the end of its standard input.
 */
final class ServerMain {
    /** Says in the server's output that it ended in order. */
    static final String STOPPED = "Conclave has ended in order";

    private static final int FAILED = 1;

    private ServerMain() {}

    /** @param arguments the configuration file, then {@code id=host:port} for each member that is reached by a proxy */
    public static void main(String[] arguments) throws IOException {
        ServerConfig file = ConfigFile.read(Path.of(arguments[0]));
        ServerConfig config = file.withEnsemble(file.ensemble().withDialInstead(proxies(arguments)));
        CompletableFuture<ConclaveServer> started = new CompletableFuture<>();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(started), "conclave-shutdown"));
        try {
            started.complete(ConclaveServer.start(config, TimeSource.system(), ServerMain::halt));
        } catch (RuntimeException e) {
            started.completeExceptionally(e);
            throw e;
        }
        while (System.in.read() >= 0) {
            // input has no meaning; only its end has
        }
        Runtime.getRuntime().halt(FAILED);
    }

    /** In order even if the signal comes at the very moment when the server begins to serve. */
    private static void close(CompletableFuture<ConclaveServer> started) {
        started.thenAccept(server -> {
                    server.close();
                    System.out.println(STOPPED);
                })
                .exceptionally(notStarted -> null)
                .join();
    }

    private static Map<Integer, InetSocketAddress> proxies(String[] arguments) {
        Map<Integer, InetSocketAddress> proxies = new HashMap<>();
        for (int i = 1; i < arguments.length; i++) {
            int equals = arguments[i].indexOf('=');
            int colon = arguments[i].lastIndexOf(':');
            proxies.put(
                    Integer.parseInt(arguments[i].substring(0, equals)),
                    new InetSocketAddress(
                            arguments[i].substring(equals + 1, colon),
                            Integer.parseInt(arguments[i].substring(colon + 1))));
        }
        return proxies;
    }

    /** Memory and disk may disagree: nothing else may run in this process. */
    private static void halt(LogException cause) {
        System.err.println("The log has failed, the process ends: " + cause.getMessage());
        System.err.flush();
        Runtime.getRuntime().halt(FAILED);
    }
}
