package io.conclave.proofs.contract;

import io.conclave.proofs.interop.ApacheZooKeeper;
import io.conclave.proofs.interop.ServerUnderTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class ApacheZooKeeperLockContractIT extends ServerLockContract {
    private static ServerUnderTest server;

    @BeforeAll
    static void startServer() {
        server = new ApacheZooKeeper();
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
