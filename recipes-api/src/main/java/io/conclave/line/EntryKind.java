package io.conclave.line;

import java.util.Optional;
import java.util.UUID;

/**
 * One kind of place in a line: how the names of its znodes are made and read. The parts are those of other libraries, so that their clients and ours
 * stand in the same lines.
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
     * @throws IllegalArgumentException if the marker is empty or ends in a digit, which could not be told from the sequence, or a part has a slash
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

    /** A kind in the layout of Curator: {@code _c_<guid>-<marker><sequence>}; he has {@code lock-}, {@code __READ__} and {@code __WRIT__}. */
    public static EntryKind curator(String marker) {
        return new EntryKind("_c_", "-", marker);
    }

    /** A kind in the layout of kazoo: {@code <guid in hexadecimal><marker><sequence>}; he has {@code __lock__} and {@code __rlock__}. */
    public static EntryKind kazoo(String marker) {
        return new EntryKind("", "", marker);
    }

    /** A guid for a name of this kind; without dashes where no separator tells it from the marker, as kazoo has it. */
    String newGuid() {
        String guid = UUID.randomUUID().toString();
        return separator.isEmpty() ? guid.replace("-", "") : guid;
    }

    /** The name to create, to which the server appends the sequence. */
    String nameOf(String guid) {
        return prefix + guid + separator + marker;
    }

    /** The sequence in a name of this kind; empty if it is none. Other prefixes count, and names without a guid, as old clients make them. */
    Optional<Integer> sequenceOf(String name) {
        return digitsOf(name)
                .map(Long::parseLong)
                .filter(number -> number == number.intValue())
                .map(Long::intValue);
    }

    /** The sequence as it is written in a name of this kind; empty if it is none. */
    Optional<String> digitsOf(String name) {
        int start = name.lastIndexOf(marker);
        if (start < 0 || (start > 0 && !name.substring(0, start).endsWith(separator))) {
            return Optional.empty();
        }
        String digits = name.substring(start + marker.length());
        // ten characters at least, the sign being one
        return digits.matches("[0-9]{10}|-[0-9]{9,10}") ? Optional.of(digits) : Optional.empty();
    }
}
