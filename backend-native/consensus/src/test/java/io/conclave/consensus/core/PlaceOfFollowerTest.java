package io.conclave.consensus.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import java.util.List;
import org.junit.jupiter.api.Test;

/** From where a follower is sent the log of the files when it falls behind the leader's memory. */
class PlaceOfFollowerTest {
    /** Of all entries, so that they fill the leader's memory by its count and not the heap. */
    private static final LogEntry ENTRY = new LogEntry(LogEntryKind.APPLICATION, Origin.NONE, new byte[1 << 20]);

    @Test
    void aFollowerThatFallsBehindTheMemoryIsSentWhatFollowsItsLastAcknowledgement() {
        CoreBench bench = new CoreBench(0, false, CoreBench.cluster(3, 3));
        bench.lead();
        bench.acknowledge(2, bench.core.status().lastIndex());
        bench.acknowledge(3, bench.core.status().lastIndex());
        long acknowledged = propose(bench);
        bench.acknowledge(3, acknowledged);

        while (!bench.core.isBehind(3)) {
            assertTrue(bench.core.status().lastIndex() < 1_000, "member 3 never falls behind the memory");
            propose(bench);
        }

        assertEquals(new EntryPlace(acknowledged, bench.core.status().term()), bench.core.placeOf(3));
    }

    /** One entry that member 2 acknowledges and that is applied at once. */
    private static long propose(CoreBench bench) {
        long index = bench.core.propose(bench.nowMs, 1, List.of(ENTRY));
        bench.sent();
        bench.acknowledge(2, index);
        bench.core.applied(index);
        bench.pass(1);
        return index;
    }
}
