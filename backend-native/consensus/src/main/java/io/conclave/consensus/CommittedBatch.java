package io.conclave.consensus;

import java.util.List;

/**
 * Entries that became durable together. The same entries in the same batches, with the same term, indexes and time,
 * are seen by every member and by every recovery.
 *
 * @param term the term of the leader who made the batch
 * @param firstIndex the log index of the first entry; the others follow without a gap. The first index ever is 1
 * @param timestampMs the leader's wall clock in ms since the epoch; never goes back along the log, restarts included
 * @param entries the entries in order, never empty
 */
public record CommittedBatch(long term, long firstIndex, long timestampMs, List<CommittedEntry> entries) {

    /** The index of the last entry. */
    public long lastIndex() {
        return firstIndex + entries.size() - 1;
    }
}
