package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.SetData;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * What a queue promises to consumers that claim and acknowledge, on every backend; a subclass says where the backend
 * is.
 */
public abstract class ClaimContract extends QueueFixture {
    private static final Duration SHORT = Duration.ofMillis(300);

    private static ClaimEnd end(Claim<String> claim) throws Exception {
        return claim.ended().toCompletableFuture().get(120, SECONDS);
    }

    @Test
    void claimedItemIsHiddenUntilItIsAcknowledged() throws Exception {
        Coordinator coordinator = connect();
        putAll(queue(coordinator), "one", "two");
        Claim<String> one = queue(coordinator).claim();
        assertEquals("one", one.item());
        assertEquals(1, one.deliveries());
        assertTrue(one.isHeld());
        assertTrue(one.remaining().compareTo(sessionTimeout()) <= 0);
        assertEquals(new QueueCount(1, 1, 0), queue(coordinator).count());
        assertEquals(new QueueCount(1, 1, 0), queue(coordinator).countAsync().get(120, SECONDS));
        assertEquals("two", queue(connect()).take());
        assertEquals(Optional.empty(), queue(connect()).tryClaim());
        one.acknowledge();
        one.acknowledge();
        assertFalse(one.isHeld());
        assertEquals(ClaimEnd.ACKNOWLEDGED, end(one));
        one.close();
        assertEquals(new QueueCount(0, 0, 0), queue(coordinator).count());
        awaitNothingLeft(coordinator);
    }

    @Test
    void whatIsAcknowledgedBeforeTheCoordinatorIsClosedIsDone() throws Exception {
        Coordinator coordinator = connect();
        Coordinator worker = connect();
        List<Claim<String>> claims = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            queue(coordinator).put("item " + i);
            claims.add(queue(worker).claim());
        }
        List<CompletableFuture<Void>> outcomes =
                claims.stream().map(Claim::acknowledgeAsync).toList();
        worker.close();
        for (CompletableFuture<Void> outcome : outcomes) {
            outcome.get(120, SECONDS);
        }
        awaitNothingLeft(coordinator);
        assertEquals(new QueueCount(0, 0, 0), queue(coordinator).count());
    }

    @Test
    void itemThatIsGivenBackComesAgainInItsPlace() throws Exception {
        Coordinator coordinator = connect();
        putAll(queue(coordinator), "one", "two");
        Claim<String> first = queue(coordinator).claim();
        first.close();
        first.close();
        assertEquals(ClaimEnd.RELEASED, end(first));
        assertThrows(ClosedException.class, first::acknowledge);
        await().atMost(PATIENCE).until(() -> queue(coordinator).count().equals(new QueueCount(2, 0, 0)));
        try (Claim<String> again = queue(connect()).claim()) {
            assertEquals("one", again.item());
            assertEquals(2, again.deliveries());
            again.acknowledge();
        }
        assertEquals("two", queue(coordinator).take());
    }

    @Test
    void waitingWorkerHearsOfAnItemThatComesBack() throws Exception {
        Coordinator coordinator = connect();
        queue(coordinator).put("one");
        Claim<String> claim = queue(coordinator).claim();
        CompletableFuture<Claim<String>> waiting = queue(connect()).claimAsync();
        awaitConsumers(coordinator, 1);
        claim.close();
        waiting.get(120, SECONDS).acknowledgeAsync().get(120, SECONDS);
        awaitNothingLeft(coordinator);
    }

    @Test
    void itemComesBackWhenItsDeadlinePasses() throws Exception {
        Coordinator coordinator = connect();
        queue(coordinator).put("one");
        Claim<String> late = queue(coordinator).withVisibility(SHORT).claim();
        Claim<String> again = queue(connect()).claim(PATIENCE).orElseThrow();
        assertEquals(2, again.deliveries());
        assertFalse(late.isHeld());
        assertEquals(ClaimEnd.DEADLINE_PASSED, end(late));
        assertThrows(GrantLostException.class, late::acknowledge);
        assertTrue(again.isHeld());
        again.acknowledge();
        awaitNothingLeft(coordinator);
    }

    @Test
    void deadlineCanBeMoved() throws Exception {
        Coordinator coordinator = connect();
        Duration visibility = Duration.ofSeconds(2);
        while (!isMovedBeforeItPasses(coordinator, visibility)) {
            visibility = visibility.multipliedBy(2);
        }
    }

    /** False if the deadline has passed before it is moved, as happens on a busy machine. */
    private boolean isMovedBeforeItPasses(Coordinator coordinator, Duration visibility) throws Exception {
        queue(coordinator).put("one");
        TimeSource time = RecipeAccess.session(coordinator).time();
        long beganNanos = time.monotonicNanos();
        Claim<String> claim = queue(coordinator).withVisibility(visibility).claim();
        if (!claim.extend(Duration.ofMinutes(1))) {
            long tookNanos = time.monotonicNanos() - beganNanos;
            assertTrue(tookNanos > visibility.toNanos() / 2, () -> claim.ended() + " after " + tookNanos + " ns");
            assertEquals(ClaimEnd.DEADLINE_PASSED, end(claim));
            assertEquals("one", queue(coordinator).take());
            return false;
        }
        assertEquals(Optional.empty(), queue(connect()).take(visibility.plus(SHORT)));
        assertTrue(claim.isHeld());
        claim.extend(Duration.ofMillis(1)); // which may be over before the call returns
        assertEquals("one", queue(connect()).take());
        assertFalse(claim.extend(Duration.ofMinutes(1)));
        return true;
    }

    @Test
    void itemComesBackWhenItsConsumersSessionEnds() throws Exception {
        Coordinator worker = connect();
        queue(worker).put("one");
        Claim<String> claim = queue(worker).claim();
        CompletableFuture<Claim<String>> waiting = queue(connect()).claimAsync();
        worker.close();
        assertFalse(claim.isHeld());
        assertEquals(ClaimEnd.COORDINATOR_CLOSED, end(claim));
        Claim<String> again = waiting.get(120, SECONDS);
        assertEquals(2, again.deliveries());
        again.acknowledgeAsync().get(120, SECONDS);
    }

    @Test
    void itemThatWasDeliveredTooOftenGoesToTheDeadLetters() throws Exception {
        Coordinator coordinator = connect();
        DistributedQueue<String> queue = queue(coordinator).withMaxDeliveries(2);
        putAll(queue, "bad", "good");
        for (int delivery = 1; delivery <= 2; delivery++) {
            Claim<String> bad = queue.claim();
            assertEquals("bad", bad.item());
            bad.close();
            await().atMost(PATIENCE).until(() -> queue.count().claimed() == 0);
        }
        Claim<String> good = queue.claim();
        assertEquals("good", good.item());
        good.acknowledge();
        assertEquals(new QueueCount(0, 0, 1), queue.count());
        assertEquals(new QueueCount(0, 0, 1), queue.countAsync().get(120, SECONDS));
        try (Claim<String> dead = queue.deadLetters().claim()) {
            assertEquals("bad", dead.item());
            queue.put(dead.item()); // once more, as an operator would
            dead.acknowledge();
        }
        assertEquals("bad", queue.take());
        assertEquals(new QueueCount(0, 0, 0), queue.count());
    }

    @Test
    void itemThatCannotBeReadIsGivenBackUntilItIsADeadLetter() throws Exception {
        Coordinator coordinator = connect();
        queue(coordinator).put("not a number");
        DistributedQueue<Long> numbers =
                DistributedQueue.at(coordinator, PATH, DataCodec.LONG).withMaxDeliveries(2);
        for (int delivery = 1; delivery <= 2; delivery++) {
            assertThrows(NumberFormatException.class, numbers::claim);
            await().atMost(PATIENCE).until(() -> numbers.count().claimed() == 0);
        }
        CompletableFuture<Claim<Long>> waiting = numbers.claimAsync();
        await().atMost(PATIENCE).until(() -> numbers.count().dead() == 1);
        assertFalse(waiting.isDone());
        waiting.cancel(false);
        assertEquals("not a number", queue(coordinator).deadLetters().take());
    }

    @Test
    void acknowledgementIsRefusedWhenTheClaimWasDeleted() throws Exception {
        Coordinator coordinator = connect();
        queue(coordinator).put("one");
        Claim<String> claim = queue(coordinator).claim();
        for (String child : children(coordinator, PATH)) {
            if (child.startsWith("claim-")) {
                coordinator.execute(Delete.of(NodePath.of(PATH).child(child)));
            }
        }
        Claim<String> another = queue(connect()).claim(PATIENCE).orElseThrow();
        assertThrows(GrantLostException.class, claim::acknowledge);
        assertEquals(ClaimEnd.TAKEN_AWAY, end(claim));
        assertTrue(another.isHeld());
        another.acknowledge();
        awaitNothingLeft(coordinator);
    }

    private static NodePath claimedItem(Coordinator coordinator) throws InterruptedException {
        return children(coordinator, PATH).stream()
                .flatMap(child -> ItemName.claimed(child).stream())
                .map(name -> NodePath.of(PATH).child(name.name()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void itemThatAnotherClientWritesComesBackWhenItsClaimEnds() throws Exception {
        Coordinator coordinator = connect();
        DistributedQueue<String> queue = queue(connect());
        for (ClaimEnd way : List.of(ClaimEnd.TAKEN_AWAY, ClaimEnd.RELEASED, ClaimEnd.DEADLINE_PASSED)) {
            queue(coordinator).put("one");
            Claim<String> claim = queue.withVisibility(PATIENCE).claim();
            coordinator.execute(SetData.of(claimedItem(coordinator), DataCodec.TEXT.encode("two")));
            if (way == ClaimEnd.TAKEN_AWAY) {
                assertThrows(GrantLostException.class, claim::acknowledge);
            } else if (way == ClaimEnd.RELEASED) {
                claim.close();
            } else {
                claim.extend(SHORT); // which may be over before the call returns
            }
            assertEquals(way, end(claim));
            Claim<String> again = queue(coordinator).claim(PATIENCE).orElseThrow();
            assertEquals("two", again.item());
            assertEquals(3, again.deliveries());
            again.acknowledge();
            awaitNothingLeft(coordinator);
        }
    }

    @Test
    void claimGoesAlsoIfItsItemWasDeleted() throws Exception {
        Coordinator coordinator = connect();
        queue(coordinator).put("one");
        Claim<String> claim = queue(coordinator).claim();
        coordinator.execute(Delete.of(claimedItem(coordinator)));
        claim.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void acknowledgementThatIsRefusedKeepsNoneFromBeingDoneThatGoesWithIt() throws Exception {
        Coordinator coordinator = connect();
        int count = 6;
        List<Claim<String>> claims = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            queue(coordinator).put("item " + i);
            claims.add(queue(coordinator).claim());
        }
        int lost = 3;
        String deleted = children(coordinator, PATH).stream()
                .flatMap(child -> ItemName.claimed(child).stream())
                .sorted(Comparator.comparingInt(ItemName::sequence))
                .toList()
                .get(lost)
                .claim();
        coordinator.execute(Delete.of(NodePath.of(PATH).child(deleted)));
        List<CompletableFuture<Void>> outcomes =
                claims.stream().map(Claim::acknowledgeAsync).toList();
        for (int i = 0; i < count; i++) {
            if (i != lost) {
                outcomes.get(i).get(120, SECONDS);
            }
        }
        assertEquals(ClaimEnd.TAKEN_AWAY, end(claims.get(lost)));
        assertEquals(new QueueCount(1, 0, 0), queue(coordinator).count());
        assertEquals("item " + lost, queue(coordinator).take());
        awaitNothingLeft(coordinator);
    }

    @Test
    void everyItemIsDoneThoughWorkersAreKilledInTheMiddle() throws Exception {
        int items = 60;
        Coordinator coordinator = connect();
        List<CompletableFuture<Void>> puts = new ArrayList<>();
        for (int i = 0; i < items; i++) {
            puts.add(queue(coordinator).putAsync("item " + i));
        }
        CompletableFuture.allOf(puts.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
        List<String> done = Collections.synchronizedList(new ArrayList<>());
        List<Future<?>> dying = new ArrayList<>();
        for (int worker = 0; worker < 3; worker++) {
            dying.add(threads.submit(() -> {
                Coordinator own = connect();
                for (int item = 0; item < 5; item++) {
                    work(queue(own).claim(), done);
                }
                queue(own).claim();
                own.close(); // with the item, and without a word
                return null;
            }));
        }
        dying.get(0).get(120, SECONDS);
        List<Future<?>> others = new ArrayList<>();
        for (int worker = 0; worker < 2; worker++) {
            others.add(threads.submit(() -> {
                DistributedQueue<String> own = queue(connect());
                while (done.size() < items) {
                    Optional<Claim<String>> claim = own.claim(Duration.ofSeconds(1));
                    if (claim.isPresent()) {
                        work(claim.get(), done);
                    }
                }
                return null;
            }));
        }
        for (Future<?> worker : others) {
            worker.get(120, SECONDS);
        }
        assertEquals(items, new HashSet<>(done).size());
        assertEquals(items, done.size());
        assertEquals(new QueueCount(0, 0, 0), queue(coordinator).count());
    }

    private static void work(Claim<String> claim, List<String> done) throws InterruptedException {
        claim.acknowledge();
        done.add(claim.item());
    }

    @Test
    void completingOrCancellingAFutureDoesNotAffectOthers() throws Exception {
        Coordinator coordinator = connect();
        putAll(queue(coordinator), "one");
        Claim<String> claim = queue(coordinator).claim();
        assertTrue(claim.ended().complete(ClaimEnd.RELEASED));
        assertTrue(claim.isHeld());
        assertFalse(claim.ended().isDone());
        claim.acknowledgeAsync().cancel(true);
        claim.acknowledge();
        assertEquals(ClaimEnd.ACKNOWLEDGED, end(claim));
        awaitNothingLeft(coordinator);
    }
}
