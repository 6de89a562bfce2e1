package io.conclave.consensus.member;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.store.LogStore;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The end of this member's log: what is to be written, what is durable, and what waits to be applied. */
final class LogWriter {
    private final LogStore store;

    /** Not durable, since the store waits or is full. */
    private final List<LogBatch> held = new ArrayList<>();

    /** Everything behind the last applied batch, durable or held, but for what is left to the files. */
    private final Deque<LogBatch> unapplied = new ArrayDeque<>();

    private long unappliedBytes;

    /** Up to here batches that are not applied may have been left to the files. */
    private long leftIndex;

    /** @param durable what recovery found behind the last committed batch */
    LogWriter(LogStore store, List<LogBatch> durable) {
        this.store = store;
        addUnapplied(durable);
    }

    boolean isHolding() {
        return !held.isEmpty();
    }

    /**
     * Whether a batch could be written now: nothing overtakes what is held, so that no more is held than was sent here.
     */
    LogStore.Appended roomFor(int entries, long payloadBytes) {
        if (held.isEmpty()) {
            return store.roomFor(entries, payloadBytes);
        }
        return store.diskState() == DiskState.FULL ? LogStore.Appended.FULL : LogStore.Appended.WAIT;
    }

    void add(List<LogBatch> batches) {
        held.addAll(batches);
        addUnapplied(batches);
    }

    private void addUnapplied(List<LogBatch> batches) {
        unapplied.addAll(batches);
        batches.forEach(batch -> unappliedBytes += batch.bytesWithOverhead());
    }

    /** Forgets what lies behind the index, which is the end of a batch. */
    void cutAfter(long index) throws IOException {
        boolean isHeldOnly = !held.isEmpty() && index >= held.get(0).firstIndex() - 1;
        held.removeIf(batch -> batch.lastIndex() > index);
        while (!unapplied.isEmpty() && unapplied.getLast().lastIndex() > index) {
            unappliedBytes -= unapplied.removeLast().bytesWithOverhead();
        }
        if (!isHeldOnly) {
            store.cutAfter(index);
        }
    }

    /**
     * Writes what is held, all at once if there is room, else as far as it goes; the last batch that was written, null
     * if none was.
     */
    @Nullable
    LogBatch write(long commitIndex) throws IOException {
        LogBatch last = writeFirst(held.size(), commitIndex);
        if (last == null && held.size() > 1) {
            for (LogBatch one = writeFirst(1, commitIndex); one != null; one = writeFirst(1, commitIndex)) {
                last = one;
            }
        }
        return last;
    }

    private @Nullable LogBatch writeFirst(int count, long commitIndex) throws IOException {
        if (held.isEmpty()) {
            return null;
        }
        List<LogBatch> batches = held.subList(0, count);
        if (store.append(List.copyOf(batches), commitIndex) != LogStore.Appended.DONE) {
            return null;
        }
        LogBatch last = batches.get(count - 1);
        batches.clear();
        return last;
    }

    /** The next batch to apply, if it is durable here and known to be committed. */
    @Nullable
    LogBatch nextCommitted(long commitIndex) {
        LogBatch first = unapplied.peek();
        if (first == null || first.lastIndex() > commitIndex || isHeld(first)) {
            return null;
        }
        unappliedBytes -= first.bytesWithOverhead();
        return unapplied.poll();
    }

    private boolean isHeld(LogBatch batch) {
        return isHolding() && batch.firstIndex() >= held.get(0).firstIndex();
    }

    /** Whether more waits in memory to be applied than so many bytes. */
    boolean isBeyond(long bytes) {
        return unappliedBytes > bytes;
    }

    /**
     * Leaves to the files what is durable and committed, the oldest first, until no more than so many bytes wait in
     * memory.
     */
    void leaveToFiles(long commitIndex, long bytes) {
        while (isBeyond(bytes)) {
            LogBatch left = nextCommitted(commitIndex);
            if (left == null) {
                return;
            }
            leftIndex = left.lastIndex();
        }
    }

    /** What is not applied has to come from the files up to here. */
    long leftIndex() {
        return leftIndex;
    }

    /** The log begins behind the index. */
    void restart(long index) {
        held.clear();
        unapplied.clear();
        unappliedBytes = 0;
        leftIndex = index;
    }
}
