package io.conclave.proofs.interop;

import io.conclave.coordinator.Coordinator;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;

/** A server with a session of Curator's and one of ours, for tests of what the two do on one path. */
abstract class CuratorBesideOurs {
    static final Duration PATIENCE = Duration.ofSeconds(20);

    final ExecutorService threads = Executors.newCachedThreadPool();
    ServerUnderTest server;
    CuratorFramework curator;
    Coordinator coordinator;

    final void open(ServerKind kind) {
        server = kind.start();
        curator = CuratorFrameworkFactory.newClient(server.hostPort(), 10_000, 10_000, new RetryOneTime(100));
        curator.start();
        coordinator = Coordinator.connect(server.url());
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        curator.close();
        coordinator.close();
        server.close();
    }
}
