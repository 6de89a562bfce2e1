package io.conclave.embedded;

import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.contract.BackendContract;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.io.TempDir;

/** The contract on {@code embedded:<directory>}; the backends of one test share its server. */
class DurableEmbeddedContractTest extends BackendContract {
    @TempDir
    private Path directory;

    /** On the machine's clock, which goes on while a busy machine keeps both ends from running. */
    @Override
    protected Duration sessionTimeout() {
        return Duration.ofSeconds(30);
    }

    @Override
    protected Backend openBackend(BackendOptions options) {
        return new EmbeddedBackendProvider().open(ConnectString.parse("embedded:" + directory), options);
    }

    @Override
    protected boolean deletesSoon() {
        return false;
    }
}
