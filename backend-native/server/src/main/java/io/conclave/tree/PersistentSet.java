package io.conclave.tree;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An immutable set over a {@link PersistentMap}.
 *
 * @param <E> elements with an order that agrees with equals
 */
public final class PersistentSet<E extends Comparable<? super E>> implements Iterable<E> {
    private static final PersistentSet<?> EMPTY = new PersistentSet<>(PersistentMap.<String, Boolean>empty());

    private final PersistentMap<E, Boolean> elements;

    private PersistentSet(PersistentMap<E, Boolean> elements) {
        this.elements = elements;
    }

    /** The set without elements. */
    @SuppressWarnings("unchecked")
    public static <E extends Comparable<? super E>> PersistentSet<E> empty() {
        return (PersistentSet<E>) EMPTY;
    }

    /** How many elements there are. */
    public int size() {
        return elements.size();
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return elements.isEmpty();
    }

    /** The set with this element too. */
    public PersistentSet<E> with(E element) {
        return changed(elements.put(element, Boolean.TRUE));
    }

    /** The set without this element. */
    public PersistentSet<E> without(E element) {
        return changed(elements.remove(element));
    }

    @SuppressWarnings("ReferenceEquality") // the very same map means that nothing was changed
    private PersistentSet<E> changed(PersistentMap<E, Boolean> changed) {
        if (changed == elements) {
            return this;
        }
        return changed.isEmpty() ? empty() : new PersistentSet<>(changed);
    }

    /** Calls back for each element, in the order of the map. */
    @Override
    public void forEach(Consumer<? super E> action) {
        elements.forEach((element, present) -> action.accept(element));
    }

    /** The elements in their natural order, in a new list. */
    public List<E> sorted() {
        List<E> sorted = new ArrayList<>(size());
        elements.forEach((element, present) -> sorted.add(element));
        sorted.sort(null);
        return sorted;
    }

    @Override
    public Iterator<E> iterator() {
        Iterator<Map.Entry<E, Boolean>> entries = elements.iterator();
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return entries.hasNext();
            }

            @Override
            public E next() {
                return entries.next().getKey();
            }
        };
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PersistentSet<?> that && elements.equals(that.elements);
    }

    @Override
    public int hashCode() {
        return elements.hashCode();
    }

    @Override
    public String toString() {
        return sorted().toString();
    }
}
