package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertIterableEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.ZnodeAcl;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WatchTableTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static final List<Integer> KINDS =
            List.of(WatchTable.DATA, WatchTable.CHILDREN, WatchTable.PERSISTENT, WatchTable.RECURSIVE);

    private static final class CountingWatcher implements WatchTable.Watcher {
        private final WatchedPaths paths;

        CountingWatcher(LimitGuard guard) {
            paths = new WatchedPaths(guard);
        }

        @Override
        public WatchedPaths watched() {
            return paths;
        }

        @Override
        public void tell(SharedEvent event) {}
    }

    /** As the words for operators say it, without looking at any connection. */
    @Test
    void theCountIsThatOfAllWatchedPathsAfterEveryChange() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        WatchTable table = new WatchTable();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults(), new ManualTimeSource());
        List<CountingWatcher> watchers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            watchers.add(new CountingWatcher(guard));
        }
        for (int i = 0; i < 20_000; i++) {
            CountingWatcher watcher = watchers.get(random.nextInt(watchers.size()));
            String path = "/" + random.nextInt(8);
            int kind = KINDS.get(random.nextInt(KINDS.size()));
            switch (random.nextInt(8)) {
                case 0 -> table.remove(path, watcher, random.nextBoolean() ? kind : WatchTable.ANY);
                case 1 -> table.fire(new TreeEvent(any(random), path, i, ZnodeAcl.OPEN));
                case 2 -> table.take(path);
                case 3 -> {
                    if (random.nextInt(20) == 0) {
                        while (!table.removeSome(watcher, 3)) {
                            // some more
                        }
                    }
                }
                default -> table.add(path, watcher, kind);
            }
            long watched =
                    watchers.stream().mapToLong(each -> each.paths.size()).sum();
            assertEquals(watched, table.watchCount(), "seed " + seed + ", step " + i);
        }
        watchers.forEach(watcher -> table.removeSome(watcher, Integer.MAX_VALUE));
        assertEquals(0, guard.watchBytes());
    }

    /** A connection can have very many watches: when it goes, they are removed in many turns of the loop. */
    @Test
    void noMoreThanAskedForAreRemovedAtATime() {
        WatchTable table = new WatchTable();
        CountingWatcher watcher = new CountingWatcher(new LimitGuard(ClientLimits.defaults(), new ManualTimeSource()));
        for (int i = 0; i < 10; i++) {
            table.add("/" + i, watcher, WatchTable.DATA);
        }
        assertEquals(false, table.removeSome(watcher, 4));
        assertEquals(6, table.watchCount());
        table.fire(new TreeEvent(TreeEvent.Type.DELETED, "/9", 1, ZnodeAcl.OPEN));
        assertEquals(false, table.removeSome(watcher, 4));
        assertEquals(1, table.watchCount());
        assertEquals(true, table.removeSome(watcher, 4));
        assertEquals(0, table.size());
    }

    /** A watcher that counts with how many it is compared, and writes down that it was told. */
    private static final class ComparedWatcher implements WatchTable.Watcher {
        private static long comparisons;

        private final WatchedPaths paths;
        private final List<ComparedWatcher> told;

        ComparedWatcher(LimitGuard guard, List<ComparedWatcher> told) {
            paths = new WatchedPaths(guard);
            this.told = told;
        }

        @Override
        public WatchedPaths watched() {
            return paths;
        }

        @Override
        public void tell(SharedEvent event) {
            told.add(this);
        }

        @Override
        public boolean equals(Object other) {
            comparisons++;
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /** Each with each it is a million for one event of a thousand watchers. */
    @Test
    void recursiveWatchersAreToldOnceInOrderAndNotComparedWithEachOther() {
        WatchTable table = new WatchTable();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults(), new ManualTimeSource());
        List<ComparedWatcher> told = new ArrayList<>();
        List<ComparedWatcher> watchers = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            ComparedWatcher watcher = new ComparedWatcher(guard, told);
            watchers.add(watcher);
            table.add("/a/b", watcher, i % 2 == 0 ? WatchTable.RECURSIVE : WatchTable.PERSISTENT);
            table.add("/a", watcher, WatchTable.RECURSIVE);
            table.add("/", watcher, WatchTable.RECURSIVE);
        }
        ComparedWatcher.comparisons = 0;
        table.fire(new TreeEvent(TreeEvent.Type.DATA_CHANGED, "/a/b", 1, ZnodeAcl.OPEN));
        assertTrue(ComparedWatcher.comparisons < 10_000, ComparedWatcher.comparisons + " comparisons");
        assertIterableEquals(watchers, told);
    }

    @Test
    void recursiveWatchersOfEachAncestorAreToldTheNearestFirstAndNoOthers() {
        Random random = new Random();
        long seed = random.nextLong();
        random.setSeed(seed);
        WatchTable table = new WatchTable();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults(), new ManualTimeSource());
        Map<String, ComparedWatcher> watching = new HashMap<>();
        List<ComparedWatcher> told = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            String path = anyPath(random);
            ComparedWatcher present = watching.remove(path);
            if (present != null) {
                assertTrue(table.remove(path, present, WatchTable.RECURSIVE));
            } else if (random.nextBoolean()) {
                ComparedWatcher watcher = new ComparedWatcher(guard, told);
                watching.put(path, watcher);
                table.add(path, watcher, WatchTable.RECURSIVE);
            }
            String changed = anyPath(random);
            List<ComparedWatcher> due = new ArrayList<>();
            for (String above = changed; !above.isEmpty(); above = above.substring(0, above.lastIndexOf('/'))) {
                Optional.ofNullable(watching.get(above)).ifPresent(due::add);
            }
            if (!changed.equals("/")) {
                Optional.ofNullable(watching.get("/")).ifPresent(due::add);
            }
            told.clear();
            table.fire(new TreeEvent(TreeEvent.Type.CREATED, changed, 1, ZnodeAcl.OPEN));
            assertEquals(due, told, () -> changed + ", seed " + seed);
        }
    }

    /** Of few names, so that many are above others, and the root. */
    private static String anyPath(Random random) {
        StringBuilder path = new StringBuilder();
        for (int depth = random.nextInt(6); depth > 0; depth--) {
            path.append('/').append("ab".repeat(random.nextInt(3))).append("ab".charAt(random.nextInt(2)));
        }
        return path.length() == 0 ? "/" : path.toString();
    }

    /** 128 times as long would be a second and more for the end of a session with some hundred ephemerals. */
    @Test
    void anEventFarDownTakesAboutAsLongAsOneWithALongName() {
        assumeTrue(THREADS.isCurrentThreadCpuTimeSupported());
        String deep = ("/" + "n".repeat(62)).repeat(255);
        String flat = "/" + "n".repeat(deep.length() - 1);
        WatchTable table = new WatchTable();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults(), new ManualTimeSource());
        table.add("/elsewhere", new ComparedWatcher(guard, new ArrayList<>()), WatchTable.RECURSIVE);
        long ofDeep = Long.MAX_VALUE;
        long ofFlat = Long.MAX_VALUE;
        for (int round = 0; round < 20; round++) {
            ofDeep = Math.min(ofDeep, cpuNanosOfEvents(table, deep));
            ofFlat = Math.min(ofFlat, cpuNanosOfEvents(table, flat));
        }
        assertTrue(ofDeep <= 20 * ofFlat, ofDeep + " ns of the processor, and " + ofFlat);
    }

    private static long cpuNanosOfEvents(WatchTable table, String path) {
        long before = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < 20; i++) {
            table.fire(new TreeEvent(TreeEvent.Type.DELETED, path + i, 1, ZnodeAcl.OPEN));
        }
        return THREADS.getCurrentThreadCpuTime() - before;
    }

    private static TreeEvent.Type any(Random random) {
        TreeEvent.Type[] types = TreeEvent.Type.values();
        return types[random.nextInt(types.length)];
    }
}
