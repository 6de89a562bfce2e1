package io.conclave.config;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.cache.CachedNode;
import io.conclave.cache.MirrorState;
import io.conclave.cache.NodeChange;
import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** What the caches promise. */
abstract class CacheContract extends ConfigFixture {
    private static String text(CachedNode node) {
        return new String(node.data(), StandardCharsets.UTF_8);
    }

    private static Map<String, String> texts(Collection<CachedNode> nodes) {
        Map<String, String> texts = new TreeMap<>();
        nodes.forEach(node -> texts.put(node.path().toString(), text(node)));
        return texts;
    }

    private static void awaitTexts(SubtreeCache cache, Map<String, String> expected) {
        await().atMost(PATIENCE).until(() -> texts(cache.state().nodes().values()), expected::equals);
    }

    @Test
    void nodeCacheFollowsAZnodeThatComesAndGoes() throws Exception {
        Coordinator coordinator = connect();
        try (NodeCache cache = NodeCache.at(connect(), "/node")) {
            cache.awaitLoaded(PATIENCE);
            assertTrue(cache.node().isEmpty());
            assertEquals(1, cache.number());
            create(coordinator, "/node", "one");
            await().atMost(PATIENCE).until(() -> cache.node()
                    .filter(node -> text(node).equals("one"))
                    .isPresent());
            set(coordinator, "/node", "two");
            await().atMost(PATIENCE).until(() -> cache.node()
                    .filter(node -> text(node).equals("two"))
                    .isPresent());
            create(coordinator, "/node/below", "is none of its business");
            delete(coordinator, "/node/below");
            delete(coordinator, "/node");
            await().atMost(PATIENCE).until(() -> cache.node().isEmpty());
            create(coordinator, "/node", "three");
            await().atMost(PATIENCE).until(() -> cache.node()
                    .filter(node -> text(node).equals("three"))
                    .isPresent());
            assertTrue(cache.isCurrent());
        }
    }

    @Test
    void negativeTimeoutIsNamedWithItsRule() {
        try (NodeCache cache = NodeCache.at(connect(), "/node")) {
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> cache.awaitLoaded(Duration.ofMillis(-1)));
            assertEquals("Invalid timeout PT-0.001S: it must not be negative", refused.getMessage());
        }
    }

    @Test
    void childrenCacheTellsWhatIsAddedChangedAndRemoved() throws Exception {
        Coordinator coordinator = connect();
        create(coordinator, "/parent", "not a child");
        create(coordinator, "/parent/a", "one");
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        try (ChildrenCache cache = ChildrenCache.at(connect(), "/parent")) {
            cache.onChange(changes -> changes.changes()
                    .forEach(change ->
                            told.add(change.type() + " " + change.path().name())));
            cache.awaitLoaded(PATIENCE);
            assertEquals("one", text(cache.child("a").orElseThrow()));
            create(coordinator, "/parent/b", "two");
            await().atMost(PATIENCE)
                    .until(() -> told.size() == 2); // what the listener has not heard yet comes together
            assertEquals(2, cache.children().size());
            set(coordinator, "/parent/a", "three");
            await().atMost(PATIENCE).until(() -> told.size() == 3);
            assertEquals("three", text(cache.child("a").orElseThrow()));
            create(coordinator, "/parent/a/below", "no child");
            set(coordinator, "/parent", "no child either");
            delete(coordinator, "/parent/b");
            await().atMost(PATIENCE).until(() -> cache.child("b").isEmpty());
            await().atMost(PATIENCE).until(() -> told.size() == 4);
            assertEquals(List.of("ADDED a", "ADDED b", "CHANGED a", "REMOVED b"), told);
            assertEquals(List.of("a"), List.copyOf(cache.children().keySet()));
        }
    }

    @Test
    void childThatIsDeletedAndMadeAgainInOneTransactionIsReplaced() throws Exception {
        Coordinator coordinator = connect();
        create(coordinator, "/parent", "");
        create(coordinator, "/parent/a", "one");
        List<NodeChange.Type> told = Collections.synchronizedList(new ArrayList<>());
        try (ChildrenCache cache = ChildrenCache.at(connect(), "/parent")) {
            cache.awaitLoaded(PATIENCE);
            cache.onChange(changes -> changes.changes().forEach(change -> told.add(change.type())));
            await().atMost(PATIENCE).until(() -> told.size() == 1);
            NodePath child = NodePath.of("/parent/a");
            coordinator.execute(Multi.of(Delete.of(child), Create.of(child).withData(new byte[] {'2'})));
            await().atMost(PATIENCE)
                    .until(() -> text(cache.child("a").orElseThrow()).equals("2"));
            await().atMost(PATIENCE).until(() -> told.size() == 2);
            assertEquals(List.of(NodeChange.Type.ADDED, NodeChange.Type.REPLACED), told);
        }
    }

    @Test
    void subtreeCacheHasEverythingFromTheFirstStateOn() throws Exception {
        Coordinator coordinator = connect();
        create(coordinator, "/tree", "root");
        create(coordinator, "/tree/a", "1");
        create(coordinator, "/tree/a/b", "2");
        create(coordinator, "/tree/a/b/c", "3");
        create(coordinator, "/tree-not", "outside");
        try (SubtreeCache cache = SubtreeCache.at(connect(), "/tree")) {
            cache.awaitLoaded(PATIENCE);
            assertEquals(
                    Map.of("/tree", "root", "/tree/a", "1", "/tree/a/b", "2", "/tree/a/b/c", "3"),
                    texts(cache.state().nodes().values()));
            assertEquals("2", text(cache.get("/tree/a/b").orElseThrow()));
            assertEquals(2, cache.below("/tree/a").size());
            create(coordinator, "/tree/d", "4");
            delete(coordinator, "/tree/a/b/c");
            awaitTexts(cache, Map.of("/tree", "root", "/tree/a", "1", "/tree/a/b", "2", "/tree/d", "4"));
        }
    }

    @Test
    void subtreeCacheOfARootThatIsNotThereWaitsForIt() throws Exception {
        Coordinator coordinator = connect();
        try (SubtreeCache cache = SubtreeCache.at(connect(), "/later")) {
            cache.awaitLoaded(PATIENCE);
            assertEquals(0, cache.state().nodes().size());
            create(coordinator, "/later", "1");
            create(coordinator, "/later/a", "2");
            awaitTexts(cache, Map.of("/later", "1", "/later/a", "2"));
            delete(coordinator, "/later/a");
            delete(coordinator, "/later");
            awaitTexts(cache, Map.of());
            create(coordinator, "/later", "3");
            awaitTexts(cache, Map.of("/later", "3"));
        }
    }

    @Test
    void everyStateShowsTransactionsWholeOrNotAtAll() throws Exception {
        Coordinator coordinator = connect();
        create(coordinator, "/pair", "");
        create(coordinator, "/pair/a", "0");
        create(coordinator, "/pair/b", "0");
        List<String> torn = Collections.synchronizedList(new ArrayList<>());
        try (SubtreeCache cache = SubtreeCache.at(connect(), "/pair")) {
            cache.onChange(changes -> {
                MirrorState state = cache.state();
                CachedNode a = state.nodes().get(NodePath.of("/pair/a"));
                CachedNode b = state.nodes().get(NodePath.of("/pair/b"));
                if ((a == null) != (b == null) || (a != null && b != null && !text(a).equals(text(b)))) {
                    torn.add(changes.number() + ": " + (a == null ? "-" : text(a)) + " and "
                            + (b == null ? "-" : text(b)));
                }
            });
            cache.awaitLoaded(PATIENCE);
            NodePath a = NodePath.of("/pair/a");
            NodePath b = NodePath.of("/pair/b");
            for (int i = 1; i <= 60; i++) {
                byte[] data = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
                if (i % 10 == 0) {
                    coordinator.execute(Multi.of(Delete.of(a), Delete.of(b)));
                    coordinator.execute(
                            Multi.of(Create.of(a).withData(data), Create.of(b).withData(data)));
                } else {
                    coordinator.execute(Multi.of(SetData.of(a, data), SetData.of(b, data)));
                }
            }
            awaitTexts(cache, Map.of("/pair", "", "/pair/a", "60", "/pair/b", "60"));
        }
        assertEquals(List.of(), torn);
    }

    @Test
    void cacheMissesNothingWhenItsSessionIsLost() throws Exception {
        Coordinator coordinator = connect();
        create(coordinator, "/tree", "root");
        create(coordinator, "/tree/a", "1");
        create(coordinator, "/tree/b", "2");
        ManualTimeSource clock = jumpingClock();
        Coordinator caching = opened(builder().timeSource(clock));
        try (SubtreeCache cache = SubtreeCache.at(caching, "/tree")) {
            cache.awaitLoaded(PATIENCE);
            caching.onStateChange(state -> {
                if (state == SessionState.LOST) {
                    coordinator.submit(SetData.of(NodePath.of("/tree/a"), new byte[] {'3'}));
                    coordinator.submit(Delete.of(NodePath.of("/tree/b")));
                }
            });
            loseSession(caching, clock);
            awaitTexts(cache, Map.of("/tree", "root", "/tree/a", "3"));
            create(coordinator, "/tree/c", "4");
            awaitTexts(cache, Map.of("/tree", "root", "/tree/a", "3", "/tree/c", "4"));
        }
    }

    @Test
    void cachesOfABusyTreeEndWithWhatIsThere() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("busy tree: seed " + seed);
        Random random = new Random(seed);
        Coordinator coordinator = connect();
        create(coordinator, "/busy", "root");
        Map<String, String> expected = new TreeMap<>(Map.of("/busy", "root"));
        List<SubtreeCache> caches = new ArrayList<>();
        List<CompletableFuture<?>> changes = new ArrayList<>();
        for (int step = 0; step < 300; step++) {
            if (step % 100 == 0) {
                caches.add(SubtreeCache.at(connect(), "/busy")); // they load while the tree changes
            }
            List<String> paths = List.copyOf(expected.keySet());
            String path = paths.get(random.nextInt(paths.size()));
            String value = "v" + step;
            boolean isLeaf = paths.stream().noneMatch(other -> other.startsWith(path + "/"));
            int dice = random.nextInt(4);
            if (dice == 0 && isLeaf && !path.equals("/busy")) {
                changes.add(coordinator.submit(Delete.of(NodePath.of(path))));
                expected.remove(path);
            } else if (dice == 1) {
                changes.add(coordinator.submit(SetData.of(NodePath.of(path), value.getBytes(StandardCharsets.UTF_8))));
                expected.put(path, value);
            } else if (path.length() < 20) {
                String child = path + "/n" + random.nextInt(5);
                if (expected.putIfAbsent(child, value) == null) {
                    changes.add(coordinator.submit(
                            Create.of(NodePath.of(child)).withData(value.getBytes(StandardCharsets.UTF_8))));
                }
            }
        }
        for (CompletableFuture<?> change : changes) {
            change.get(120, SECONDS);
        }
        for (SubtreeCache cache : caches) {
            awaitTexts(cache, expected);
            assertTrue(cache.isCurrent());
            cache.close();
            assertFalse(cache.isCurrent());
        }
    }
}
