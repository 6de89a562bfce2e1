package io.conclave.consensus.core;

import io.conclave.consensus.entry.LogBatch;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/** What must hold at every step, whatever messages arrive. */
final class Invariants {
    private record Place(long term, long firstIndex) {}

    private final Map<Long, Integer> leaders = new HashMap<>();
    private final Map<Place, LogBatch> batches = new HashMap<>();
    /** By first index: what any member ever called committed. */
    final TreeMap<Long, LogBatch> committed = new TreeMap<>();

    /** By first index: the term of the member that reported it first. */
    private final Map<Long, Long> committedIn = new HashMap<>();

    private final Map<Long, Long> readIndexFloors = new HashMap<>();
    private final Set<Long> notesGiven = new HashSet<>();
    int readIndexes;

    long committedIndex() {
        return committed.isEmpty() ? 0 : committed.lastEntry().getValue().lastIndex();
    }

    /** Election safety, and leader completeness: it has what was committed in former terms. */
    void leads(int member, long term, LogWindow log) {
        Integer other = leaders.putIfAbsent(term, member);
        check(other == null || other == member, () -> "members " + other + " and " + member + " lead in term " + term);
        for (LogBatch batch : committed.tailMap(log.baseIndex(), false).values()) {
            check(
                    committedIn.get(batch.firstIndex()) >= term
                            || log.isBorder(batch.lastIndex()) && log.termAt(batch.lastIndex()) == batch.term(),
                    () -> "leader " + member + " of term " + term + " has not got " + batch + ", which is committed");
        }
    }

    /** Log matching: one leader, one place, one batch. */
    void appended(LogBatch batch) {
        LogBatch other = batches.putIfAbsent(new Place(batch.term(), batch.firstIndex()), batch);
        check(other == null || isEqual(other, batch), () -> "different logs: " + other + " and " + batch);
    }

    /** State machine safety; whether no member had reported the batch before. */
    boolean committed(int member, long term, LogBatch batch) {
        committedIn.putIfAbsent(batch.firstIndex(), term);
        LogBatch other = committed.putIfAbsent(batch.firstIndex(), batch);
        check(
                other == null || isEqual(other, batch),
                () -> "member " + member + " commits " + batch + ", but " + other + " was committed");
        if (other == null) {
            Map.Entry<Long, LogBatch> before = committed.lowerEntry(batch.firstIndex());
            long expected = before == null ? 1 : before.getValue().lastIndex() + 1;
            check(batch.firstIndex() == expected, () -> batch + " is committed, expected index " + expected);
            check(
                    before == null || before.getValue().timestampMs() <= batch.timestampMs(),
                    () -> "time decreases at " + batch);
        }
        return other == null;
    }

    void snapshotInstalled(int member, long lastIndex, long lastTerm) {
        Map.Entry<Long, LogBatch> last = committed.floorEntry(lastIndex);
        check(
                last != null
                        && last.getValue().lastIndex() == lastIndex
                        && last.getValue().term() == lastTerm,
                () -> "member " + member + " installs a snapshot up to " + lastIndex + " that was never committed");
    }

    void readIndexAsked(long id) {
        readIndexFloors.put(id, committedIndex());
    }

    void noteGiven(long id) {
        notesGiven.add(id);
    }

    /** Everything known to be committed at the request is at or below the read index. */
    void readIndexAnswered(int member, long id, long index) {
        long floor = readIndexFloors.get(id);
        check(
                index >= floor,
                () -> "member " + member + " may read at " + index + ", but " + floor + " was committed before");
        check(id % 2 == 0 || notesGiven.contains(id), () -> "a read index without its note being given out");
        readIndexes++;
    }

    private static boolean isEqual(LogBatch one, LogBatch other) {
        boolean equal = one.term() == other.term()
                && one.firstIndex() == other.firstIndex()
                && one.timestampMs() == other.timestampMs()
                && one.entries().size() == other.entries().size();
        for (int i = 0; equal && i < one.entries().size(); i++) {
            equal = one.entries().get(i).kind() == other.entries().get(i).kind()
                    && Arrays.equals(
                            one.entries().get(i).payload(),
                            other.entries().get(i).payload());
        }
        return equal;
    }

    static void check(boolean holds, Supplier<String> otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise.get());
        }
    }
}
