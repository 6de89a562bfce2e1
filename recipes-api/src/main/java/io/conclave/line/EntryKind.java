package io.conclave.line;

import java.util.Optional;
import java.util.UUID;

/**
 * One kind of place in a line: how the names of its znodes are made and read. The parts are those of other libraries,
 * so that their clients and ours stand in the same lines.
 *
 * @param prefix what comes first in a name that we make
 * @param separator what stands between the guid and the marker
 * @param marker what stands before the sequence, and tells the kind
 */
public record EntryKind(String prefix, String separator, String marker) {
    /** A mutex, and whatever else has one holder at a time: {@code _c_<guid>-lock-<sequence>}. */
    public static final EntryKind MUTEX = curator("lock-");

    /**
     * A kind.
     *
     * @throws IllegalArgumentException if the marker is empty or ends in a digit, which could not be told from the
     *     sequence, or a part has a slash
     */
    public EntryKind {
        if (marker.isEmpty() || Character.isDigit(marker.charAt(marker.length() - 1))) {
            throw new IllegalArgumentException(
                    "Invalid marker \"" + marker + "\": it must not be empty and not end in a digit");
        }
        if ((prefix + separator + marker).indexOf('/') >= 0) {
            throw new IllegalArgumentException("Invalid parts of a name \"" + prefix + "\", \"" + separator + "\", \""
                    + marker + "\": there must be no slash in them");
        }
    }

    /**
     * A kind in the layout of Curator: {@code _c_<guid>-<marker><sequence>}; Curator has {@code lock-}, {@code
     * __READ__} and {@code __WRIT__}.
     */
    public static EntryKind curator(String marker) {
        return new EntryKind("_c_", "-", marker);
    }

    /**
     * A kind in the layout of kazoo: {@code <guid in hexadecimal><marker><sequence>}; kazoo has {@code __lock__} and
     * {@code __rlock__}.
     */
    public static EntryKind kazoo(String marker) {
        return new EntryKind("", "", marker);
    }

    /**
     * Whether the line's znode stays when nobody stands in it: kazoo makes it once in the life of a lock object, and
     * does not notice that it has gone.
     */
    boolean isOfLinesThatStay() {
        return separator.isEmpty();
    }

    /** A guid for a name of this kind; without dashes where no separator tells it from the marker, as kazoo has it. */
    String newGuid() {
        String guid = UUID.randomUUID().toString();
        return separator.isEmpty() ? guid.replace("-", "") : guid;
    }

    /** The name to create, to which the server appends the sequence. */
    public String nameOf(String guid) {
        return prefix + guid + separator + marker;
    }

    /**
     * The sequence in a name of this kind; empty if it is none. Other prefixes count, and names without a guid, as old
     * clients make them.
     */
    Optional<Integer> sequenceOf(String name) {
        int start = digitsFrom(name);
        if (start < 0) {
            return Optional.empty();
        }
        long number = Long.parseLong(name, start, name.length(), 10);
        return number == (int) number ? Optional.of((int) number) : Optional.empty();
    }

    /** The sequence as it is written in a name of this kind; empty if it is none. */
    Optional<String> digitsOf(String name) {
        int start = digitsFrom(name);
        return start < 0 ? Optional.empty() : Optional.of(name.substring(start));
    }

    /** Where the sequence begins; negative if it is no name of this kind. Called for each name that a line lists. */
    private int digitsFrom(String name) {
        int start = name.lastIndexOf(marker);
        boolean isOfThisKind = start == 0 || (start > 0 && name.startsWith(separator, start - separator.length()));
        int digits = start + marker.length();
        return isOfThisKind && isSequence(name, digits) ? digits : -1;
    }

    /** Ten digits, or a minus sign with nine or ten: ten characters at least. */
    private static boolean isSequence(String name, int from) {
        boolean isNegative = from < name.length() && name.charAt(from) == '-';
        int count = name.length() - from - (isNegative ? 1 : 0);
        if (count != 10 && !(isNegative && count == 9)) {
            return false;
        }
        for (int i = name.length() - count; i < name.length(); i++) {
            if (name.charAt(i) < '0' || name.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }
}
