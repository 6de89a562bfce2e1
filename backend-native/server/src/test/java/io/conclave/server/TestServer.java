package io.conclave.server;

import io.conclave.connection.ClientLimit;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.ensemble.EnsembleLog;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Servers on a free port for tests. */
final class TestServer {
    private static final int MANY_TICKS = 1_000_000;

    private TestServer() {}

    static ServerConfig.Builder config() {
        return ServerConfig.builder()
                .clientPort(0)
                .clientPortAddress("localhost")
                .tickTimeMs(50)
                .maxSessionTimeoutMs(60_000);
    }

    static ConclaveServer start() {
        return start(config().build());
    }

    static ConclaveServer start(ServerConfig config) {
        return ConclaveServer.start(config, TimeSource.system(), cause -> {});
    }

    /**
     * A server on a manual clock. That goes faster than a busy machine runs threads, so what looks whether the log's
     * thread stands still is given time without end.
     */
    static ConclaveServer start(TimeSource manual) {
        return ConclaveServer.start(
                config().ensemble(EnsembleConfig.alone(1).withSyncLimitTicks(MANY_TICKS))
                        .build(),
                manual,
                cause -> {});
    }

    static ConclaveServer start(ServerConfig config, Disk disk, CompletableFuture<Throwable> failure) {
        return ConclaveServer.start(
                config, (options, loop) -> EnsembleLog.on(disk, options), TimeSource.system(), failure::complete);
    }

    /** With a limit for clients, and the command that tells what {@link #metric} returns. */
    static ConclaveServer limited(ClientLimit limit, long most) {
        return start(config().commandWhitelist(Set.of("mntr"))
                .clientLimit(limit, most)
                .build());
    }

    static int port(ConclaveServer server) {
        return server.clientPort().orElseThrow();
    }

    /** A number that the command mntr tells, which must be allowed. */
    static long metric(ConclaveServer server, String name) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
            socket.getOutputStream().write("mntr".getBytes(StandardCharsets.US_ASCII));
            String lines = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return lines.lines()
                    .filter(line -> line.startsWith(name + "\t"))
                    .map(line -> Long.parseLong(line.substring(name.length() + 1)))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
