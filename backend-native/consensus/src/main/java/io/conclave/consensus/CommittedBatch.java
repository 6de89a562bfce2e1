package io.conclave.consensus;

import java.util.List;

/**
 * What the state machine gets of one batch of the log: the same entries in the same batches, with the same term,
 * indexes and time, on every member and in every recovery. Entries that only the log itself is concerned with, and
 * copies of proposals that are applied already, are left out; a batch of which nothing is left is not seen at all.
 *
 * @param term the term of the leader that made the batch
 * @param firstIndex the log index of the batch's first entry, left out or not. The first index ever is 1
 * @param lastIndex the log index of its last entry, left out or not
 * @param timestampMs the leader's wall clock in ms since the epoch; never decreases along the log, restarts included
 * @param entries the entries in order, never empty
 */
public record CommittedBatch(
        long term, long firstIndex, long lastIndex, long timestampMs, List<CommittedEntry> entries) {}
