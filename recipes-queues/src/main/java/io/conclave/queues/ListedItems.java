package io.conclave.queues;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The unclaimed items that a consumer knows of, in the order in which they go out: those of a list, and in a priority
 * queue the changes that it was told of since. State belongs to the session's dispatcher.
 */
final class ListedItems {
    /** How much older than the first item of the list one may be that comes back. */
    private static final int SLACK = 1 << 30;

    private final boolean byPriority;
    private final Set<String> children = new HashSet<>(); // of a priority queue, with its claims
    private final TreeSet<ItemName> items;
    private int start;

    ListedItems(boolean byPriority) {
        this.byPriority = byPriority;
        Comparator<ItemName> inLine = Comparator.<ItemName>comparingInt(item -> byPriority ? item.priority() : 0)
                .thenComparing(item -> item.sequence() - start, Integer::compareUnsigned)
                .thenComparing(ItemName::name);
        this.items = new TreeSet<>(inLine);
    }

    boolean isEmpty() {
        return items.isEmpty();
    }

    int size() {
        return items.size();
    }

    boolean contains(ItemName item) {
        return items.contains(item);
    }

    /** The first ones, or all if there are fewer. */
    List<ItemName> first(int count) {
        return items.stream().limit(count).toList();
    }

    /** The one behind so many. */
    Optional<ItemName> behind(int count) {
        return items.stream().skip(count).findFirst();
    }

    /** A list was read; it replaces what was known. */
    void list(Collection<String> names) {
        clear();
        List<ItemName> inSequence = ItemName.unclaimed(names, false);
        if (!inSequence.isEmpty()) {
            start = inSequence.get(0).sequence() - SLACK;
        }
        items.addAll(inSequence);
        if (byPriority) {
            children.addAll(names);
        }
    }

    /** A child was created. */
    void created(String name) {
        children.add(name);
        ItemName.claimed(name).ifPresent(items::remove);
        ItemName.parse(name).filter(item -> !children.contains(item.claim())).ifPresent(items::add);
    }

    /** A child was deleted. */
    void deleted(String name) {
        children.remove(name);
        ItemName.parse(name).ifPresent(items::remove);
        ItemName.claimed(name).filter(item -> children.contains(item.name())).ifPresent(items::add);
    }

    /** This consumer has it, or it is a dead letter. */
    void remove(ItemName item) {
        items.remove(item);
    }

    void clear() {
        items.clear();
        children.clear();
    }
}
