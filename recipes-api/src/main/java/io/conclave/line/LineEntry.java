package io.conclave.line;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A place in a line, read from the name of its znode: {@code _c_<guid>-lock-<sequence>}, the layout of Curator.
 *
 * <p>Places are ordered by sequence alone. Sequences are compared as signed 32-bit differences, so that the order survives the wrap of the
 * parent's counter as long as fewer than 2^31 places lie between the first and the last.
 *
 * @param name the znode's name
 * @param sequence the number that the server appended
 */
record LineEntry(String name, int sequence) implements Comparable<LineEntry> {
    private static final String PREFIX = "_c_";
    private static final String MARKER = "lock-";

    /** The name to create, to which the server appends the sequence. */
    static String nameOf(String guid) {
        return PREFIX + guid + "-" + MARKER;
    }

    /** Reads a name; empty if it is no place in a line. Names without a guid, as old clients make them, are places too. */
    static Optional<LineEntry> parse(String name) {
        int marker = name.lastIndexOf(MARKER);
        if (marker < 0 || (marker > 0 && name.charAt(marker - 1) != '-')) {
            return Optional.empty();
        }
        String digits = name.substring(marker + MARKER.length());
        if (!digits.matches("[0-9]{10}|-[0-9]{9,10}")) { // ten characters at least, the sign being one
            return Optional.empty();
        }
        long sequence = Long.parseLong(digits);
        return sequence == (int) sequence ? Optional.of(new LineEntry(name, (int) sequence)) : Optional.empty();
    }

    /** The places among the children of a line, first to last; other children are ignored. */
    static List<LineEntry> inOrder(Collection<String> names) {
        List<LineEntry> entries = new ArrayList<>(names.size());
        for (String name : names) {
            parse(name).ifPresent(entries::add);
        }
        Collections.sort(entries);
        return entries;
    }

    /** The places that were made for one guid; more than one only if its creation was sent twice. */
    static List<LineEntry> of(String guid, Collection<String> names) {
        return inOrder(names).stream().filter(entry -> entry.isOf(guid)).toList();
    }

    /** Whether the place was made for this guid. */
    boolean isOf(String guid) {
        return name.startsWith(nameOf(guid));
    }

    @Override
    public int compareTo(LineEntry other) {
        int difference = sequence - other.sequence;
        return difference != 0 ? difference : name.compareTo(other.name);
    }
}
