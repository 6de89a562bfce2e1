package io.conclave.client;

import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.contract.BackendContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** What every backend promises, on a real Apache ZooKeeper. */
class ApacheZooKeeperContractTest extends BackendContract {
    private static ApacheZooKeeper zooKeeper;

    @BeforeAll
    static void startServer() {
        zooKeeper = ApacheZooKeeper.start();
    }

    @AfterAll
    static void stopServer() {
        zooKeeper.close();
    }

    @Override
    protected Backend openBackend(BackendOptions options) {
        return WireBackend.open(ConnectString.parse(zooKeeper.url()), options);
    }
}
