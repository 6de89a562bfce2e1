package io.conclave.config;

import io.conclave.node.NodePath;
import java.nio.charset.StandardCharsets;

/**
 * What stands in a sequence's znode, as text: the next free id, the id from which on none may be given yet, and the
 * generation of the backend for which that holds. Without a persister there is no limit, and it is "-".
 *
 * @param next all below are given
 * @param limit {@link #NO_LIMIT} for none
 * @param generation the backend's when the limit was written; another one has lost or re-wound its data since
 */
record SequenceRecord(long next, long limit, long generation) {
    static final long NO_LIMIT = Long.MAX_VALUE;

    private static final long LARGEST = 999_999_999_999_999_999L;

    /**
     * Reads a znode's data.
     *
     * @throws IllegalArgumentException if it is no sequence, naming the znode
     */
    static SequenceRecord parse(NodePath path, byte[] data) {
        String text = new String(data, StandardCharsets.US_ASCII);
        if (!text.matches("[0-9]{1,18} ([0-9]{1,18}|-) [0-9]{1,19}")) {
            throw new IllegalArgumentException("Invalid sequence at " + path + ": \"" + text + "\"");
        }
        String[] words = text.split(" ", -1);
        long limit = words[1].equals("-") ? NO_LIMIT : Long.parseLong(words[1]);
        return new SequenceRecord(Long.parseLong(words[0]), limit, Long.parseLong(words[2]));
    }

    boolean hasLimit() {
        return limit != NO_LIMIT;
    }

    /**
     * What is to be written.
     *
     * @throws IllegalStateException if the sequence has come to its end
     */
    byte[] data() {
        if (next > LARGEST || (hasLimit() && limit > LARGEST)) {
            throw new IllegalStateException("No ids are left: the largest is " + LARGEST);
        }
        return (next + " " + (hasLimit() ? Long.toString(limit) : "-") + " " + generation)
                .getBytes(StandardCharsets.US_ASCII);
    }
}
