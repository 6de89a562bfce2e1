package io.conclave.tree;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An immutable map: {@code put} and {@code remove} yield a new map that shares almost everything with the old one.
 *
 * <p>It is a hash trie (Bagwell, "Ideal Hash Trees", 2001) with buckets: inner nodes branch eight ways on three bits
 * of the hash, and entries that fit stay together in a bucket of up to sixteen entries. The buckets are what keeps it
 * small: a tree of single entries would pay an object header for each. A bucket is a bare array of keys and values in
 * turn, sorted by key, so that looking up is a binary search.
 *
 * <p>Names come from strangers, who can make as many as they like with one hash. A bucket of all of them would be
 * copied with each change. So where no bits of the hash are left, those of a {@link SecondHash} follow, which nobody
 * can make equal on purpose.
 *
 * <p>The shape depends on the keys alone and not on the way they came, because a node is a bucket exactly when it
 * has sixteen entries or fewer. So equal maps iterate in the same order on every member.
 *
 * @param <K> keys with an order that agrees with equals, and so does their text
 * @param <V> values, never null
 */
public final class PersistentMap<K extends Comparable<? super K>, V> implements Iterable<Map.Entry<K, V>> {
    static final int BITS = 3;
    static final int WIDTH = 1 << BITS;

    /** Eleven levels, the last with the two bits that are left of 32. */
    private static final int HASH_BITS = 33;

    private static final int ALL_BITS = HASH_BITS + SecondHash.BITS;
    static final int MAX_BUCKET_ENTRIES = 16;
    static final Object[] NO_ENTRIES = {};
    private static final PersistentMap<?, ?> EMPTY = new PersistentMap<>(NO_ENTRIES);

    /** An inner node. Each slot holds a branch, or a bucket that may be empty but is never null. */
    record Branch(int size, Object[] slots) {
        Branch with(int slot, Object child, int newSize) {
            Object[] copy = slots.clone();
            copy[slot] = child;
            return new Branch(newSize, copy);
        }
    }

    /** A {@link Branch}, or a bucket as a bare {@code Object[]}: wrapping it would cost an object for each bucket. */
    private final Object root;

    private PersistentMap(Object root) {
        this.root = root;
    }

    /** The map without entries. */
    @SuppressWarnings("unchecked")
    public static <K extends Comparable<? super K>, V> PersistentMap<K, V> empty() {
        return (PersistentMap<K, V>) EMPTY;
    }

    /** How many entries there are. */
    public int size() {
        return sizeOf(root);
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return root == NO_ENTRIES;
    }

    /** The value of a key, or null where there is none. */
    @SuppressWarnings("unchecked")
    public @Nullable V get(K key) {
        int hash = spread(key.hashCode());
        int shift = 0;
        Object node = root;
        while (node instanceof Branch branch) {
            node = branch.slots[slotOf(key, hash, shift)];
            shift += BITS;
        }
        Object[] bucket = (Object[]) node;
        int index = indexOf(bucket, key);
        return index >= 0 ? (V) bucket[index + 1] : null;
    }

    /** Whether the key has a value. */
    public boolean containsKey(K key) {
        return get(key) != null;
    }

    /** The map in which the key has this value. A key that is there already stays the same object. */
    public PersistentMap<K, V> put(K key, V value) {
        Object newRoot = put(root, 0, spread(key.hashCode()), key, value);
        return newRoot == root ? this : new PersistentMap<>(newRoot);
    }

    /** The map without this key. */
    public PersistentMap<K, V> remove(K key) {
        return withRoot(remove(root, 0, spread(key.hashCode()), key));
    }

    Object root() {
        return root;
    }

    PersistentMap<K, V> withRoot(Object newRoot) {
        if (newRoot == root) {
            return this;
        }
        return newRoot == NO_ENTRIES ? empty() : new PersistentMap<>(newRoot);
    }

    /** Calls back for each entry, in the map's order. */
    public void forEach(BiConsumer<? super K, ? super V> action) {
        forEach(root, action);
    }

    /** The entries in the map's order. */
    @Override
    public Iterator<Map.Entry<K, V>> iterator() {
        return new EntryIterator<>(root);
    }

    private static Object put(Object node, int shift, int hash, Comparable<?> key, Object value) {
        if (node instanceof Branch branch) {
            int slot = slotOf(key, hash, shift);
            Object child = branch.slots[slot];
            Object newChild = put(child, shift + BITS, hash, key, value);
            return newChild == child
                    ? node
                    : branch.with(slot, newChild, branch.size - sizeOf(child) + sizeOf(newChild));
        }
        Object[] bucket = (Object[]) node;
        int index = indexOf(bucket, key);
        if (index >= 0) {
            return withValue(bucket, index, value);
        }
        Object[] grown = withEntry(bucket, -index - 1, key, value);
        return fits(grown, shift) ? grown : split(grown, shift);
    }

    private static boolean fits(Object[] bucket, int shift) {
        return bucket.length <= 2 * MAX_BUCKET_ENTRIES || shift >= ALL_BITS;
    }

    private static Object[] withValue(Object[] bucket, int index, Object value) {
        if (bucket[index + 1] == value) {
            return bucket;
        }
        Object[] copy = bucket.clone();
        copy[index + 1] = value;
        return copy;
    }

    private static Object[] withEntry(Object[] bucket, int index, Object key, Object value) {
        Object[] copy = new Object[bucket.length + 2];
        System.arraycopy(bucket, 0, copy, 0, index);
        copy[index] = key;
        copy[index + 1] = value;
        System.arraycopy(bucket, index, copy, index + 2, bucket.length - index);
        return copy;
    }

    /** Deals the entries of a bucket out to the slots of a branch; each slot's share stays sorted. */
    private static Branch split(Object[] bucket, int shift) {
        int[] lengths = new int[WIDTH];
        for (int i = 0; i < bucket.length; i += 2) {
            lengths[slotOf(bucket[i], spread(bucket[i].hashCode()), shift)] += 2;
        }
        Object[][] shares = new Object[WIDTH][];
        for (int slot = 0; slot < WIDTH; slot++) {
            shares[slot] = lengths[slot] == 0 ? NO_ENTRIES : new Object[lengths[slot]];
        }
        int[] filled = new int[WIDTH];
        for (int i = 0; i < bucket.length; i += 2) {
            int slot = slotOf(bucket[i], spread(bucket[i].hashCode()), shift);
            shares[slot][filled[slot]++] = bucket[i];
            shares[slot][filled[slot]++] = bucket[i + 1];
        }
        Object[] slots = new Object[WIDTH];
        for (int slot = 0; slot < WIDTH; slot++) {
            slots[slot] = fits(shares[slot], shift + BITS) ? shares[slot] : split(shares[slot], shift + BITS);
        }
        return new Branch(bucket.length / 2, slots);
    }

    private static Object remove(Object node, int shift, int hash, Comparable<?> key) {
        if (node instanceof Branch branch) {
            int slot = slotOf(key, hash, shift);
            Object child = branch.slots[slot];
            Object newChild = remove(child, shift + BITS, hash, key);
            if (newChild == child) {
                return node;
            }
            Branch smaller = branch.with(slot, newChild, branch.size - 1);
            return smaller.size <= MAX_BUCKET_ENTRIES ? collapse(smaller) : smaller;
        }
        Object[] bucket = (Object[]) node;
        int index = indexOf(bucket, key);
        if (index < 0) {
            return node;
        }
        if (bucket.length == 2) {
            return NO_ENTRIES;
        }
        Object[] copy = new Object[bucket.length - 2];
        System.arraycopy(bucket, 0, copy, 0, index);
        System.arraycopy(bucket, index + 2, copy, index, copy.length - index);
        return copy;
    }

    /** One bucket with what is left in a branch, whose children can only be buckets by now. */
    static Object[] collapse(Branch branch) {
        Object[] bucket = NO_ENTRIES;
        for (Object child : branch.slots) {
            Object[] share = (Object[]) child;
            for (int i = 0; i < share.length; i += 2) {
                bucket = withEntry(bucket, -indexOf(bucket, (Comparable<?>) share[i]) - 1, share[i], share[i + 1]);
            }
        }
        return bucket;
    }

    /** The index of a key in a bucket, or {@code -(index where it belongs) - 1}. */
    @SuppressWarnings("unchecked")
    static int indexOf(Object[] bucket, Comparable<?> key) {
        Comparable<Object> wanted = (Comparable<Object>) key;
        int low = 0;
        int high = bucket.length / 2 - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = wanted.compareTo(bucket[2 * middle]);
            if (order == 0) {
                return 2 * middle;
            }
            if (order > 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -2 * low - 1;
    }

    static int sizeOf(Object node) {
        return node instanceof Branch branch ? branch.size : ((Object[]) node).length / 2;
    }

    /**
     * Where in a branch the key belongs.
     *
     * @param hash of the key, spread
     */
    static int slotOf(Object key, int hash, int shift) {
        return shift < HASH_BITS
                ? (hash >>> shift) & (WIDTH - 1)
                : (int) (SecondHash.of(key) >>> (shift - HASH_BITS)) & (WIDTH - 1);
    }

    /** The finalizer of MurmurHash3: names that differ in their last digits alone must not crowd together. */
    static int spread(int hash) {
        int mixed = (hash ^ (hash >>> 16)) * 0x85ebca6b;
        mixed = (mixed ^ (mixed >>> 13)) * 0xc2b2ae35;
        return mixed ^ (mixed >>> 16);
    }

    @SuppressWarnings("unchecked")
    private static <K, V> void forEach(Object node, BiConsumer<? super K, ? super V> action) {
        if (node instanceof Branch branch) {
            for (Object child : branch.slots) {
                forEach(child, action);
            }
            return;
        }
        Object[] bucket = (Object[]) node;
        for (int i = 0; i < bucket.length; i += 2) {
            action.accept((K) bucket[i], (V) bucket[i + 1]);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PersistentMap<?, ?> that && sameContent(root, that.root);
    }

    /** Equal maps have equal shapes, so they are compared side by side; shared parts are equal at a glance. */
    private static boolean sameContent(Object left, Object right) {
        if (left == right) {
            return true;
        }
        if (left instanceof Branch leftBranch) {
            if (!(right instanceof Branch rightBranch) || leftBranch.size != rightBranch.size) {
                return false;
            }
            for (int slot = 0; slot < WIDTH; slot++) {
                if (!sameContent(leftBranch.slots[slot], rightBranch.slots[slot])) {
                    return false;
                }
            }
            return true;
        }
        return right instanceof Object[] bucket && Arrays.equals((Object[]) left, bucket);
    }

    @Override
    public int hashCode() {
        int hash = 0;
        for (Map.Entry<K, V> entry : this) {
            hash += entry.hashCode();
        }
        return hash;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("{");
        forEach((key, value) -> text.append(text.length() > 1 ? ", " : "")
                .append(key)
                .append('=')
                .append(value));
        return text.append('}').toString();
    }

    private static final class EntryIterator<K, V> implements Iterator<Map.Entry<K, V>> {
        private final Deque<Object> pending = new ArrayDeque<>();
        private Object[] bucket = NO_ENTRIES;
        private int next;

        EntryIterator(Object root) {
            pending.push(root);
        }

        @Override
        public boolean hasNext() {
            while (next >= bucket.length && !pending.isEmpty()) {
                Object node = pending.pop();
                if (node instanceof Branch branch) {
                    for (int slot = WIDTH - 1; slot >= 0; slot--) {
                        pending.push(branch.slots[slot]);
                    }
                } else {
                    bucket = (Object[]) node;
                    next = 0;
                }
            }
            return next < bucket.length;
        }

        @Override
        @SuppressWarnings("unchecked")
        public Map.Entry<K, V> next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            Map.Entry<K, V> entry = Map.entry((K) bucket[next], (V) bucket[next + 1]);
            next += 2;
            return entry;
        }
    }
}
