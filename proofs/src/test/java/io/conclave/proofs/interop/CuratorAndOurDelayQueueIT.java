package io.conclave.proofs.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.node.DataCodec;
import io.conclave.queues.DistributedDelayQueue;
import io.conclave.queues.QueueCount;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.state.ConnectionState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Producers and consumers of Curator's delay queue and of ours share a path, so that a fleet can move from one to the
 * other.
 */
class CuratorAndOurDelayQueueIT extends CuratorBesideOurs {
    private static final String PATH = "/queues/shared";
    private static final long SOON_MS = 400;

    /** So late that what is put meanwhile comes first on a busy machine as well. */
    private static final int LATER_MS = 4_000;

    private final Queue<String> consumed = new ConcurrentLinkedQueue<>();

    private DistributedDelayQueue<String> ours() {
        return DistributedDelayQueue.at(coordinator, PATH, DataCodec.TEXT);
    }

    private org.apache.curator.framework.recipes.queue.DistributedDelayQueue<String> theirs(
            @Nullable QueueConsumer<String> consumer) throws Exception {
        QueueSerializer<String> serializer = new QueueSerializer<>() {
            @Override
            public byte[] serialize(String item) {
                return item.getBytes(UTF_8);
            }

            @Override
            public String deserialize(byte[] bytes) {
                return new String(bytes, UTF_8);
            }
        };
        var queue = QueueBuilder.builder(curator, consumer, serializer, PATH)
                .putInBackground(false)
                .buildDelayQueue();
        queue.start();
        return queue;
    }

    private QueueConsumer<String> consumer() {
        return new QueueConsumer<>() {
            @Override
            public void consumeMessage(String item) {
                consumed.add(item);
            }

            @Override
            public void stateChanged(CuratorFramework client, ConnectionState next) {}
        };
    }

    @ParameterizedTest
    @EnumSource
    void weTakeWhatCuratorPutsAtItsTime(ServerKind kind) throws Exception {
        open(kind);
        try (var theirs = theirs(null)) {
            long begin = System.currentTimeMillis();
            CompletableFuture<String> waiting = ours().takeAsync();
            theirs.put("later", begin + LATER_MS);
            theirs.put("soon", begin + SOON_MS);
            assertEquals("soon", waiting.get(20, SECONDS));
            assertFalse(System.currentTimeMillis() < begin + SOON_MS, "early");
            ours().put("between", Duration.ZERO);
            assertEquals(List.of("between", "later"), List.of(ours().take(), ours().take()));
            assertFalse(System.currentTimeMillis() < begin + LATER_MS, "early");
        }
    }

    @ParameterizedTest
    @EnumSource
    void curatorTakesWhatWePutAtItsTime(ServerKind kind) throws Exception {
        open(kind);
        ours().put("before it came", Duration.ofMillis(SOON_MS));
        try (var theirs = theirs(consumer())) {
            await().atMost(PATIENCE).until(() -> consumed.size() == 1);
            long begin = System.currentTimeMillis();
            ours().put("later", Duration.ofMillis(LATER_MS));
            ours().put("soon", Duration.ofMillis(SOON_MS));
            await().atMost(PATIENCE).until(() -> consumed.size() == 3);
            assertFalse(System.currentTimeMillis() < begin + LATER_MS, "early");
            assertEquals(List.of("before it came", "soon", "later"), List.copyOf(consumed));
            assertEquals(new QueueCount(0, 0, 0), ours().count());
            ours().put("after it was empty", Duration.ofMillis(SOON_MS));
            await().atMost(PATIENCE).until(() -> consumed.size() == 4);
        }
    }

    @ParameterizedTest
    @EnumSource
    void consumersOfBothKindsTakeEachItemOnce(ServerKind kind) throws Exception {
        open(kind);
        int items = 60;
        try (var theirs = theirs(consumer())) {
            List<CompletableFuture<Void>> puts = new ArrayList<>();
            for (int i = 0; i < items; i++) {
                puts.add(ours().putAsync("item " + i, Duration.ofMillis(SOON_MS)));
            }
            List<CompletableFuture<?>> takes = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                takes.add(CompletableFuture.runAsync(this::takeUntilNothingComes, threads));
            }
            CompletableFuture.allOf(puts.toArray(CompletableFuture<?>[]::new)).get(20, SECONDS);
            CompletableFuture.allOf(takes.toArray(CompletableFuture<?>[]::new)).get(60, SECONDS);
            await().atMost(PATIENCE).until(() -> consumed.size() == items);
            assertEquals(items, new HashSet<>(consumed).size());
        }
    }

    private void takeUntilNothingComes() {
        try {
            var item = ours().take(Duration.ofSeconds(3));
            while (item.isPresent()) {
                consumed.add(item.get());
                item = ours().take(Duration.ofSeconds(3));
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void severalItemsInOneZnodeBecomeADeadLetter(ServerKind kind) throws Exception {
        open(kind);
        try (var theirs = theirs(null)) {
            Iterator<String> both = Arrays.asList("one", "two").iterator();
            theirs.putMulti(() -> both.hasNext() ? both.next() : null, 1);
            assertThrows(IllegalArgumentException.class, () -> ours().take());
            await().atMost(PATIENCE).until(() -> ours().count().dead() == 1);
        }
    }
}
