package io.conclave.consensus;

/**
 * Where the log ends, after its last batch.
 *
 * @param end where the next batch goes
 * @param headerCrc the last batch's checksum, which the next batch carries; 0 before the first
 */
record LogTail(LogPosition end, long term, long lastIndex, long timestampMs, int headerCrc) {}
