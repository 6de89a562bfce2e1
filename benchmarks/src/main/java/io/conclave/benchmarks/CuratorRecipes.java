package io.conclave.benchmarks;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's recipes. */
final class CuratorRecipes implements RecipeClient {
    private static final int CONNECT_SECONDS = 15;
    private static final int PATIENCE_SECONDS = 30;

    private final CuratorFramework framework;

    CuratorRecipes(String hostAndPort) {
        framework = CuratorFrameworkFactory.newClient(hostAndPort, new ExponentialBackoffRetry(100, 5));
        framework.start();
        try {
            if (!framework.blockUntilConnected(CONNECT_SECONDS, TimeUnit.SECONDS)) {
                throw new BenchmarkException("Curator did not connect to " + hostAndPort);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException("interrupted", e);
        }
    }

    @Override
    public Mutex mutex(String path, boolean awaitRelease) {
        InterProcessMutex mutex = new InterProcessMutex(framework, path);
        return () -> {
            mutex.acquire();
            return mutex::release;
        };
    }

    @Override
    public void campaign(String path, Runnable elected) {
        LeaderLatch latch = new LeaderLatch(framework, path);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                elected.run();
            }

            @Override
            public void notLeader() {
                // its session is about to be closed
            }
        });
        try {
            latch.start();
        } catch (Exception e) {
            throw new BenchmarkException("cannot campaign", e);
        }
    }

    @Override
    public Crossing doubleBarrier(String path, int participants) {
        DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(framework, path, participants);
        return new Crossing() {
            @Override
            public void enter() throws Exception {
                check(barrier.enter(PATIENCE_SECONDS, TimeUnit.SECONDS));
            }

            @Override
            public void leave() throws Exception {
                check(barrier.leave(PATIENCE_SECONDS, TimeUnit.SECONDS));
            }

            private void check(boolean passed) {
                if (!passed) {
                    throw new BenchmarkException("the double barrier did not open in " + PATIENCE_SECONDS + " s");
                }
            }
        };
    }

    @Override
    public void close() {
        framework.close();
    }
}
