package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PersistentMapTest {
    /** A key whose hash is as bad as we like. */
    record Key(int value, int hash) implements Comparable<Key> {
        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public int compareTo(Key other) {
            return Integer.compare(value, other.value);
        }
    }

    @Test
    void behavesAsAHashMapDoes() {
        compareWithHashMap(value -> "node-" + value);
    }

    @Test
    void behavesAsAHashMapDoesWhenManyHashesCollide() {
        compareWithHashMap(value -> new Key(value, value % 7));
    }

    @Test
    void behavesAsAHashMapDoesWhenAllHashesCollide() {
        compareWithHashMap(value -> new Key(value, 42));
    }

    private static <K extends Comparable<? super K>> void compareWithHashMap(IntFunction<K> keys) {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int universe : new int[] {5, 17, 40, 3000}) {
            Map<K, Integer> expected = new HashMap<>();
            PersistentMap<K, Integer> map = PersistentMap.empty();
            for (int step = 0; step < 6000; step++) {
                K key = keys.apply(random.nextInt(universe));
                if (random.nextInt(100) < (step % 2000 < 1000 ? 70 : 30)) {
                    expected.put(key, step);
                    map = map.put(key, step);
                } else {
                    expected.remove(key);
                    map = map.remove(key);
                }
                assertEquals(expected.get(key), map.get(key), "seed " + seed);
                assertEquals(expected.size(), map.size(), "seed " + seed);
                if (step % 500 == 0) {
                    assertEquals(expected, contentOf(map), "seed " + seed);
                    assertEquals(expected.hashCode(), map.hashCode(), "seed " + seed);
                }
            }
            for (K key : new ArrayList<>(expected.keySet())) {
                map = map.remove(key);
            }
            assertSame(PersistentMap.<K, Integer>empty(), map, "seed " + seed);
        }
    }

    /** As a stranger makes them: "Aa" and "BB" have one hash, and so has each row of as many of them. */
    private static List<String> namesWithOneHash() {
        List<String> names = List.of("");
        for (int i = 0; i < 13; i++) {
            names = names.stream()
                    .flatMap(name -> Stream.of(name + "Aa", name + "BB"))
                    .toList();
        }
        assertEquals(1, names.stream().map(String::hashCode).distinct().count());
        return names;
    }

    @Test
    void noBucketGrowsWithNamesThatHaveOneHash() {
        List<String> names = new ArrayList<>(namesWithOneHash());
        PersistentMap<String, Integer> map = PersistentMap.empty();
        for (String name : names) {
            map = map.put(name, name.length());
            assertEquals(name.length(), map.get(name));
        }
        assertEquals(names.size(), map.size());
        assertEquals(Set.copyOf(names), contentOf(map).keySet());
        int largest = largestBucket(map.root());
        assertTrue(largest <= PersistentMap.MAX_BUCKET_ENTRIES, () -> largest + " entries in one bucket");
        Collections.shuffle(names, new Random(7));
        PersistentMap<String, Integer> again = PersistentMap.empty();
        for (String name : names) {
            again = again.put(name, name.length());
        }
        assertEquals(map, again);
        for (String name : names) {
            map = map.remove(name);
            assertNull(map.get(name));
        }
        assertSame(PersistentMap.<String, Integer>empty(), map);
    }

    private static int largestBucket(Object node) {
        return node instanceof PersistentMap.Branch branch
                ? Stream.of(branch.slots())
                        .mapToInt(PersistentMapTest::largestBucket)
                        .max()
                        .orElse(0)
                : PersistentMap.sizeOf(node);
    }

    @Test
    void aBulkEditDoesWhatItsEditsDoOneByOne() {
        compareBulkEdits(value -> "node-" + value);
    }

    @Test
    void aBulkEditDoesSoWhenManyHashesCollide() {
        compareBulkEdits(value -> new Key(value, value % 7));
    }

    @Test
    void aBulkEditDoesSoWhenAllHashesCollide() {
        compareBulkEdits(value -> new Key(value, 42));
    }

    private static <K extends Comparable<? super K>> void compareBulkEdits(IntFunction<K> keys) {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            int size = 1 + random.nextInt(random.nextInt(4) == 0 ? 1000 : 40);
            PersistentMap<K, Integer> map = PersistentMap.empty();
            for (int i = 0; i < size; i++) {
                map = map.put(keys.apply(i), i);
            }
            PersistentMap<K, Integer> before = map;
            PersistentMap<K, Integer> expected = map;
            Map<K, Integer> removed = new HashMap<>();
            BulkEdit<K, Integer, K> edit = new BulkEdit<>(removed::put);
            Map<K, Integer> gone = new HashMap<>();
            int[] chances = {random.nextInt(101), random.nextInt(101)};
            for (int i = 0; i < size; i++) {
                if (random.nextInt(100) < chances[0]) {
                    edit.remove(keys.apply(i), keys.apply(i));
                    gone.put(keys.apply(i), i);
                    expected = expected.remove(keys.apply(i));
                } else if (random.nextInt(100) < chances[1]) {
                    edit.replace(keys.apply(i), -i);
                    expected = expected.put(keys.apply(i), -i);
                }
            }
            PersistentMap<K, Integer> edited = edit.applyTo(map);
            assertEquals(expected, edited, "seed " + seed + " round " + round);
            assertEquals(gone, removed, "seed " + seed + " round " + round);
            assertEquals(expected.size(), edited.size(), "seed " + seed + " round " + round);
            assertEquals(contentOf(expected), contentOf(edited), "seed " + seed + " round " + round);
            assertEquals(before, map, "seed " + seed + " round " + round);
            assertEquals(expected.isEmpty(), edited.isEmpty(), "seed " + seed + " round " + round);
        }
    }

    @Test
    void aBulkEditChangesOnlyWhatIsThere() {
        PersistentMap<String, Integer> map =
                PersistentMap.<String, Integer>empty().put("a", 1);
        BulkEdit<String, Integer, String> replacing = new BulkEdit<>((what, value) -> {});
        replacing.replace("b", 2);
        assertThrows(IllegalArgumentException.class, () -> replacing.applyTo(map));
        BulkEdit<String, Integer, String> removing = new BulkEdit<>((what, value) -> {});
        removing.remove("b", "b");
        assertThrows(IllegalArgumentException.class, () -> removing.applyTo(map));
        assertSame(map, new BulkEdit<String, Integer, String>((what, value) -> {}).applyTo(map));
    }

    private static <K extends Comparable<? super K>, V> Map<K, V> contentOf(PersistentMap<K, V> map) {
        Map<K, V> visited = new HashMap<>();
        map.forEach(visited::put);
        Map<K, V> iterated = new HashMap<>();
        for (Map.Entry<K, V> entry : map) {
            assertNull(iterated.put(entry.getKey(), entry.getValue()), "iterated twice");
        }
        assertEquals(visited, iterated);
        return iterated;
    }

    @Test
    void anOldMapStaysAsItWas() {
        PersistentMap<String, Integer> map = PersistentMap.empty();
        List<PersistentMap<String, Integer>> versions = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            versions.add(map);
            map = map.put("k" + i, i);
        }
        PersistentMap<String, Integer> full = map;
        for (int i = 0; i < 300; i++) {
            map = map.remove("k" + i);
        }
        assertEquals(300, full.size());
        for (int size = 0; size < 300; size++) {
            assertEquals(size, versions.get(size).size());
            assertEquals(
                    size == 0 ? null : Integer.valueOf(size - 1),
                    versions.get(size).get("k" + (size - 1)));
            assertNull(versions.get(size).get("k" + size));
        }
    }

    @Test
    void equalContentHasEqualShapeAndOrderHoweverItCame() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            numbers.add(i);
        }
        List<String> order = null;
        PersistentMap<String, Integer> first = null;
        for (int round = 0; round < 5; round++) {
            Collections.shuffle(numbers, random);
            PersistentMap<String, Integer> map = PersistentMap.empty();
            for (int i : numbers) {
                map = map.put("n" + i, i);
            }
            for (int i : numbers) {
                map = i >= 700 ? map.remove("n" + i) : map;
            }
            List<String> keys = new ArrayList<>();
            map.forEach((key, value) -> keys.add(key));
            order = order == null ? keys : order;
            first = first == null ? map : first;
            assertEquals(order, keys, "seed " + seed);
            assertEquals(first, map, "seed " + seed);
            assertNotEquals(first, map.put("n0", -1), "seed " + seed);
            assertNotEquals(first, map.remove("n0"), "seed " + seed);
        }
    }

    @Test
    void puttingWhatIsThereAndRemovingWhatIsNotChangeNothing() {
        PersistentMap<String, String> map =
                PersistentMap.<String, String>empty().put("a", "1");
        assertSame(map, map.put("a", "1"));
        assertSame(map, map.remove("b"));
    }

    @Test
    void anIteratorAtItsEndSaysSo() {
        assertThrows(
                NoSuchElementException.class,
                () -> PersistentMap.<String, String>empty().iterator().next());
    }
}
