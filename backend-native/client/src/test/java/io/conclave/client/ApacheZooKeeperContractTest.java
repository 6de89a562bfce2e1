package io.conclave.client;

import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.Capability;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.contract.BackendContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of every backend, on a real Apache ZooKeeper. */
class ApacheZooKeeperContractTest extends BackendContract {
    private static ApacheZooKeeper zooKeeper;

    @BeforeAll
    static void startServer() {
        zooKeeper = ApacheZooKeeper.startWithTimesToLive();
    }

    /** It is switched on here, which the client cannot know. */
    @Override
    protected boolean offers(Capability capability) {
        return capability == Capability.TTL || super.offers(capability);
    }

    @AfterAll
    static void stopServer() {
        zooKeeper.close();
    }

    /** Of a server in this JVM, which a busy machine may keep from answering for seconds. */
    @Override
    protected Duration sessionTimeout() {
        return Duration.ofSeconds(30);
    }

    @Override
    protected Backend openBackend(BackendOptions options) {
        return WireBackend.open(ConnectString.parse(zooKeeper.url()), options);
    }
}
