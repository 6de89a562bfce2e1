package io.conclave.grant;

import java.io.Serializable;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number that grows with every exclusive grant of a resource. A store that remembers the largest token it has seen
 * refuses a late writer, whose token is smaller. See Kleppmann, "How to do distributed locking".
 *
 * <p><b>Order.</b> Tokens compare by generation, then by sequence, then by turn. The generation guards against a
 * coordination store whose numbers were lost or went back. The turn counts the grants of one place in the line, where
 * a process passes its lock on in memory. Tokens of different resources or of different stores do not compare.
 *
 * <p><b>Text.</b> {@link #toString()} is made to travel: in an HTTP header, a condition on an object in a store, a
 * record of a log. It has {@value #TEXT_LENGTH} ASCII characters, or {@value #TEXT_LENGTH_WITH_TURN} from the second
 * turn of a place on, and texts sort as the tokens do. {@link #parse} reads it.
 *
 * <p>Immutable. Serializable; only valid tokens can be deserialized.
 *
 * @param generation the generation of the backend's numbers; 0 where it keeps none and none was configured
 * @param sequence the place of the grant among all changes of the backend, in its numbers. In a store that speaks
 *     ZooKeeper's protocol it is the zxid that created the holder's znode, so nothing has to be stored or cleaned up
 * @param turn how many grants came before it in the same place; 0 but for locks that are kept
 */
public record FencingToken(long generation, long sequence, long turn)
        implements Comparable<FencingToken>, Serializable {
    /** The length of {@link #toString()} of a token of the first turn, as all are but those of kept locks. */
    public static final int TEXT_LENGTH = 33;

    /** The length of {@link #toString()} of a token of a later turn. */
    public static final int TEXT_LENGTH_WITH_TURN = 50;

    private static final Pattern TEXT = Pattern.compile("([0-9a-f]{1,16}):([0-9a-f]{1,16})(?::([0-9a-f]{1,16}))?");

    /**
     * A token.
     *
     * @throws IllegalArgumentException if one of the numbers is negative
     */
    public FencingToken {
        if (generation < 0 || sequence < 0 || turn < 0) {
            throw new IllegalArgumentException("Invalid token with generation " + generation + ", sequence " + sequence
                    + " and turn " + turn + ": none may be negative");
        }
    }

    /**
     * The token of the first turn of a place.
     *
     * @throws IllegalArgumentException if one of the numbers is negative
     */
    public FencingToken(long generation, long sequence) {
        this(generation, sequence, 0);
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
        String third = parts.group(3);
        long generation = Long.parseUnsignedLong(parts.group(1), 16);
        long sequence = Long.parseUnsignedLong(parts.group(2), 16);
        long turn = third == null ? 0 : Long.parseUnsignedLong(third, 16);
        if (generation < 0 || sequence < 0 || turn < 0) {
            throw invalid(text);
        }
        return new FencingToken(generation, sequence, turn);
    }

    private static IllegalArgumentException invalid(String text) {
        return new IllegalArgumentException("Invalid token \"" + text
                + "\": it must be two or three numbers below 2^63, in lower-case hexadecimal, with ':' between them");
    }

    /** By generation, then by sequence, then by turn. */
    @Override
    public int compareTo(FencingToken other) {
        int byGeneration = Long.compare(generation, other.generation);
        if (byGeneration != 0) {
            return byGeneration;
        }
        int bySequence = Long.compare(sequence, other.sequence);
        return bySequence != 0 ? bySequence : Long.compare(turn, other.turn);
    }

    /**
     * The generation, the sequence and, if it is not 0, the turn, each as 16 hexadecimal digits, with ':' between them.
     * Two texts compare, character by character, as their tokens do: one without a turn is the beginning of those with
     * one, and so comes first.
     */
    @Override
    public String toString() {
        return turn == 0
                ? String.format(Locale.ROOT, "%016x:%016x", generation, sequence)
                : String.format(Locale.ROOT, "%016x:%016x:%016x", generation, sequence, turn);
    }
}
