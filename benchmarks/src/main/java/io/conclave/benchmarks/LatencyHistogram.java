package io.conclave.benchmarks;

/**
 * Counts of latencies, in buckets whose width is under 2% of their value: a power of two divided into 64 equal parts,
 * as in HdrHistogram. One writer at a time.
 */
final class LatencyHistogram {
    private static final int PARTS_BITS = 6;
    private static final int PARTS = 1 << PARTS_BITS;

    private final long[] counts = new long[(64 - PARTS_BITS) * PARTS];
    private long total;

    void record(long nanos) {
        counts[bucket(Math.max(0, nanos))]++;
        total++;
    }

    void add(LatencyHistogram other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
        total += other.total;
    }

    void clear() {
        java.util.Arrays.fill(counts, 0);
        total = 0;
    }

    long total() {
        return total;
    }

    /**
     * The latency, in milliseconds, that this share of the recorded ones (0 to 1) does not exceed; 0 if none was
     * recorded.
     */
    double percentileMs(double share) {
        long wanted = Math.max(1, (long) Math.ceil(share * total));
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= wanted) {
                return upperNanos(i) / 1e6;
            }
        }
        return 0;
    }

    private static int bucket(long nanos) {
        int shift = Math.max(0, 63 - PARTS_BITS - Long.numberOfLeadingZeros(nanos));
        return shift == 0 ? (int) nanos : (shift << PARTS_BITS) + (int) (nanos >>> shift);
    }

    private static long upperNanos(int bucket) {
        int shift = Math.max(0, (bucket >>> PARTS_BITS) - 1);
        return shift == 0 ? bucket : ((bucket - ((long) shift << PARTS_BITS) + 1) << shift) - 1;
    }
}
