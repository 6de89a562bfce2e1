package io.conclave.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's views. */
final class CuratorViews implements ViewClient {
    private static final int CONNECT_SECONDS = 15;

    private final CuratorFramework framework;

    CuratorViews(String hostAndPort) {
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
    public Joined join(String path, String id) {
        GroupMember member = new GroupMember(framework, path, id, new byte[] {1});
        member.start();
        return new Joined() {
            @Override
            public int seen() {
                return member.getCurrentMembers().size();
            }

            @Override
            public void leave() {
                member.close();
            }
        };
    }

    @Override
    public void cache(String parent, Runnable loaded, IntConsumer changed) {
        CuratorCache cache = CuratorCache.build(framework, parent);
        cache.listenable()
                .addListener(CuratorCacheListener.builder()
                        .forInitialized(loaded)
                        .forChanges((before, after) -> changed.accept(1))
                        .build());
        cache.start();
    }

    @Override
    public void close() {
        framework.close();
    }
}
