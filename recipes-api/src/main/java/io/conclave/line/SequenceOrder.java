package io.conclave.line;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * The order of sequential znodes by the numbers that the server appended. Two numbers are compared as a signed 32-bit
 * difference, so that the order survives the wrap of the parent's counter as long as fewer than 2^31 creations lie
 * between the first and the last. A list that spans more than that, which only names from elsewhere can bring about,
 * has no such order (that of the differences goes in a circle); it begins behind its widest gap, which for any other
 * list is the same.
 *
 * @param <E> what is read from a name
 */
public final class SequenceOrder<E> {
    private final ToIntFunction<E> sequence;
    private final Comparator<E> inACircle;

    /** @param name decides between equal numbers */
    public SequenceOrder(ToIntFunction<E> sequence, Function<E, String> name) {
        this.sequence = sequence;
        this.inACircle = Comparator.comparingInt(sequence).thenComparing(name);
    }

    /** Sorts a list, first to last. */
    public void sort(List<E> entries) {
        entries.sort(inACircle);
        Collections.rotate(entries, -first(entries));
    }

    /** Which of them is the first: the one behind the widest gap in the circle of sequences. */
    private int first(List<E> circle) {
        int first = 0;
        long widest = -1;
        for (int i = 0; i < circle.size(); i++) {
            int previous = sequence.applyAsInt(circle.get((i == 0 ? circle.size() : i) - 1));
            long gap = Integer.toUnsignedLong(sequence.applyAsInt(circle.get(i)) - previous);
            if (gap > widest) {
                widest = gap;
                first = i;
            }
        }
        return first;
    }
}
