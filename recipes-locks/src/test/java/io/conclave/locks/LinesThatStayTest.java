package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.testkit.memory.MemoryStore;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which lines go when nobody stands in them: kazoo makes the znode of a lock once, and never looks for it again. */
@Timeout(300)
class LinesThatStayTest {
    private static final List<String> LINES = List.of("/mutex", "/shared", "/one", "/two");

    private static List<Boolean> linesThatStay(LockLayout layout) throws InterruptedException {
        String store = "lines-that-stay-" + layout;
        try (Coordinator coordinator = Coordinator.connect("memory:" + store)) {
            DistributedLock.at(coordinator, "/mutex")
                    .withLayout(layout)
                    .acquire()
                    .close();
            SharedLock shared = SharedLock.at(coordinator, "/shared").withLayout(layout);
            shared.readLock().acquire().close();
            shared.writeLock().acquire().close();
            MultiLock.of(
                            DistributedLock.at(coordinator, "/one").withLayout(layout),
                            DistributedLock.at(coordinator, "/two").withLayout(layout))
                    .acquire()
                    .close();
            MemoryStore.named(store).faults().deleteEmptyContainers();
            List<Boolean> stay = new ArrayList<>();
            for (String line : LINES) {
                stay.add(coordinator.execute(Exists.of(NodePath.of(line))).isPresent());
            }
            return stay;
        } finally {
            MemoryStore.forget(store);
        }
    }

    @Test
    void linesOfKazooStayAndThoseOfCuratorGo() throws InterruptedException {
        assertEquals(List.of(true, true, true, true), linesThatStay(LockLayout.KAZOO));
        assertEquals(List.of(false, false, false, false), linesThatStay(LockLayout.CURATOR));
    }
}
