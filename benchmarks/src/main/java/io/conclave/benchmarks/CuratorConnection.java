package io.conclave.benchmarks;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Opens sessions of Curator's. */
final class CuratorConnection {
    private static final int CONNECT_SECONDS = 15;

    private CuratorConnection() {}

    /** Blocks until it is connected. */
    static CuratorFramework open(String hostAndPort) {
        CuratorFramework framework =
                CuratorFrameworkFactory.newClient(hostAndPort, new ExponentialBackoffRetry(100, 5));
        framework.start();
        try {
            if (!framework.blockUntilConnected(CONNECT_SECONDS, TimeUnit.SECONDS)) {
                throw new BenchmarkException("Curator did not connect to " + hostAndPort);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException("interrupted", e);
        }
        return framework;
    }
}
