package io.conclave.consensus.member;

import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.store.SnapshotPosition;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The last committed batches that recovery has read, up to a bound: with them a member that leads after a restart
 * spares those that are a little behind a snapshot.
 */
final class RecoveredTail {
    private final long maxBytes;
    private final Deque<LogBatch> batches = new ArrayDeque<>();
    private long bytes;
    private long termBefore;
    private long timestampBeforeMs;

    RecoveredTail(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** The log goes on behind a snapshot. */
    void restart(SnapshotPosition position) {
        batches.clear();
        bytes = 0;
        termBefore = position.term();
        timestampBeforeMs = position.timestampMs();
    }

    void add(LogBatch batch) {
        batches.add(batch);
        bytes += batch.bytesWithOverhead();
        while (bytes > maxBytes) {
            LogBatch dropped = batches.remove();
            bytes -= dropped.bytesWithOverhead();
            termBefore = dropped.term();
            timestampBeforeMs = dropped.timestampMs();
        }
    }

    List<LogBatch> batches() {
        return List.copyOf(batches);
    }

    /** The term of the entry before the first of them. */
    long termBefore() {
        return termBefore;
    }

    long timestampBeforeMs() {
        return timestampBeforeMs;
    }
}
