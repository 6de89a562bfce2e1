package io.conclave.line;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A place in a line, read from the name of its znode: {@code _c_<guid>-<marker><sequence>} in Curator's layout,
 * {@code <guid><marker><sequence>} in kazoo's.
 *
 * <p>Places are ordered by sequence alone, whatever their kinds; see {@link SequenceOrder}.
 *
 * @param name the znode's name
 * @param kind the kind that the name tells
 * @param sequence the number that the server appended
 */
public record LineEntry(String name, EntryKind kind, int sequence) {
    private static final SequenceOrder<LineEntry> ORDER = new SequenceOrder<>(LineEntry::sequence, LineEntry::name);

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
        ORDER.sort(entries);
        return entries;
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
