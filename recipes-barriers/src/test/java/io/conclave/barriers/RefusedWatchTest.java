package io.conclave.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A participant is inside, and the watch on its znode is refused at first, by the bound of the session's queue. */
class RefusedWatchTest {
    private static final NodePath PATH = NodePath.of("/barrier");
    private static final int BOUND = 20;

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator inside = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofSeconds(30))
            .timeSource(clock)
            .maxQueuedRequests(BOUND)
            .connect();
    private final Coordinator other = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofSeconds(30))
            .timeSource(new ManualTimeSource())
            .connect();

    @AfterEach
    void close() {
        faults.clear();
        inside.close();
        other.close();
        MemoryStore.forget(store);
    }

    /** What was sent before is answered when this returns, and so is what follows from it. */
    private void settle() throws Exception {
        for (int i = 0; i < 4; i++) {
            inside.execute(Exists.of(NodePath.ROOT));
        }
    }

    @Test
    void fullQueueWhenTheZnodeIsWrittenCostsNoPlace() throws Exception {
        Participation participation = DoubleBarrier.at(inside, PATH, 1).enter();
        settle();
        NodePath znode = PATH.child(other.execute(GetChildren.of(PATH)).names().stream()
                .filter(name -> !name.equals("ready"))
                .findFirst()
                .orElseThrow());
        long session = RecipeAccess.session(inside).id();
        faults.holdReplies(session);
        other.execute(SetData.of(znode, new byte[] {1}));
        List<CompletableFuture<?>> flood = new ArrayList<>();
        for (int i = 0; i < BOUND; i++) {
            flood.add(inside.submit(Exists.of(NodePath.ROOT)));
        }
        faults.releaseReplies(session); // the event comes first, and finds the queue full
        for (CompletableFuture<?> one : flood) {
            one.get();
        }
        settle();
        assertTrue(participation.isHeld());
        clock.advance(Duration.ofSeconds(1));
        settle();
        assertEquals(1, faults.watchCount(session));
        other.execute(Delete.of(znode));
        assertEquals(LossReason.NODE_DELETED, participation.lost().get());
    }
}
