package io.conclave.consensus;

/** What a snapshot stands for: the state after the entry of that index, with the term and time of its batch. */
record SnapshotMark(long term, long lastIndex, long timestampMs, int featureLevel) {
    static final SnapshotMark NONE = new SnapshotMark(0, 0, 0, 0);
}
