package io.conclave.benchmarks;

import io.conclave.cache.MirrorChanges;
import io.conclave.config.ChildrenCache;
import io.conclave.coordinator.Coordinator;
import io.conclave.membership.Group;
import io.conclave.membership.GroupView;
import io.conclave.membership.Membership;
import io.conclave.node.DataCodec;
import java.util.function.IntConsumer;

/** This project's views. */
final class ConclaveViews implements ViewClient {
    private final Coordinator coordinator;

    ConclaveViews(String hostAndPort) {
        coordinator = Coordinator.connect("zookeeper://" + hostAndPort);
    }

    @Override
    public Joined join(String path, String id) {
        Group<byte[]> group = Group.at(coordinator, path, DataCodec.BYTES);
        GroupView<byte[]> view = group.view();
        Membership<byte[]> membership;
        try {
            membership = group.join(id, new byte[] {1});
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException("interrupted", e);
        }
        return new Joined() {
            @Override
            public int seen() {
                return view.snapshot().size();
            }

            @Override
            public void leave() {
                view.close();
                membership.close();
            }
        };
    }

    @Override
    public void cache(String parent, Runnable loaded, IntConsumer changed) {
        ChildrenCache cache = ChildrenCache.at(coordinator, parent);
        cache.onChange(changes -> tell(changes, loaded, changed));
    }

    private static void tell(MirrorChanges changes, Runnable loaded, IntConsumer changed) {
        if (changes.since() == 0) {
            loaded.run();
        } else {
            changed.accept(changes.changes().size());
        }
    }

    @Override
    public void close() {
        coordinator.close();
    }
}
