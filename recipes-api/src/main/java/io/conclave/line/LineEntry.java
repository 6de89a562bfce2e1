package io.conclave.line;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A place in a line, read from the name of its znode: {@code _c_<guid>-<marker><sequence>}, the layout of Curator.
 *
 * <p>Places are ordered by sequence alone, whatever their kinds. Two sequences are compared as a signed 32-bit
 * difference, so that the order survives the wrap of the parent's counter as long as fewer than 2^31 places lie between
 * the first and the last. A list that spans more than that, which only names from elsewhere can bring about, has no
 * such order (that of the differences goes in a circle); it begins behind its widest gap, which for any other list is
 * the same.
 *
 * @param name the znode's name
 * @param kind the kind that the name tells
 * @param sequence the number that the server appended
 */
public record LineEntry(String name, EntryKind kind, int sequence) {
    private static final Comparator<LineEntry> IN_A_CIRCLE =
            Comparator.comparingInt(LineEntry::sequence).thenComparing(LineEntry::name);

    /** Reads a name; empty if it is no place of these kinds. */
    static Optional<LineEntry> parse(Set<EntryKind> kinds, String name) {
        for (EntryKind kind : kinds) {
            Optional<Integer> sequence = kind.sequenceOf(name);
            if (sequence.isPresent()) {
                return Optional.of(new LineEntry(name, kind, sequence.get()));
            }
        }
        return Optional.empty();
    }

    /** The places of these kinds among the children of a line, first to last; other children are ignored. */
    static List<LineEntry> inOrder(Set<EntryKind> kinds, Collection<String> names) {
        List<LineEntry> entries = new ArrayList<>(names.size());
        for (String name : names) {
            parse(kinds, name).ifPresent(entries::add);
        }
        entries.sort(IN_A_CIRCLE);
        Collections.rotate(entries, -first(entries));
        return entries;
    }

    /** Which of them the line begins with: the one behind the widest gap in the circle of sequences. */
    private static int first(List<LineEntry> circle) {
        int first = 0;
        long widest = -1;
        for (int i = 0; i < circle.size(); i++) {
            int previous = circle.get((i == 0 ? circle.size() : i) - 1).sequence;
            long gap = Integer.toUnsignedLong(circle.get(i).sequence - previous);
            if (gap > widest) {
                widest = gap;
                first = i;
            }
        }
        return first;
    }

    /**
     * The places of these kinds that were made for one guid, first to last; more than one only if its creation was sent
     * twice.
     */
    static List<LineEntry> of(String guid, Set<EntryKind> kinds, Collection<String> names) {
        return inOrder(kinds, names).stream().filter(entry -> entry.isOf(guid)).toList();
    }

    /** Whether the place was made for this guid. */
    boolean isOf(String guid) {
        return name.startsWith(kind.nameOf(guid));
    }
}
