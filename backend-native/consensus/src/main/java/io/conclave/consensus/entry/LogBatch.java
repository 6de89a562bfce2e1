package io.conclave.consensus.entry;

import java.util.List;

/**
 * The unit of the log: entries that one leader put into it at once. It is written, sent, matched and cut as a whole;
 * two batches with the same term and first index are equal, on any member.
 *
 * @param term the term of the leader that made it
 * @param firstIndex the log index of the first entry; the others follow without a gap. The first index ever is 1
 * @param timestampMs the leader's wall clock in ms since the epoch; never decreases along the log
 * @param entries the entries in order, never empty
 */
public record LogBatch(long term, long firstIndex, long timestampMs, List<LogEntry> entries) {
    public LogBatch {
        entries = List.copyOf(entries);
        if (entries.isEmpty()) {
            throw new IllegalArgumentException("a batch has at least one entry");
        }
    }

    /** The index of the last entry. */
    public long lastIndex() {
        return firstIndex + entries.size() - 1;
    }

    /** The bytes of all payloads. */
    public long payloadBytes() {
        long bytes = 0;
        for (LogEntry entry : entries) {
            bytes += entry.payload().length;
        }
        return bytes;
    }

    /** What it takes with its entries and their payloads. */
    public long bytesWithOverhead() {
        return payloadBytes() + (long) LogEntry.OVERHEAD_BYTES * (entries.size() + 1);
    }

    @Override
    public String toString() {
        return "batch " + firstIndex + ".." + lastIndex() + " of term " + term;
    }
}
