package io.conclave.consensus.store;

import io.conclave.consensus.entry.LogBatch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the cluster around one member has committed, and what of that the member has not got, or has lost. */
final class CommittedLog {
    /** The state behind each committed batch. */
    private final TreeMap<Long, Long> states = new TreeMap<>(Map.of(0L, 0L));

    /** What is committed and, but for {@link #ahead}, in the member's log. */
    private long index;

    /** Committed batches that the member has lost or not yet got. */
    private final Deque<LogBatch> ahead = new ArrayDeque<>();

    /** What the cluster has committed meanwhile, and the member can only get as a snapshot. */
    private SnapshotPosition snapshotAhead = Snapshots.NONE;

    long index() {
        return index;
    }

    Map<Long, Long> states() {
        return states;
    }

    long state(long atIndex) {
        return states.get(atIndex);
    }

    void commit(LogBatch batch) {
        states.put(batch.lastIndex(), Replay.stateAfter(states.get(batch.firstIndex() - 1), batch));
        index = Math.max(index, batch.lastIndex());
    }

    // ---- in batches

    boolean isAhead() {
        return !ahead.isEmpty();
    }

    /** In their order. */
    List<LogBatch> ahead() {
        return new ArrayList<>(ahead);
    }

    /** Everybody else has these batches, which are committed. */
    void sendAhead(List<LogBatch> batches) {
        ahead.addAll(batches);
    }

    void got(List<LogBatch> batches) {
        batches.forEach(ahead::remove);
    }

    /** What was committed and did not survive a crash that was not the store's fault comes again. */
    void recoveredUpTo(long lastIndex) {
        ahead.removeIf(batch -> batch.firstIndex() <= lastIndex);
    }

    // ---- as a snapshot

    boolean isSnapshotAhead() {
        return snapshotAhead.lastIndex() > 0;
    }

    SnapshotPosition snapshotAhead() {
        return snapshotAhead;
    }

    void sendAhead(SnapshotPosition snapshot, long state) {
        snapshotAhead = snapshot;
        states.put(snapshot.lastIndex(), state);
    }

    void gotSnapshot() {
        index = snapshotAhead.lastIndex();
        snapshotAhead = Snapshots.NONE;
    }
}
