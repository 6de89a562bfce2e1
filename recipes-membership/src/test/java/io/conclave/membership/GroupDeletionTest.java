package io.conclave.membership;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class GroupDeletionTest {
    private static final NodePath PATH = NodePath.of("/group");

    @Test
    void groupThatWasNeverThereIsNotDeletedByALostReply() throws InterruptedException {
        String name = UUID.randomUUID().toString();
        try (Coordinator coordinator = Coordinator.connect("memory:" + name)) {
            MemoryStore.named(name).faults().onNext(GetChildren.class::isInstance, RequestFate.DROP_AFTER);
            assertFalse(Group.at(coordinator, PATH, DataCodec.TEXT).delete());
        } finally {
            MemoryStore.forget(name);
        }
    }

    @Test
    void groupDeletedByTheServerOnceItIsEmptyIsReportedAsDeleted() throws InterruptedException {
        String name = UUID.randomUUID().toString();
        try (Coordinator coordinator = Coordinator.connect("memory:" + name)) {
            Group<String> group = Group.at(coordinator, PATH, DataCodec.TEXT);
            group.join("a", "payload");
            MemoryStore store = MemoryStore.named(name);
            store.faults().intercept((session, request, index) -> {
                if (request instanceof Delete delete && delete.path().equals(PATH)) {
                    store.faults().deleteAsOperator(PATH); // the server is quicker to delete the emptied container
                }
                return RequestFate.PROCEED;
            });
            assertTrue(group.delete());
            assertFalse(group.exists());
            assertFalse(group.delete());
        } finally {
            MemoryStore.forget(name);
        }
    }
}
