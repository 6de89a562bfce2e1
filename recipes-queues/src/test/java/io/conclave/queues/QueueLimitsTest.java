package io.conclave.queues;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.testkit.memory.MemoryStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Times at their limits, codecs that break their contract, and what is left at the server of waits that are over. */
class QueueLimitsTest extends QueueFixture {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    @Test
    void waitThatIsOverLeavesNoWatch() throws Exception {
        Coordinator coordinator = connect();
        DistributedQueue<String> queue = queue(coordinator);
        assertEquals(Optional.empty(), queue.take(SHORT));
        CompletableFuture<String> cancelled =
                DistributedQueue.at(coordinator, "/queues/b", DataCodec.TEXT).takeAsync();
        awaitChildren(coordinator, "/queues/b/consumers", 1);
        cancelled.cancel(false);
        DistributedQueue<String> full =
                DistributedQueue.at(coordinator, "/queues/c", DataCodec.TEXT).withBound(1);
        full.put("fills it");
        assertFalse(full.put("too much", SHORT));
        long session = RecipeAccess.session(coordinator).id();
        await().atMost(PATIENCE).until(() -> MemoryStore.named(store).faults().watchCount(session) == 0);
    }

    @Test
    void noTimeToWaitTakesWhatIsThere() throws Exception {
        DistributedQueue<String> queue = queue(connect());
        assertEquals(Optional.empty(), queue.take(Duration.ZERO));
        putAll(queue, "a", "b");
        assertEquals(Optional.of("a"), queue.take(Duration.ZERO));
        queue.claim(Duration.ZERO).orElseThrow().acknowledge();
        assertEquals(Optional.empty(), get(queue.takeAsync(Duration.ZERO)));
    }

    @Test
    void negativeTimeIsRefused() throws Exception {
        DistributedQueue<String> queue = queue(connect());
        Duration negative = Duration.ofMillis(-1);
        assertThrows(IllegalArgumentException.class, () -> queue.take(negative));
        assertThrows(IllegalArgumentException.class, () -> queue.claimAsync(negative));
        assertThrows(IllegalArgumentException.class, () -> queue.put("a", negative));
        assertEquals(new QueueCount(0, 0, 0), queue.count());
    }

    @Test
    void claimMayLastIndefinitely() throws Exception {
        DistributedQueue<String> queue = queue(connect()).withVisibility(FOR_EVER);
        queue.put("a");
        Claim<String> claim = queue.claim();
        assertTrue(claim.isHeld());
        assertTrue(claim.extend(FOR_EVER));
        assertTrue(claim.isHeld());
        claim.acknowledge();
    }

    @Test
    @SuppressWarnings("NullAway") // as a codec without null checks
    void itemThatTheCodecCannotDecodeIsNotLost() throws Exception {
        DataCodec<String> empty = new DataCodec<>() {
            @Override
            public byte[] encode(String value) {
                return DataCodec.TEXT.encode(value);
            }

            @Override
            public String decode(byte[] data) {
                return null;
            }
        };
        Coordinator coordinator = connect();
        queue(coordinator).put("a");
        DistributedQueue<String> queue = DistributedQueue.at(coordinator, PATH, empty);
        assertThrows(NullPointerException.class, queue::claim);
        assertThrows(NullPointerException.class, () -> queue.take(PATIENCE));
        await().atMost(PATIENCE).until(() -> queue.count().dead() == 1);
        assertEquals("a", queue(coordinator).deadLetters().take());
    }

    /** As one in Kotlin may, with a library that declares its exceptions. */
    @Test
    void itemWhoseCodecThrowsACheckedExceptionIsNotLost() throws Exception {
        Coordinator coordinator = opened(builder());
        DistributedQueue<String> failing = DistributedQueue.at(coordinator, PATH, new DataCodec<>() {
            @Override
            public byte[] encode(String value) {
                return DataCodec.TEXT.encode(value);
            }

            @Override
            public String decode(byte[] data) {
                QueueLimitsTest.<RuntimeException>sneak(new IOException("cannot be read"));
                return "";
            }
        });
        failing.put("a");
        failing.put("b");
        assertThrows(IOException.class, failing::take);
        assertEquals(Optional.of("a"), queue(coordinator).deadLetters().take(PATIENCE));
        CompletableFuture<Claim<String>> claim = failing.claimAsync();
        assertInstanceOf(
                IOException.class,
                assertThrows(ExecutionException.class, () -> claim.get(120, TimeUnit.SECONDS))
                        .getCause());
        assertEquals(Optional.of("b"), queue(coordinator).take(PATIENCE));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> void sneak(Exception e) throws E {
        throw (E) e;
    }

    @Test
    void unreadableItemThatWasCopiedBackGetsIntoItsDeadLetterAsItIsNow() throws Exception {
        Coordinator coordinator = connect();
        DistributedQueue<Long> numbers = DistributedQueue.at(coordinator, PATH, DataCodec.LONG);
        queue(coordinator).put("not a number");
        assertThrows(NumberFormatException.class, numbers::take);
        NodePath dead = NodePath.of(PATH + "/dead");
        await().atMost(PATIENCE).until(() -> queue(coordinator).count().dead() == 1);
        String name = children(coordinator, dead.toString()).get(0);
        byte[] changed = "no number either".getBytes(StandardCharsets.UTF_8);
        coordinator.execute(Create.of(NodePath.of(PATH).child(name)).withData(changed));
        assertThrows(NumberFormatException.class, numbers::take);
        assertEquals(new QueueCount(0, 0, 1), queue(coordinator).count());
        await().atMost(PATIENCE)
                .until(() -> Arrays.equals(
                        changed,
                        coordinator.execute(GetData.of(dead.child(name))).data()));
    }

    @Test
    void itemIsReturnedThoughTheRequestsAreAtTheirBound() throws Exception {
        Coordinator coordinator = opened(builder().maxQueuedRequests(20));
        queue(coordinator).put("a");
        long session = RecipeAccess.session(coordinator).id();
        DataCodec<String> failing = new DataCodec<>() {
            @Override
            public byte[] encode(String value) {
                return DataCodec.TEXT.encode(value);
            }

            @Override
            public String decode(byte[] data) {
                MemoryStore.named(store).faults().suspend(session);
                for (int i = 0; i < 20; i++) {
                    coordinator.submit(Exists.of(NodePath.of(PATH)));
                }
                throw new IllegalStateException("cannot be read");
            }
        };
        assertThrows(IllegalStateException.class, DistributedQueue.at(coordinator, PATH, failing)::take);
        MemoryStore.named(store).faults().restore(session);
        assertEquals(Optional.of("a"), queue(coordinator).deadLetters().take(PATIENCE));
    }
}
