package io.conclave.benchmarks;

import java.util.function.IntConsumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.nodes.GroupMember;

/** Curator's views. */
final class CuratorViews implements ViewClient {

    private final CuratorFramework framework;

    CuratorViews(String hostAndPort) {
        framework = CuratorConnection.open(hostAndPort);
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
