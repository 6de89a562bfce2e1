package io.conclave.server;

import io.conclave.client.WireBackend;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.contract.BackendContract;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a stand-alone, durable server over TCP. */
class TcpContractTest extends BackendContract {
    @TempDir
    private static Path directory;

    private static ConclaveServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start(TestServer.config()
                .dataDirectory(Optional.of(directory))
                .maxConnectionsPerAddress(0)
                .containerCheckIntervalMs(200)
                .build());
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
        return WireBackend.open(ConnectString.parse("conclave://localhost:" + TestServer.port(server)), options);
    }
}
