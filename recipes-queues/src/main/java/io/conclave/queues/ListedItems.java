package io.conclave.queues;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The unclaimed items that a consumer knows of, in the order in which they go out: those of a list, and if
 * an item may overtake others, the changes that it was told of since. State belongs to the session's dispatcher.
 */
final class ListedItems {
    /** How much older than the first item of the list one may be that comes back. */
    private static final int SLACK = 1 << 30;

    private final ItemOrder order;
    private final Set<String> children = new HashSet<>(); // with claims; only if an item may overtake others
    private final TreeSet<ItemName> items;
    private int start;

    ListedItems(ItemOrder order) {
        this.order = order;
        Comparator<ItemName> inLine = Comparator.<ItemName>comparingLong(item -> order.isRanked() ? item.rank() : 0)
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

    /** The first ones that are due, or all of those if there are fewer. */
    List<ItemName> due(int count, long wallMillis) {
        return items.stream()
                .limit(count)
                .takeWhile(item -> order.untilDue(item, wallMillis) <= 0)
                .toList();
    }

    /** The one behind so many, if it is due. */
    Optional<ItemName> dueBehind(int count, long wallMillis) {
        return items.stream().skip(count).findFirst().filter(item -> order.untilDue(item, wallMillis) <= 0);
    }

    /** How long until the first is due, by the wall clock; zero if it is, or if there is none. */
    Duration untilDue(long wallMillis) {
        return items.isEmpty()
                ? Duration.ZERO
                : Duration.ofMillis(Math.max(0, order.untilDue(items.first(), wallMillis)));
    }

    /** A list was read; it replaces what was known. */
    void list(Collection<String> names) {
        clear();
        List<ItemName> inSequence = ItemName.unclaimed(names, ItemOrder.BY_SEQUENCE);
        if (!inSequence.isEmpty()) {
            start = inSequence.get(0).sequence() - SLACK;
        }
        items.addAll(inSequence);
        if (order.isRanked()) {
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
