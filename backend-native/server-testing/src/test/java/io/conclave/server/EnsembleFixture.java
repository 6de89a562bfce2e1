package io.conclave.server;

import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Three servers that serve reads without a leader, new for each test. */
abstract class EnsembleFixture {
    /** So many that a busy machine has elected a leader long before. */
    static final int MANY_TICKS = 600;

    ConclaveEnsemble ensemble;

    @BeforeEach
    void start() {
        ensemble = ConclaveEnsemble.builder()
                .readOnlyMode(true)
                .electionTimeoutMs(500)
                .syncLimitTicks(syncLimitTicks())
                .start();
    }

    @AfterEach
    void stop() {
        ensemble.close();
    }

    /** After how many ticks without a leader a server sends its clients away. */
    int syncLimitTicks() {
        return MANY_TICKS;
    }

    int port(int id) {
        return ensemble.server(id).clientPort().orElseThrow();
    }

    static ConnectRequest resume(ConnectResponse session, long lastZxid) {
        return new ConnectRequest(
                0, lastZxid, session.timeoutMs(), session.sessionId(), session.password(), false, true);
    }
}
