package io.conclave.consensus.store;

import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A log as it should be: where it begins and its batches. */
record Model(long base, List<LogBatch> batches) {
    static final Model EMPTY = new Model(0, List.of());

    long lastIndex() {
        return batches.isEmpty() ? base : batches.get(batches.size() - 1).lastIndex();
    }

    long lastTerm() {
        return batches.isEmpty() ? 0 : batches.get(batches.size() - 1).term();
    }

    /** Where it may be cut: its beginning and the ends of its batches. */
    List<Long> ends() {
        List<Long> ends = new ArrayList<>();
        ends.add(base);
        batches.forEach(batch -> ends.add(batch.lastIndex()));
        return ends;
    }

    /** The end of the last batch that ends there or before; an index within a batch says nothing of that. */
    long endAtOrBefore(long index) {
        return ends().stream()
                .filter(end -> end <= index)
                .mapToLong(end -> end)
                .max()
                .orElse(0);
    }

    Model with(List<LogBatch> more) {
        List<LogBatch> all = new ArrayList<>(batches);
        all.addAll(more);
        return new Model(base, List.copyOf(all));
    }

    Model cutAfter(long index) {
        return new Model(
                base,
                batches.stream().filter(batch -> batch.lastIndex() <= index).toList());
    }

    List<LogBatch> behind(long index) {
        return batches.stream().filter(batch -> batch.lastIndex() > index).toList();
    }

    /** Whether a recovery that began with a snapshot of the index and found these batches has found this log. */
    boolean isFoundAs(long snapshot, List<LogBatch> found) {
        if (!ends().contains(snapshot)) {
            return false;
        }
        return fingerprints(behind(snapshot)).equals(fingerprints(found));
    }

    static List<String> fingerprints(List<LogBatch> batches) {
        return batches.stream().map(Model::fingerprint).toList();
    }

    static String fingerprint(LogBatch batch) {
        return batch.term() + "/" + batch.firstIndex() + ".." + batch.lastIndex() + "@" + batch.timestampMs() + "#"
                + Integer.toHexString(hash(batch));
    }

    private static int hash(LogBatch batch) {
        int hash = 1;
        for (LogEntry entry : batch.entries()) {
            hash = 31 * hash + entry.kind().code();
            hash = 31 * hash + entry.origin().hashCode();
            hash = 31 * hash + Arrays.hashCode(entry.payload());
        }
        return hash;
    }

    @Override
    public String toString() {
        return "behind " + base + ": " + fingerprints(batches);
    }
}
