package io.conclave.consensus.core;

import io.conclave.consensus.entry.LogBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The batches of the log that are in memory: all behind the base. Its last entry's place stays known. */
final class LogWindow {
    private static final long DROPPED_BYTES = 1 << 20;

    private final ArrayList<LogBatch> batches = new ArrayList<>();
    /** How many at the front of the list are dropped already; the list is compacted before they take much memory. */
    private int dropped;

    private long droppedBytes;

    private long baseIndex;
    private long baseTerm;
    private long baseTimestampMs;
    private long bytes;

    LogWindow(long baseIndex, long baseTerm, long baseTimestampMs) {
        reset(baseIndex, baseTerm, baseTimestampMs);
    }

    /** Forgets all; the log goes on behind this place. */
    void reset(long index, long term, long timestampMs) {
        batches.clear();
        dropped = 0;
        droppedBytes = 0;
        bytes = 0;
        baseIndex = index;
        baseTerm = term;
        baseTimestampMs = timestampMs;
    }

    long baseIndex() {
        return baseIndex;
    }

    long bytes() {
        return bytes;
    }

    private boolean isEmpty() {
        return dropped == batches.size();
    }

    long lastIndex() {
        return isEmpty() ? baseIndex : batches.get(batches.size() - 1).lastIndex();
    }

    long lastTerm() {
        return isEmpty() ? baseTerm : batches.get(batches.size() - 1).term();
    }

    long lastTimestampMs() {
        return isEmpty() ? baseTimestampMs : batches.get(batches.size() - 1).timestampMs();
    }

    void append(LogBatch batch) {
        if (batch.firstIndex() != lastIndex() + 1 || batch.term() < lastTerm()) {
            throw new IllegalStateException(batch + " cannot follow index " + lastIndex() + " of term " + lastTerm());
        }
        batches.add(batch);
        bytes += batch.bytesWithOverhead();
    }

    /** Puts the batches that end at the base before it: the log begins behind an earlier place. */
    void prepend(List<LogBatch> older, long termBefore, long timestampBeforeMs) {
        if (older.isEmpty()) {
            return;
        }
        LogBatch last = older.get(older.size() - 1);
        if (last.lastIndex() != baseIndex || last.term() != baseTerm) {
            throw new IllegalStateException(last + " does not end at " + baseIndex + " of term " + baseTerm);
        }
        batches.addAll(dropped, older);
        older.forEach(batch -> bytes += batch.bytesWithOverhead());
        baseIndex = older.get(0).firstIndex() - 1;
        baseTerm = termBefore;
        baseTimestampMs = timestampBeforeMs;
    }

    /** Takes everything behind an index away. */
    void cutAfter(long index) {
        if (index < baseIndex || !isBorder(index)) {
            throw new IllegalStateException("the log cannot be cut behind " + index + ", base is " + baseIndex);
        }
        while (lastIndex() > index) {
            bytes -= batches.remove(batches.size() - 1).bytesWithOverhead();
        }
    }

    /** Drops the oldest batches while the predicate wants it. */
    void dropWhile(Predicate<LogBatch> unneeded) {
        while (!isEmpty() && unneeded.test(batches.get(dropped))) {
            LogBatch batch = batches.get(dropped++);
            baseIndex = batch.lastIndex();
            baseTerm = batch.term();
            baseTimestampMs = batch.timestampMs();
            bytes -= batch.bytesWithOverhead();
            droppedBytes += batch.bytesWithOverhead();
        }
        if (droppedBytes > DROPPED_BYTES || (dropped > 64 && dropped > batches.size() / 2)) {
            batches.subList(0, dropped).clear();
            dropped = 0;
            droppedBytes = 0;
        }
    }

    /** Whether a batch ends here (or the base is here). */
    boolean isBorder(long index) {
        if (index <= baseIndex || index > lastIndex()) {
            return index == baseIndex;
        }
        return batches.get(position(index)).lastIndex() == index;
    }

    /** The term of an entry at or behind the base; -1 if there is none. */
    long termAt(long index) {
        if (index <= baseIndex || index > lastIndex()) {
            return index == baseIndex ? baseTerm : -1;
        }
        return batches.get(position(index)).term();
    }

    /** The batch with the entry; the entry must be there. */
    LogBatch batchWith(long index) {
        return batches.get(position(index));
    }

    /** Batches behind a border, in order, up to so many bytes, but at least one if there is any. */
    List<LogBatch> after(long index, long maxBytes) {
        if (index >= lastIndex()) {
            return List.of();
        }
        int from = position(index + 1);
        int to = from;
        long sum = 0;
        while (to < batches.size() && (to == from || sum + batches.get(to).bytesWithOverhead() <= maxBytes)) {
            sum += batches.get(to++).bytesWithOverhead();
        }
        return batches.subList(from, to);
    }

    /** The highest border not above the index whose term is not above the term; -1 if it lies before the base. */
    long borderAtOrBelow(long index, long term) {
        if (index < baseIndex) {
            return -1;
        }
        int at = index >= lastIndex() ? batches.size() - 1 : index == baseIndex ? dropped - 1 : position(index);
        if (at >= dropped && batches.get(at).lastIndex() > index) {
            at--;
        }
        while (at >= dropped && batches.get(at).term() > term) {
            at--;
        }
        if (at >= dropped) {
            return batches.get(at).lastIndex();
        }
        return baseTerm <= term ? baseIndex : -1;
    }

    /** The place in the list of the batch with the entry. */
    private int position(long index) {
        int low = dropped;
        int high = batches.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            LogBatch batch = batches.get(middle);
            if (batch.lastIndex() < index) {
                low = middle + 1;
            } else if (batch.firstIndex() > index) {
                high = middle - 1;
            } else {
                return middle;
            }
        }
        throw new IllegalStateException("index " + index + " is not in memory: " + baseIndex + " to " + lastIndex());
    }
}
