package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.entry.LogBatch;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** What recovery gives away. The state is a number that stands for all entries before. */
final class Replay implements RecoveryTarget {
    SnapshotPosition snapshot = Snapshots.NONE;
    long state;
    final List<LogBatch> batches = new ArrayList<>();

    /** The state after so many more entries. */
    static long stateAfter(long before, LogBatch batch) {
        return 31 * before + Model.fingerprint(batch).hashCode();
    }

    static StateSnapshot snapshotOf(long state) {
        return out -> out.write(ByteBuffer.allocate(8).putLong(state).array());
    }

    static long read(InputStream in) throws IOException {
        long state = new DataInputStream(in).readLong();
        assertEquals(-1, in.read(), "the snapshot goes on behind its end");
        return state;
    }

    @Override
    public void restore(SnapshotPosition position, InputStream in) throws IOException {
        assertEquals(Snapshots.NONE, snapshot, "restored twice");
        assertEquals(List.of(), batches, "restored after the first batch");
        snapshot = position;
        state = read(in);
    }

    @Override
    public void committed(LogBatch batch) {
        assertEquals(lastIndex() + 1, batch.firstIndex());
        batches.add(batch);
        state = stateAfter(state, batch);
    }

    long lastIndex() {
        return batches.isEmpty()
                ? snapshot.lastIndex()
                : batches.get(batches.size() - 1).lastIndex();
    }
}
