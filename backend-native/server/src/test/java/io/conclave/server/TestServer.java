package io.conclave.server;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.ensemble.EnsembleLog;
import io.conclave.time.TimeSource;
import java.util.concurrent.CompletableFuture;

/** Servers on a free port for tests. */
final class TestServer {
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

    static ConclaveServer start(ServerConfig config, Disk disk, CompletableFuture<Throwable> failure) {
        return ConclaveServer.start(
                config, options -> EnsembleLog.on(disk, options), TimeSource.system(), failure::complete);
    }

    static int port(ConclaveServer server) {
        return server.clientPort().orElseThrow();
    }
}
