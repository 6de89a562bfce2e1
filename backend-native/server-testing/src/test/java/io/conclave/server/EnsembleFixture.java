package io.conclave.server;

import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Three servers that serve reads without a leader, new for each test. */
abstract class EnsembleFixture {
    ConclaveEnsemble ensemble;

    @BeforeEach
    void start() {
        ensemble = ConclaveEnsemble.builder()
                .readOnlyMode(true)
                .electionTimeoutMs(500)
                .syncLimitTicks(30)
                .start();
    }

    @AfterEach
    void stop() {
        ensemble.close();
    }

    int port(int id) {
        return ensemble.server(id).clientPort().orElseThrow();
    }

    static ConnectRequest resume(ConnectResponse session, long lastZxid) {
        return new ConnectRequest(
                0, lastZxid, session.timeoutMs(), session.sessionId(), session.password(), false, true);
    }
}
