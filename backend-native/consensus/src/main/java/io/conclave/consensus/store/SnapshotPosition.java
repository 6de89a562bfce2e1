package io.conclave.consensus.store;

import io.conclave.consensus.entry.LogState;

/**
 * What a snapshot stands for.
 *
 * @param state the log's own state there
 */
public record SnapshotPosition(long term, long lastIndex, long timestampMs, LogState state) {}
