package io.conclave.grant;

import java.io.Serializable;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number that grows with every exclusive grant of a resource. A store that remembers the largest token it has seen
 * refuses a late writer, whose token is smaller. See Kleppmann, "How to do distributed locking".
 *
 * <p><b>Order.</b> Tokens compare by generation, then by sequence. The generation guards against a coordination store
 * whose numbers were lost or went back. Tokens of different resources or of different stores do not compare.
 *
 * <p><b>Text.</b> {@link #toString()} is made to travel: in an HTTP header, a condition on an object in a store, a
 * record of a log. It has {@value #TEXT_LENGTH} ASCII characters, and texts sort as the tokens do. {@link #parse} reads
 * it.
 *
 * <p>Immutable. Serializable; only valid tokens can be deserialized.
 *
 * @param generation the generation of the backend's numbers; 0 where it keeps none and none was configured
 * @param sequence the place of the grant among all changes of the backend, in its numbers. In a store that speaks
 *     ZooKeeper's protocol it is the zxid that created the holder's znode, so nothing has to be stored or cleaned up
 */
public record FencingToken(long generation, long sequence) implements Comparable<FencingToken>, Serializable {
    /** The length of {@link #toString()}. */
    public static final int TEXT_LENGTH = 33;

    private static final Pattern TEXT = Pattern.compile("([0-9a-f]{1,16}):([0-9a-f]{1,16})");

    /**
     * A token.
     *
     * @throws IllegalArgumentException if one of the numbers is negative
     */
    public FencingToken {
        if (generation < 0 || sequence < 0) {
            throw new IllegalArgumentException("Invalid token with generation " + generation + " and sequence "
                    + sequence + ": neither may be negative");
        }
    }

    /**
     * Reads the text of a token. The zeros in front may be missing.
     *
     * @param text as {@link #toString()} writes it
     * @throws IllegalArgumentException if it is no token's text
     */
    public static FencingToken parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw invalid(text);
        }
        long generation = Long.parseUnsignedLong(parts.group(1), 16);
        long sequence = Long.parseUnsignedLong(parts.group(2), 16);
        if (generation < 0 || sequence < 0) {
            throw invalid(text);
        }
        return new FencingToken(generation, sequence);
    }

    private static IllegalArgumentException invalid(String text) {
        return new IllegalArgumentException("Invalid token \"" + text
                + "\": it must be two numbers below 2^63, in lower-case hexadecimal, with ':' between them");
    }

    /** By generation, then by sequence. */
    @Override
    public int compareTo(FencingToken other) {
        int byGeneration = Long.compare(generation, other.generation);
        return byGeneration != 0 ? byGeneration : Long.compare(sequence, other.sequence);
    }

    /**
     * The generation and the sequence, each as 16 hexadecimal digits, with ':' between them. Two texts compare,
     * character by character, as their tokens do.
     */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%016x:%016x", generation, sequence);
    }
}
