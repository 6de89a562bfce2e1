package io.conclave.ensemble;

import io.conclave.client.WireBackend;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.contract.BackendContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on an ensemble, through a server that does not lead. */
class EnsembleContractTest extends BackendContract {
    private static ConclaveEnsemble ensemble;
    private static String follower;

    @BeforeAll
    static void start() {
        ensemble = ConclaveEnsemble.builder()
                .containerCheckIntervalMs(1_000)
                .syncLimitTicks(600) // a busy machine may take seconds to elect a leader
                .start();
        follower = ensemble.connectString(ensemble.follower());
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    /** On the machine's clock, which goes on while a busy machine keeps both ends from running. */
    @Override
    protected Duration sessionTimeout() {
        return Duration.ofSeconds(30);
    }

    @Override
    protected Backend openBackend(BackendOptions options) {
        return WireBackend.open(ConnectString.parse(follower), options);
    }
}
