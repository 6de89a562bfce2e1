package io.conclave.consensus.core;

import static io.conclave.consensus.core.CoreBench.cluster;
import static io.conclave.consensus.core.CoreBench.only;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.core.PeerMessage.ReadIndexRequest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A read index whose note the leader's application did not understand is not given: its sender would count on it. */
class NotesOfReadIndexesTest {
    private final CoreBench bench = new CoreBench(0, false, cluster(3, 3));

    private List<ReadIndexReply> repliesBehind(ReadIndexRequest request, boolean understood) {
        bench.lead();
        bench.receive(2, new AppendReply(1, true, 1, 0, 0, 0));
        bench.core.receive(bench.nowMs, 3, request);
        CoreOutput output = bench.core.take();
        assertEquals(1, output.notes().size());
        if (!understood) {
            bench.core.noteNotUnderstood(output.notes().get(0));
        }
        bench.sent();
        return only(ReadIndexReply.class, bench.receive(2, new AppendReply(1, true, 1, 0, 0, Long.MAX_VALUE / 2)));
    }

    @Test
    void aNoteThatWasUnderstoodIsConfirmed() {
        assertEquals(
                1, repliesBehind(new ReadIndexRequest(7, new byte[] {1}), true).size());
    }

    @Test
    void aNoteThatWasNotUnderstoodIsNeverConfirmed() {
        assertEquals(List.of(), repliesBehind(new ReadIndexRequest(7, new byte[] {1}), false));
    }

    @Test
    void itIsGivenOutAgainWhenItsSenderAsksAgain() {
        repliesBehind(new ReadIndexRequest(7, new byte[] {1}), false);
        bench.core.receive(bench.nowMs, 3, new ReadIndexRequest(7, new byte[] {1}));
        assertEquals(1, bench.core.take().notes().size());
    }
}
