package io.conclave.embedded;

import io.conclave.client.WireBackend;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.testkit.contract.BackendContract;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on a server in memory inside this JVM. */
class EmbeddedContractTest extends BackendContract {
    private static ConclaveServer server;

    @BeforeAll
    static void start() {
        server = ConclaveServer.start(ServerConfig.embedded(Optional.empty()), TimeSource.system(), cause -> {});
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** On the machine's clock, which goes on while a busy machine keeps both ends from running. */
    @Override
    protected Duration sessionTimeout() {
        return Duration.ofSeconds(30);
    }

    @Override
    protected Backend openBackend(BackendOptions options) {
        return WireBackend.local(server.address(), server.eventLoops(), options, () -> {});
    }

    @Override
    protected boolean deletesSoon() {
        return false;
    }
}
