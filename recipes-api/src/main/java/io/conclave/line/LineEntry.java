package io.conclave.line;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A place in a line, read from the name of its znode: {@code _c_<guid>-<marker><sequence>}, the layout of Curator.
 *
 * <p>Places are ordered by sequence alone, whatever their kinds. Sequences are compared as signed 32-bit differences, so that the order survives the
 * wrap of the parent's counter as long as fewer than 2^31 places lie between the first and the last.
 *
 * @param name the znode's name
 * @param kind the kind that the name tells
 * @param sequence the number that the server appended
 */
public record LineEntry(String name, EntryKind kind, int sequence) implements Comparable<LineEntry> {
    /** Reads a name; empty if it is no place of these kinds. */
    static Optional<LineEntry> parse(Set<EntryKind> kinds, String name) {
        return kinds.stream()
                .flatMap(kind -> kind.sequenceOf(name).stream().map(sequence -> new LineEntry(name, kind, sequence)))
                .findFirst();
    }

    /** The places of these kinds among the children of a line, first to last; other children are ignored. */
    static List<LineEntry> inOrder(Set<EntryKind> kinds, Collection<String> names) {
        List<LineEntry> entries = new ArrayList<>(names.size());
        for (String name : names) {
            parse(kinds, name).ifPresent(entries::add);
        }
        Collections.sort(entries);
        return entries;
    }

    /** The places of these kinds that were made for one guid, first to last; more than one only if its creation was sent twice. */
    static List<LineEntry> of(String guid, Set<EntryKind> kinds, Collection<String> names) {
        return inOrder(kinds, names).stream().filter(entry -> entry.isOf(guid)).toList();
    }

    /** Whether the place was made for this guid. */
    boolean isOf(String guid) {
        return name.startsWith(kind.nameOf(guid));
    }

    @Override
    public int compareTo(LineEntry other) {
        int difference = sequence - other.sequence;
        return difference != 0 ? difference : name.compareTo(other.name);
    }
}
