package io.conclave.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.FullQueue;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A participant is inside, and the watch on its znode is refused at first, by the bound of the session's queue. */
class RefusedWatchTest {
    private static final NodePath PATH = NodePath.of("/barrier");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final FullQueue full = new FullQueue(store);
    private final Coordinator inside = full.client();
    private final Coordinator other =
            store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)).timeSource(new ManualTimeSource()));

    @Test
    void fullQueueWhenTheZnodeIsWrittenCostsNoPlace() throws Exception {
        Participation participation = DoubleBarrier.at(inside, PATH, 1).enter();
        full.settle();
        NodePath znode = PATH.child(other.execute(GetChildren.of(PATH)).names().stream()
                .filter(name -> !name.equals("ready"))
                .findFirst()
                .orElseThrow());
        faults.holdReplies(full.session());
        other.execute(SetData.of(znode, new byte[] {1}));
        full.releaseRepliesBeforeThoseOfAFlood(); // the event comes first
        full.settle();
        assertTrue(participation.isHeld());
        full.goOn();
        assertEquals(1, faults.watchCount(full.session()));
        other.execute(Delete.of(znode));
        assertEquals(LossReason.NODE_DELETED, participation.lost().get());
    }
}
