package io.conclave.consensus.member;

import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What waits on a leader to be proposed. The entries of one member stay in their order, and members have turns: small
 * entries never wait for another member's large ones, and of those one write's worth is proposed at a time.
 */
final class ProposalLine {
    /** The entries of one member. */
    private final class Line {
        final Deque<LogEntry> waiting = new ArrayDeque<>();
        /** Turns are numbered. */
        long lastTurn;

        long lastLargeTurn;

        /** How many of them the batch has that was looked at last. */
        int looked;

        boolean beginsLarge() {
            LogEntry first = waiting.peek();
            return first != null && isLarge(first);
        }

        @Nullable
        LogEntry nextToLookAt() {
            return waiting.stream().skip(looked).findFirst().orElse(null);
        }

        boolean beginsSmall() {
            return !waiting.isEmpty() && !beginsLarge();
        }
    }

    private final int largeBytes;
    private final Map<Integer, Line> lines = new TreeMap<>();
    private long turn;

    /**
     * @param largeBytes from so many bytes on an entry is large: to write and to send it takes longer than a small one
     */
    ProposalLine(int largeBytes) {
        this.largeBytes = largeBytes;
    }

    private boolean isLarge(LogEntry entry) {
        return entry.kind() == LogEntryKind.APPLICATION && entry.payload().length >= largeBytes;
    }

    void add(int from, LogEntry entry) {
        lines.computeIfAbsent(from, member -> new Line()).waiting.add(entry);
    }

    void forget(int from) {
        lines.remove(from);
    }

    void clear() {
        lines.clear();
    }

    /** Whether a small entry can go. */
    boolean hasSmall() {
        return lines.values().stream().anyMatch(Line::beginsSmall);
    }

    /** Whether a large entry can go. */
    boolean hasLarge() {
        return lines.values().stream().anyMatch(Line::beginsLarge);
    }

    /** The small entries that go next, as many as fit, but one at least; they stay here until {@link #remove}. */
    List<LogEntry> nextSmall(int maxBytes) {
        List<LogEntry> batch = new ArrayList<>();
        long bytes = 0;
        for (Line line : inTurn(Comparator.comparingLong(line -> line.lastTurn))) {
            for (LogEntry entry : line.waiting) {
                if (isLarge(entry)) {
                    break;
                }
                bytes += entry.bytesWithOverhead();
                if (bytes > maxBytes && !batch.isEmpty()) {
                    return batch;
                }
                batch.add(entry);
                line.looked++;
            }
        }
        return batch;
    }

    /** The large entries that go next, one of each member in turn, as many as fit, but one at least. */
    List<LogEntry> nextLarge(int maxBytes) {
        List<LogEntry> batch = new ArrayList<>();
        List<Line> order = inTurn(Comparator.comparingLong(line -> line.lastLargeTurn));
        long bytes = 0;
        int before;
        do {
            before = batch.size();
            for (Line line : order) {
                LogEntry next = line.nextToLookAt();
                if (next == null || !isLarge(next)) {
                    continue;
                }
                bytes += next.bytesWithOverhead();
                if (bytes > maxBytes && !batch.isEmpty()) {
                    return batch;
                }
                batch.add(next);
                line.looked++;
            }
        } while (batch.size() > before);
        return batch;
    }

    /** The lines of all members in the order of their last turns, oldest first; nothing in them was looked at. */
    private List<Line> inTurn(Comparator<Line> order) {
        List<Line> inTurn = new ArrayList<>(lines.values());
        inTurn.forEach(line -> line.looked = 0);
        inTurn.sort(order);
        return inTurn;
    }

    /**
     * Gives up the writes among what was looked at last: entries without effect take their places.
     *
     * @return by member which of its proposals these are, in its order; a member without any is not in it
     */
    Map<Integer, List<Origin>> refuse() {
        Map<Integer, List<Origin>> refused = new TreeMap<>();
        lines.forEach((member, line) -> {
            List<Origin> ofMember = new ArrayList<>();
            for (int i = line.waiting.size(); i > 0; i--) { // once around
                LogEntry entry = line.waiting.remove();
                boolean isGivenUp = line.looked-- > 0 && entry.kind() == LogEntryKind.APPLICATION;
                line.waiting.add(isGivenUp ? OwnProposals.withoutEffect(entry) : entry);
                if (isGivenUp) {
                    ofMember.add(entry.origin());
                }
            }
            line.looked = 0;
            if (!ofMember.isEmpty()) {
                refused.put(member, ofMember);
            }
        });
        return refused;
    }

    /** As {@link #refuse}, of all that waits. */
    Map<Integer, List<Origin>> refuseAll() {
        lines.values().forEach(line -> line.looked = line.waiting.size());
        return refuse();
    }

    /** The entries of a member here that stand in the places of others, in its order. */
    List<Origin> withoutEffect(int member) {
        Line line = lines.get(member);
        return line == null
                ? List.of()
                : line.waiting.stream()
                        .filter(entry -> entry.kind() == LogEntryKind.FEATURE_LEVEL)
                        .map(LogEntry::origin)
                        .toList();
    }

    /** Removes what was looked at last: it is proposed. */
    void remove() {
        turn++;
        for (Line line : lines.values()) {
            if (line.looked > 0) {
                if (line.beginsLarge()) {
                    line.lastLargeTurn = turn;
                } else {
                    line.lastTurn = turn;
                }
            }
            for (; line.looked > 0; line.looked--) {
                line.waiting.remove();
            }
        }
    }
}
