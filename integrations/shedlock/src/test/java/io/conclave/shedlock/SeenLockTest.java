package io.conclave.shedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.node.Bytes;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Check;
import io.conclave.request.Delete;
import io.conclave.request.GetData.NodeData;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SeenLockTest {
    private static final ShedLockNodes NODES = ShedLockNodes.of(NodePath.of("/shedlock"), "report");

    private static SeenLock seen(Optional<NodeData> record) {
        return new SeenLock(NODES, record, Optional.empty(), Optional.of(node("owner", 0)));
    }

    private static NodeData node(String text, int version) {
        return new NodeData(Bytes.ofText(text), new NodeStat(1, 1, 1, 0, 0, version, 0, 0, 7, text.length(), 0));
    }

    /** Then the next look, behind a sync, sees all of it. */
    @Test
    void whatIsWrittenBetweenTheReadsOfALookIsNotUndoneByThatLook() {
        assertEquals(List.of(), seen(Optional.empty()).withoutHolder("owner"));
    }

    @Test
    void theHolderOfAnEarlierTakeIsDeletedIfTheRecordIsStillTheSame() {
        SeenLock lock = seen(Optional.of(node("2026-01-01T00:00:00.000Z", 3)));
        assertEquals(List.of(new Check(NODES.record(), 3), Delete.of(NODES.holder())), lock.withoutHolder("owner"));
        assertEquals(List.of(), lock.withoutHolder("another"));
    }
}
