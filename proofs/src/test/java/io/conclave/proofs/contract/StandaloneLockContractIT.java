package io.conclave.proofs.contract;

import io.conclave.proofs.interop.ServerUnderTest;
import io.conclave.proofs.interop.StandaloneConclave;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class StandaloneLockContractIT extends ServerLockContract {
    private static ServerUnderTest server;

    @BeforeAll
    static void startServer() {
        server = new StandaloneConclave();
    }

    @AfterAll
    static void closeServer() {
        server.close();
    }

    @Override
    ServerUnderTest server() {
        return server;
    }
}
