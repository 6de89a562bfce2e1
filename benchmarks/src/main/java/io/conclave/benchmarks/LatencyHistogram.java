package io.conclave.benchmarks;

import org.HdrHistogram.Histogram;

/** Counts of latencies up to an hour, with an error below 1% (HdrHistogram). One writer at a time. */
final class LatencyHistogram {
    private static final long LONGEST_NANOS = 3_600_000_000_000L;
    private static final int DIGITS = 2;

    private final Histogram counts = new Histogram(LONGEST_NANOS, DIGITS);

    /** Counts a latency; one above an hour counts as an hour. */
    void record(long nanos) {
        counts.recordValue(Math.min(LONGEST_NANOS, Math.max(0, nanos)));
    }

    void add(LatencyHistogram other) {
        counts.add(other.counts);
    }

    void clear() {
        counts.reset();
    }

    long total() {
        return counts.getTotalCount();
    }

    /**
     * The latency, in milliseconds, that this share of the recorded ones (0 to 1) does not exceed; 0 if none was
     * recorded.
     */
    double percentileMs(double share) {
        return total() == 0 ? 0 : counts.getValueAtPercentile(share * 100) / 1e6;
    }
}
