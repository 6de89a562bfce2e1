package io.conclave.consensus.store;

/**
 * Where the log ends after a batch.
 *
 * @param end where the next batch goes, if it fits there
 * @param headerCrc the batch's checksum, which the next batch carries; 0 where the log begins
 */
record LogTail(LogPosition end, long term, long lastIndex, long timestampMs, int headerCrc) {}
