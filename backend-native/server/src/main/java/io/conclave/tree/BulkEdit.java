package io.conclave.tree;

import java.util.Arrays;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Many changes of one {@link PersistentMap} at once: of keys that are there, some go and some get another value. Each
 * inner node on the way is copied once, not once for each key, so that very many removals take a fraction of the time
 * that they take one by one. To be used once.
 *
 * @param <K> the map's keys
 * @param <V> the map's values
 * @param <T> what the caller has for each removal
 */
final class BulkEdit<K extends Comparable<? super K>, V, T> {
    private static final int FIRST_CAPACITY = 1;

    private Object[] keys = new Object[FIRST_CAPACITY];

    /** New values, or {@link Removal}s. */
    private Object[] values = new Object[FIRST_CAPACITY];

    private int[] hashes = new int[FIRST_CAPACITY];
    private int size;

    // the keys of a node are dealt out to its slots through these
    private Object[] keysInTurn = {};
    private Object[] valuesInTurn = {};
    private int[] hashesInTurn = {};

    private final BiConsumer<? super T, ? super V> removed;

    private record Removal(Object what) {}

    /**
     * @param removed called with each removal, with the value that goes; in an order that depends on the map's keys
     *     alone
     */
    BulkEdit(BiConsumer<? super T, ? super V> removed) {
        this.removed = removed;
    }

    /** The key goes, which must be there. */
    void remove(K key, T what) {
        add(key, new Removal(what));
    }

    /** The key gets another value; at most one edit of a key, which must be there. */
    void replace(K key, V value) {
        add(key, value);
    }

    private void add(K key, Object value) {
        if (size == keys.length) {
            keys = Arrays.copyOf(keys, 2 * size);
            values = Arrays.copyOf(values, 2 * size);
            hashes = Arrays.copyOf(hashes, 2 * size);
        }
        keys[size] = key;
        values[size] = value;
        hashes[size++] = PersistentMap.spread(key.hashCode());
    }

    /** The map with all of it done. */
    PersistentMap<K, V> applyTo(PersistentMap<K, V> map) {
        if (size > 1) {
            keysInTurn = new Object[size];
            valuesInTurn = new Object[size];
            hashesInTurn = new int[size];
        }
        return map.withRoot(edited(map.root(), 0, 0, size));
    }

    private Object edited(Object node, int shift, int from, int to) {
        if (from == to) {
            return node;
        }
        return node instanceof PersistentMap.Branch branch
                ? edited(branch, shift, from, to)
                : edited((Object[]) node, from, to);
    }

    private Object edited(PersistentMap.Branch branch, int shift, int from, int to) {
        int[] ends = dealOut(shift, from, to);
        Object[] slots = branch.slots().clone();
        int entries = 0;
        int start = from;
        for (int slot = 0; slot < slots.length; slot++) {
            slots[slot] = edited(slots[slot], shift + PersistentMap.BITS, start, ends[slot]);
            entries += PersistentMap.sizeOf(slots[slot]);
            start = ends[slot];
        }
        PersistentMap.Branch smaller = new PersistentMap.Branch(entries, slots);
        return entries <= PersistentMap.MAX_BUCKET_ENTRIES ? PersistentMap.collapse(smaller) : smaller;
    }

    /** Sorts a part of the edits by the slot that they go to; returns where the part of each slot ends. */
    private int[] dealOut(int shift, int from, int to) {
        int[] ends = new int[PersistentMap.WIDTH];
        if (to - from == 1) {
            Arrays.fill(ends, from);
            Arrays.fill(ends, PersistentMap.slotOf(keys[from], hashes[from], shift), ends.length, to);
            return ends;
        }
        for (int i = from; i < to; i++) {
            ends[PersistentMap.slotOf(keys[i], hashes[i], shift)]++;
        }
        int end = from;
        for (int slot = 0; slot < ends.length; slot++) {
            int start = end;
            end += ends[slot];
            ends[slot] = start;
        }
        for (int i = from; i < to; i++) {
            int place = ends[PersistentMap.slotOf(keys[i], hashes[i], shift)]++;
            keysInTurn[place] = keys[i];
            valuesInTurn[place] = values[i];
            hashesInTurn[place] = hashes[i];
        }
        System.arraycopy(keysInTurn, from, keys, from, to - from);
        System.arraycopy(valuesInTurn, from, values, from, to - from);
        System.arraycopy(hashesInTurn, from, hashes, from, to - from);
        return ends;
    }

    @SuppressWarnings("unchecked")
    private Object[] edited(Object[] bucket, int from, int to) {
        @Nullable Object[] changed = bucket.clone();
        int left = bucket.length;
        for (int i = from; i < to; i++) {
            int index = PersistentMap.indexOf(bucket, (Comparable<?>) keys[i]);
            if (index < 0 || changed[index] == null) {
                throw new IllegalArgumentException("there is no " + keys[i] + " to be changed");
            }
            if (values[i] instanceof Removal removal) {
                removed.accept((T) removal.what, (V) bucket[index + 1]);
                changed[index] = null;
                left -= 2;
            } else {
                changed[index + 1] = values[i];
            }
        }
        return withoutGaps(changed, left);
    }

    private static Object[] withoutGaps(@Nullable Object[] bucket, int length) {
        if (length == 0) {
            return PersistentMap.NO_ENTRIES;
        }
        Object[] whole = new Object[length];
        int next = 0;
        for (int i = 0; i < bucket.length; i += 2) {
            Object key = bucket[i];
            Object value = bucket[i + 1];
            if (key != null && value != null) {
                whole[next++] = key;
                whole[next++] = value;
            }
        }
        return whole;
    }
}
