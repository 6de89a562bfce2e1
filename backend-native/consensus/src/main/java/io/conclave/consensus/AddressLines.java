package io.conclave.consensus;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Predicate;

/**
 * What waits for its turn, in a line for each address. The lines take turns: so the first of an address waits for one
 * of each other address, however many these have. Who adds to them keeps their bounds. Used by one thread at a time.
 *
 * @param <T> what waits
 */
public final class AddressLines<T> {
    private record Waiting<T>(T what, boolean isNew) {}

    private static final class Line<T> {
        final Queue<Waiting<T>> waiting = new ArrayDeque<>();
        int newOnes;

        T first() {
            return waiting.element().what();
        }
    }

    /** Only those in which something waits; the one whose turn it is comes first. */
    private final Map<String, Line<T>> lines = new LinkedHashMap<>();

    private int newOnes;

    /** Lines in which nothing waits. */
    public AddressLines() {}

    /** Puts one that is new at the end of its address's line. */
    public void add(String address, T what) {
        add(address, new Waiting<>(what, true));
    }

    /** The same with one that goes on with something that had its turn before; it does not count. */
    public void addFurther(String address, T what) {
        add(address, new Waiting<>(what, false));
    }

    private void add(String address, Waiting<T> waiting) {
        Line<T> line = lines.computeIfAbsent(address, none -> new Line<>());
        line.waiting.add(waiting);
        count(line, waiting, 1);
    }

    /** Takes out the one whose turn it is; empty if nothing waits. */
    public Optional<T> next() {
        return next(any -> true);
    }

    /** The same without the lines whose first one may not go: these keep their turn. */
    public Optional<T> next(Predicate<T> mayGo) {
        Optional<Map.Entry<String, Line<T>>> first = inTurn(mayGo);
        first.ifPresent(entry -> lines.remove(entry.getKey()));
        return first.map(entry -> {
            Line<T> line = entry.getValue();
            Waiting<T> next = line.waiting.remove();
            count(line, next, -1);
            if (!line.waiting.isEmpty()) {
                lines.put(entry.getKey(), line); // behind all others
            }
            return next.what();
        });
    }

    /** What {@link #next(Predicate)} would take out. */
    public Optional<T> peek(Predicate<T> mayGo) {
        return inTurn(mayGo).map(entry -> entry.getValue().first());
    }

    private Optional<Map.Entry<String, Line<T>>> inTurn(Predicate<T> mayGo) {
        return lines.entrySet().stream()
                .filter(entry -> mayGo.test(entry.getValue().first()))
                .findFirst()
                .map(entry -> Map.entry(entry.getKey(), entry.getValue()));
    }

    /** Takes out those of an address that wait no more. */
    public void removeIf(String address, Predicate<T> waitsNoMore) {
        lines.computeIfPresent(address, (same, line) -> {
            line.waiting.removeIf(waiting -> {
                boolean gone = waitsNoMore.test(waiting.what());
                if (gone) {
                    count(line, waiting, -1);
                }
                return gone;
            });
            return line.waiting.isEmpty() ? null : line;
        });
    }

    /** Whether nothing waits. */
    public boolean isEmpty() {
        return lines.isEmpty();
    }

    private void count(Line<T> line, Waiting<T> waiting, int more) {
        if (waiting.isNew()) {
            line.newOnes += more;
            newOnes += more;
        }
    }

    /** How many new ones wait. */
    public int count() {
        return newOnes;
    }

    /** How many of them are of the address. */
    public int count(String address) {
        Line<T> line = lines.get(address);
        return line == null ? 0 : line.newOnes;
    }
}
