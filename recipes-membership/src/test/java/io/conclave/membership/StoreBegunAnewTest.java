package io.conclave.membership;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.SetData;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A store that comes back empty counts changes from the first one again. What a member remembers of the store before
 * must not stand against what is written now.
 */
class StoreBegunAnewTest {
    private static final Set<String> FOUR = Set.of("0", "1", "2", "3");
    private static final NodePath MUCH_WRITTEN = NodePath.of("/much-written");
    private static final PartitionListener NOBODY = new PartitionListener() {
        @Override
        public void acquired(PartitionGrant partition) {}

        @Override
        public void released(PartitionGrant partition, LossReason reason) {}
    };

    private final String name = UUID.randomUUID().toString();
    private final MemoryStore store = MemoryStore.named(name);
    private final List<Coordinator> coordinators = new ArrayList<>();

    @AfterEach
    void close() {
        coordinators.forEach(Coordinator::close);
        MemoryStore.forget(name);
    }

    private Coordinator connect() {
        Coordinator coordinator = Coordinator.connect("memory:" + name);
        coordinators.add(coordinator);
        return coordinator;
    }

    private PartitionShare join(String id) {
        return Partitioner.at(connect(), "/shards/anew", FOUR)
                .withQuietPeriod(Duration.ZERO)
                .join(id, NOBODY);
    }

    private void writeMuch() throws InterruptedException {
        Coordinator other = connect();
        other.execute(Create.of(MUCH_WRITTEN));
        for (int i = 0; i < 1_000; i++) {
            other.execute(SetData.of(MUCH_WRITTEN, new byte[0]));
        }
    }

    private static void awaitAllHeldEvenly(PartitionShare... shares) {
        await().until(() -> {
            Set<String> held = new TreeSet<>();
            int count = 0;
            int least = FOUR.size();
            for (PartitionShare share : shares) {
                Set<String> own = share.held().keySet();
                held.addAll(own);
                count += own.size();
                least = Math.min(least, own.size());
            }
            return count == FOUR.size() && held.equals(FOUR) && least >= FOUR.size() / shares.length;
        });
    }

    @Test
    void remainingShareHoldsThePartitionsOfOneThatLeaves() throws Exception {
        writeMuch();
        PartitionShare a = join("a");
        PartitionShare b = join("b");
        awaitAllHeldEvenly(a, b);
        store.faults().beginAnew();
        awaitAllHeldEvenly(a, b);
        a.close();
        awaitAllHeldEvenly(b);
    }

    @Test
    void shareThatJoinsGetsItsPart() throws Exception {
        writeMuch();
        PartitionShare a = join("a");
        PartitionShare b = join("b");
        awaitAllHeldEvenly(a, b);
        store.faults().beginAnew();
        PartitionShare c = join("c");
        awaitAllHeldEvenly(a, b, c);
        b.close();
        awaitAllHeldEvenly(a, c);
    }
}
