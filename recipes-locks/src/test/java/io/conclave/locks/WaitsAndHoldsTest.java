package io.conclave.locks;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.Holder;
import io.conclave.metrics.MetricsHook;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the metrics hook is told of waits and holds, while they last and at their end. */
class WaitsAndHoldsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String PATH = "/locks/orders";

    private final String store = UUID.randomUUID().toString();
    private final List<Told> told = new CopyOnWriteArrayList<>();
    private final MetricsHook hook = new MetricsHook() {
        @Override
        public Ongoing begin(String name, String subject) {
            return new Told(name, subject, null);
        }
    };
    private final Coordinator holder = builder().connect();
    private final Coordinator coordinator = builder().metrics(hook).connect();
    private final DistributedLock lock = DistributedLock.at(coordinator, PATH);

    private final class Told implements Ongoing {
        private final String name;
        private final String subject;
        private final @Nullable Told before;
        private final Thread thread = Thread.currentThread();
        private final Map<String, String> details = new ConcurrentHashMap<>();
        private final List<Outcome> ends = new CopyOnWriteArrayList<>();
        private volatile String obstacle = "";
        private volatile String failure = "";
        private volatile Optional<Holder> other = Optional.empty();

        Told(String name, String subject, @Nullable Told before) {
            this.name = name;
            this.subject = subject;
            this.before = before;
            told.add(this);
        }

        @Override
        public void waitsFor(String newObstacle, Optional<Holder> newOther) {
            other = newOther;
            obstacle = newObstacle;
        }

        @Override
        public void failed(Throwable why) {
            failure = String.valueOf(why.getMessage());
        }

        @Override
        public void detail(String key, String value) {
            details.put(key, value);
        }

        @Override
        public Ongoing next(String nextName, String nextSubject) {
            return new Told(nextName, nextSubject, this);
        }

        @Override
        public void end(Outcome outcome) {
            ends.add(outcome);
        }
    }

    private CoordinatorBuilder builder() {
        return Coordinator.builder("memory:" + store);
    }

    @AfterEach
    void close() {
        coordinator.close();
        holder.close();
        told.forEach(one -> assertEquals(1, one.ends.size(), one.name + " ended as " + one.ends));
        MemoryStore.forget(store);
    }

    private Told only(String name) {
        List<Told> found = told.stream().filter(one -> one.name.equals(name)).toList();
        assertEquals(1, found.size(), name);
        return found.get(0);
    }

    private LockGrant heldByAnother() throws InterruptedException {
        return DistributedLock.at(holder, PATH)
                .withData("batch job 7".getBytes(StandardCharsets.UTF_8))
                .acquire(PATIENCE);
    }

    @Test
    void waitEndsBeforeItsCallerGoesOnAndTheHoldFollowsIt() throws Exception {
        LockGrant grant = lock.acquire(PATIENCE);
        Told wait = only("lock.wait");
        Told held = only("lock.held");
        assertEquals(List.of(Outcome.GRANTED), wait.ends);
        assertSame(Thread.currentThread(), wait.thread, "an adapter finds there what the call belongs to");
        assertEquals(PATH, wait.subject);
        assertSame(wait, held.before);
        assertEquals(grant.token().toString(), held.details.get(Ongoing.TOKEN));
        assertEquals(grant.path().toString(), held.details.get(Ongoing.ZNODE));
        assertEquals(List.of(), held.ends);
        grant.close();
        assertEquals(List.of(Outcome.RELEASED), held.ends);
    }

    @Test
    void waiterTellsWhoHoldsWithoutARequestForIt() throws Exception {
        LockGrant other = heldByAnother();
        CompletableFuture<LockGrant> waiting = lock.acquireAsync();
        await().until(() -> !only("lock.wait").obstacle.isEmpty());
        Told wait = only("lock.wait");
        assertTrue(wait.obstacle.startsWith("held by \"batch job 7\""), wait.obstacle);
        assertEquals(other.path().toString(), wait.other.orElseThrow().path());
        CompletableFuture<LockGrant> second = lock.acquireAsync();
        await().until(() -> told.size() == 2 && !told.get(1).obstacle.isEmpty());
        assertTrue(told.get(1).obstacle.endsWith(", with 1 more before this one in the line"), told.get(1).obstacle);
        other.close();
        waiting.join().close();
        second.join().close();
    }

    @Test
    void waitThatTimesOutSaysSo() throws Exception {
        ManualTimeSource clock = new ManualTimeSource(); // so that it knows the holder before its time is over
        CoordinatorBuilder late =
                builder().sessionTimeout(Duration.ofHours(1)).timeSource(clock).metrics(hook);
        try (LockGrant other = heldByAnother();
                Coordinator waiting = late.connect()) {
            assertTrue(other.isHeld());
            Duration limit = Duration.ofMillis(20);
            CompletableFuture<LockGrant> acquiring =
                    DistributedLock.at(waiting, PATH).acquireAsync(limit);
            await().until(() -> !only("lock.wait").obstacle.isEmpty());
            clock.advanceUntil(limit, acquiring::isDone);
            Throwable failure =
                    assertThrows(CompletionException.class, acquiring::join).getCause();
            assertInstanceOf(AcquireTimeoutException.class, failure);
            assertEquals(List.of(Outcome.TIMED_OUT), only("lock.wait").ends);
            assertTrue(only("lock.wait").failure.contains("batch job 7"));
            assertEquals(Optional.empty(), DistributedLock.at(waiting, PATH).tryAcquire());
            assertEquals(List.of(Outcome.TIMED_OUT), told.get(1).ends);
        }
    }

    @Test
    void waitThatIsInterruptedOrCancelledIsGivenUp() throws Exception {
        try (LockGrant other = heldByAnother()) {
            assertTrue(other.isHeld());
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, lock::acquire);
            assertFalse(Thread.currentThread().isInterrupted());
            lock.acquireAsync().cancel(true);
            await().until(() -> told.stream().noneMatch(one -> one.ends.isEmpty()));
            told.forEach(one -> assertEquals(List.of(Outcome.GIVEN_UP), one.ends));
            assertEquals(2, told.size());
        }
    }

    @Test
    void lossTellsItsReason() throws Exception {
        LockGrant grant = lock.acquire(PATIENCE);
        MemoryStore.named(store)
                .faults()
                .expire(RecipeAccess.session(coordinator).id());
        grant.lost().join();
        Told held = only("lock.held");
        assertEquals(List.of(Outcome.LOST), held.ends);
        assertEquals("SESSION_LOST", held.details.get(Ongoing.REASON));
    }

    @Test
    void closingTheCoordinatorEndsWaitsAndHolds() throws Exception {
        try (LockGrant other = heldByAnother()) {
            assertTrue(other.isHeld());
            CompletableFuture<LockGrant> waiting = lock.acquireAsync();
            DistributedLock.at(coordinator, "/locks/another").acquire(PATIENCE);
            coordinator.close();
            Throwable failure = assertThrows(Exception.class, waiting::join).getCause();
            assertTrue(failure instanceof ClosedException, String.valueOf(failure));
            await().until(() -> told.stream().noneMatch(one -> one.ends.isEmpty()));
            assertEquals(List.of(Outcome.CLOSED), told.get(0).ends);
            assertEquals(List.of(Outcome.CLOSED), only("lock.held").ends);
        }
    }

    @Test
    void semaphoreTellsHowManyPermitsAreOut() throws Exception {
        PermitGrant first = DistributedSemaphore.at(holder, "/permits", 1).acquire(1, PATIENCE);
        CompletableFuture<PermitGrant> waiting =
                DistributedSemaphore.at(coordinator, "/permits", 1).acquireAsync(1);
        await().until(() -> only("semaphore.wait").obstacle.equals("1 of 1 are out"));
        first.close();
        waiting.join().close();
        assertEquals(List.of(Outcome.RELEASED), only("semaphore.held").ends);
    }

    @Test
    void whatOneHookThrowsKeepsNothingFromTheOthers() throws Exception {
        MetricsHook broken = new MetricsHook() {
            @Override
            public Ongoing begin(String name, String subject) {
                throw new IllegalStateException("planted");
            }
        };
        List<String> names = new ArrayList<>();
        MetricsHook second = new MetricsHook() {
            @Override
            public Ongoing begin(String name, String subject) {
                names.add(name);
                return new Ongoing() {
                    @Override
                    public void end(Outcome outcome) {
                        throw new IllegalStateException("planted");
                    }
                };
            }
        };
        Ongoing begun = MetricsHook.of(broken, second, hook).begin("lock.wait", PATH);
        begun.end(Outcome.GRANTED);
        assertEquals(List.of("lock.wait"), names);
        assertEquals(List.of(Outcome.GRANTED), only("lock.wait").ends);
    }

    @Test
    void unusedHookIsNone() {
        assertSame(MetricsHook.NONE, MetricsHook.of());
        assertSame(MetricsHook.NONE, MetricsHook.of(MetricsHook.NONE));
        assertSame(Ongoing.NONE, MetricsHook.of(new MetricsHook() {}).begin("lock.wait", PATH));
        assertSame(Ongoing.NONE, Ongoing.NONE.next("lock.held", PATH));
    }
}
