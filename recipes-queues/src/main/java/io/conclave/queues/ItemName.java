package io.conclave.queues;

import io.conclave.line.SequenceOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An item, read from the name of its znode:
 *
 * <ul>
 *   <li>{@code _c_<guid>-queue-<sequence>} or {@code _c_<guid>-queue-<priority>-<sequence>}: the names of the recipes
 *       page with a guid before them.
 *   <li>{@code queue-<guid>-|<time>|<sequence>}, the time in milliseconds since the epoch and hexadecimal: the names of
 *       Curator's delay queue with a guid in them, which that queue reads as well.
 * </ul>
 *
 * <p>Names without a guid are read too.
 *
 * <p>Sequences have the order of {@link SequenceOrder}, which survives the wrap of the parent's counter.
 *
 * @param name the znode's name
 * @param rank lower goes first: its priority, or its time; 0 where the name has neither
 * @param sequence the number that the server appended
 */
record ItemName(String name, long rank, int sequence) {
    static final int HIGHEST_PRIORITY_NUMBER = 99;

    private static final String CLAIM_PREFIX = "claim-";
    private static final Pattern ITEM = Pattern.compile("(?:.*-)?queue-(?:([0-9]{2})-)?([0-9]{10}|-[0-9]{9,10})");
    private static final Pattern DELAYED =
            Pattern.compile("queue-(?:.*-)?\\|([0-9A-Fa-f]{1,15})\\|([0-9]{10}|-[0-9]{9,10})");
    private static final SequenceOrder<ItemName> ORDER = new SequenceOrder<>(ItemName::sequence, ItemName::name);

    /** The name to create, to which the server appends the sequence. */
    static String toCreate(String guid) {
        return "_c_" + guid + "-queue-";
    }

    /** As the first one, with a priority. */
    static String toCreate(String guid, int priority) {
        return toCreate(guid) + String.format(Locale.ROOT, "%02d-", priority);
    }

    /** As the first one, with the time at which the item is due. */
    static String toCreateDelayed(String guid, long epochMillis) {
        return "queue-" + guid + String.format(Locale.ROOT, "-|%08X|", epochMillis);
    }

    /** Reads a name; empty if it is no item. */
    static Optional<ItemName> parse(String name) {
        if (name.startsWith(CLAIM_PREFIX)) {
            return Optional.empty();
        }
        Optional<ItemName> item = parse(name, ITEM, 10);
        return item.isPresent() ? item : parse(name, DELAYED, 16);
    }

    private static Optional<ItemName> parse(String name, Pattern form, int radix) {
        Matcher matcher = form.matcher(name);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        long sequence = Long.parseLong(matcher.group(2));
        String rank = matcher.group(1);
        return sequence == (int) sequence
                ? Optional.of(new ItemName(name, rank == null ? 0 : Long.parseLong(rank, radix), (int) sequence))
                : Optional.empty();
    }

    /** The name of the znode that hides this item while a consumer works on it. */
    String claim() {
        return CLAIM_PREFIX + name;
    }

    /** Reads the name of a claim: the item that it hides; empty if it is no claim of an item. */
    static Optional<ItemName> claimed(String name) {
        return name.startsWith(CLAIM_PREFIX) ? parse(name.substring(CLAIM_PREFIX.length())) : Optional.empty();
    }

    /** The unclaimed items among the children of a queue, first to last. */
    static List<ItemName> unclaimed(Collection<String> children, ItemOrder order) {
        Set<String> claims = new HashSet<>();
        for (String child : children) {
            if (child.startsWith(CLAIM_PREFIX)) {
                claims.add(child);
            }
        }
        List<ItemName> items = all(children);
        if (!claims.isEmpty()) {
            items.removeIf(item -> claims.contains(item.claim()));
        }
        sort(items, order);
        return items;
    }

    /** The items among the children of a queue, claimed ones included, in no order. */
    static List<ItemName> all(Collection<String> children) {
        List<ItemName> items = new ArrayList<>(children.size());
        for (String child : children) {
            parse(child).ifPresent(items::add);
        }
        return items;
    }

    private static void sort(List<ItemName> items, ItemOrder order) {
        ORDER.sort(items);
        if (order.isRanked()) {
            items.sort(Comparator.comparingLong(ItemName::rank)); // stable
        }
    }
}
