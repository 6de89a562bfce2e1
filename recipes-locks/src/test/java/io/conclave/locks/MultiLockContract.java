package io.conclave.locks;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencingToken;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a multi-lock promises, on every backend; a subclass says where the backend is. */
public abstract class MultiLockContract extends LockFixture {
    private static DistributedLock lock(Coordinator coordinator, String name) {
        return DistributedLock.at(coordinator, "/multi/" + name);
    }

    private static MultiLock both(Coordinator coordinator) {
        return MultiLock.of(lock(coordinator, "b"), lock(coordinator, "a"));
    }

    private static void awaitInLine(DistributedLock lock, int count) {
        await().atMost(PATIENCE).until(() -> lock.members().size() == count);
    }

    private static void awaitFree(Coordinator coordinator) {
        for (String name : List.of("a", "b", "c", "d")) {
            awaitInLine(lock(coordinator, name), 0);
        }
    }

    @Test
    void allAreGrantedAndGivenBack() throws Exception {
        Coordinator coordinator = connect();
        MultiLockGrant grant = both(coordinator).acquire(PATIENCE);
        assertTrue(grant.isHeld());
        grant.ensureHeld();
        assertTrue(grant.remaining().compareTo(sessionTimeout()) <= 0);
        NodePath a = RecipeAccess.session(coordinator).absolute(NodePath.of("/multi/a"));
        NodePath b = RecipeAccess.session(coordinator).absolute(NodePath.of("/multi/b"));
        assertEquals(List.of(a, b), List.copyOf(grant.tokens().keySet()));
        LockGrant one = grant.of(lock(coordinator, "b"));
        assertEquals(one.token(), grant.tokens().get(b));
        assertEquals(
                one.token().sequence(), lock(coordinator, "b").members().get(0).sequence());
        assertThrows(IllegalArgumentException.class, () -> grant.of(lock(coordinator, "c")));
        grant.close();
        assertFalse(grant.isHeld());
        assertEquals(Duration.ZERO, grant.remaining());
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
        assertThrows(GrantLostException.class, grant::ensureHeld);
        get(grant.closeAsync()); // close() waits no longer than the session has left
        assertEquals(List.of(), lock(coordinator, "a").members());
        assertEquals(List.of(), lock(coordinator, "b").members());
    }

    @Test
    void badSetsOfLocksAreRefusedByName() {
        Coordinator coordinator = connect();
        assertThrows(IllegalArgumentException.class, () -> MultiLock.of(List.of()));
        IllegalArgumentException twice = assertThrows(
                IllegalArgumentException.class,
                () -> MultiLock.of(lock(coordinator, "a"), lock(coordinator, "b"), lock(coordinator, "a")));
        assertTrue(twice.getMessage().contains("/multi/a"), twice.getMessage());
        List<DistributedLock> tooMany = Collections.nCopies(MultiLock.MAX_LOCKS + 1, lock(coordinator, "a"));
        IllegalArgumentException many = assertThrows(IllegalArgumentException.class, () -> MultiLock.of(tooMany));
        assertTrue(many.getMessage().contains("1001"), many.getMessage());
        SharedLock shared = SharedLock.at(coordinator, "/multi/s");
        assertThrows(IllegalArgumentException.class, () -> MultiLock.of(shared.readLock(), shared.writeLock()));
        Coordinator inside = opened(builder().namespace("/multi"));
        assertThrows(
                IllegalArgumentException.class,
                () -> MultiLock.of(lock(coordinator, "a"), DistributedLock.at(inside, "/a")));
        assertThrows(IllegalArgumentException.class, () -> both(coordinator).acquire(Duration.ofSeconds(-1)));
    }

    @Test
    void placesAreOfOneTransactionAndAllGoTogether() throws Exception {
        Coordinator coordinator = connect();
        List<DistributedLock> many = IntStream.range(0, 100)
                .mapToObj(i -> lock(coordinator, "many/" + i))
                .toList();
        try (MultiLockGrant grant = MultiLock.of(many).acquire(PATIENCE)) {
            assertEquals(100, grant.tokens().size());
            assertEquals(
                    1,
                    grant.tokens().values().stream()
                            .map(FencingToken::sequence)
                            .distinct()
                            .count());
            get(grant.closeAsync()); // close() waits no longer than the session has left
        }
        for (DistributedLock one : many) {
            assertEquals(List.of(), one.members());
        }
    }

    @Test
    void dataThatDoesNotFitIntoOneRequestIsRefusedWithItsSizeAndNothingStays() throws Exception {
        Coordinator coordinator = connect();
        byte[] data = new byte[600_000];
        MultiLock both = MultiLock.of(
                lock(coordinator, "a").withData(data), lock(coordinator, "b").withData(data));
        try {
            both.acquire(PATIENCE).close(); // a backend without a limit
        } catch (RefusedException e) {
            assertTrue(e.getMessage().contains("1200"), e.getMessage());
            assertTrue(e.getMessage().contains("bytes"), e.getMessage());
        }
        awaitFree(coordinator);
        both(coordinator).acquire(PATIENCE).close();
    }

    @Test
    void waitsForEachAndKeepsWhatItHas() throws Exception {
        Coordinator coordinator = connect();
        Coordinator other = connect();
        LockGrant b = lock(other, "b").acquire(PATIENCE);
        CompletableFuture<MultiLockGrant> waiter = both(coordinator).acquireAsync();
        awaitInLine(lock(other, "b"), 2);
        assertTrue(lock(other, "a").tryAcquire().isEmpty());
        assertFalse(waiter.isDone());
        b.close();
        waiter.get(120, SECONDS).close();
        awaitFree(coordinator);
    }

    @Test
    void nothingStaysBehindWhenTheTimeIsOver() throws Exception {
        Coordinator coordinator = connect();
        LockGrant b = lock(connect(), "b").acquire(PATIENCE);
        AcquireTimeoutException timeout = timeoutAfterAnAnswer(both(coordinator));
        assertTrue(timeout.getMessage().contains("/multi/b"), timeout.getMessage());
        awaitInLine(lock(coordinator, "a"), 0); // the exception does not wait for the deletion
        awaitInLine(lock(coordinator, "b"), 1);
        assertTrue(both(coordinator).tryAcquire().isEmpty());
        assertTrue(both(coordinator).tryAcquireAsync().get(120, SECONDS).isEmpty());
        awaitInLine(lock(coordinator, "a"), 0);
        get(b.closeAsync());
        both(coordinator).tryAcquire().orElseThrow().close();
        awaitFree(coordinator);
    }

    /** Of a wait that knows what is in its way: a longer one, where a busy machine needs longer to answer. */
    private static AcquireTimeoutException timeoutAfterAnAnswer(MultiLock lock) {
        for (Duration limit = Duration.ofMillis(50); ; limit = limit.multipliedBy(2)) {
            Duration present = limit;
            AcquireTimeoutException timeout = assertThrows(AcquireTimeoutException.class, () -> lock.acquire(present));
            if (!timeout.getMessage().contains("the store has not answered yet")) {
                return timeout;
            }
        }
    }

    @Test
    void nothingStaysBehindWhenItIsCancelledOrInterrupted() throws Exception {
        Coordinator coordinator = connect();
        LockGrant b = lock(connect(), "b").acquire(PATIENCE);
        CompletableFuture<MultiLockGrant> cancelled = both(coordinator).acquireAsync();
        awaitInLine(lock(coordinator, "b"), 2);
        cancelled.cancel(false);
        awaitInLine(lock(coordinator, "a"), 0);
        Future<?> interrupted = threads.submit(() -> {
            both(coordinator).acquire();
            return null;
        });
        awaitInLine(lock(coordinator, "b"), 2);
        interrupted.cancel(true);
        awaitInLine(lock(coordinator, "a"), 0);
        awaitInLine(lock(coordinator, "b"), 1);
        b.close();
        awaitFree(coordinator);
    }

    @Test
    void lossOfOneReleasesTheOthers() throws Exception {
        Coordinator coordinator = connect();
        MultiLockGrant grant = both(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> next = lock(connect(), "b").acquireAsync();
        awaitInLine(lock(coordinator, "b"), 2);
        coordinator.execute(Delete.of(grant.of(lock(coordinator, "a")).path()));
        assertEquals(LossReason.NODE_DELETED, grant.lost().toCompletableFuture().get(120, SECONDS));
        assertFalse(grant.isHeld());
        next.get(120, SECONDS).close();
        awaitFree(coordinator);
    }

    @Test
    void lossOfOneWhileWaitingForAnotherIsAFailure() throws Exception {
        Coordinator coordinator = connect();
        LockGrant b = lock(connect(), "b").acquire(PATIENCE);
        CompletableFuture<MultiLockGrant> waiter = both(coordinator).acquireAsync();
        awaitInLine(lock(coordinator, "b"), 2);
        coordinator.execute(Delete.of(lock(coordinator, "a").members().get(0).path()));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertInstanceOf(GrantLostException.class, failure.getCause());
        awaitInLine(lock(coordinator, "b"), 1);
        b.close();
        awaitFree(coordinator);
    }

    @Test
    void closingOneGivesAllBack() throws Exception {
        Coordinator coordinator = connect();
        MultiLockGrant grant = both(coordinator).acquire(PATIENCE);
        grant.of(lock(coordinator, "a")).close();
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
        awaitFree(coordinator);
    }

    @Test
    void holderIsAskedForOneOfItsLocks() throws Exception {
        Coordinator coordinator = connect();
        Coordinator other = connect();
        MultiLockGrant grant = both(coordinator).acquire(PATIENCE);
        grant.revocationRequested().thenRun(grant::closeAsync);
        lock(other, "b").requestRelease(lock(other, "b").members().get(0)).get(120, SECONDS);
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
        awaitFree(coordinator);
    }

    @Test
    void halvesOfSharedLocksMayBeAmongThem() throws Exception {
        Coordinator coordinator = connect();
        SharedLock shared = SharedLock.at(coordinator, "/multi/c");
        try (MultiLockGrant one =
                        MultiLock.of(lock(coordinator, "a"), shared.readLock()).acquire(PATIENCE);
                MultiLockGrant other =
                        MultiLock.of(lock(coordinator, "b"), shared.readLock()).acquire(PATIENCE)) {
            assertTrue(one.isHeld() && other.isHeld());
            assertTrue(MultiLock.of(shared.writeLock(), lock(coordinator, "d"))
                    .tryAcquire()
                    .isEmpty());
        }
        MultiLock.of(shared.writeLock(), lock(coordinator, "d"))
                .acquire(PATIENCE)
                .close();
    }

    @Test
    void downgradeOfOneGivesTheOthersBackAndTheReaderHoldsAlone() throws Exception {
        Coordinator coordinator = connect();
        SharedLock shared = SharedLock.at(coordinator, "/multi/c");
        MultiLockGrant grant =
                MultiLock.of(lock(coordinator, "a"), shared.writeLock()).acquire(PATIENCE);
        WriteGrant writing = assertInstanceOf(WriteGrant.class, grant.of(shared.writeLock()));
        try (ReadGrant reading = writing.downgrade()) {
            assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
            assertFalse(grant.isHeld());
            lock(connect(), "a").acquire(PATIENCE).close();
            grant.close(); // once more: what the reader has is no part of it
            reading.ensureHeld();
            SharedLock others = SharedLock.at(connect(), "/multi/c");
            others.readLock().tryAcquire().orElseThrow().close();
            assertTrue(others.writeLock().tryAcquire().isEmpty());
        }
        shared.writeLock().acquire(PATIENCE).close();
        awaitFree(coordinator);
    }

    @Test
    void idleKeptPlaceInOneOfTheLinesGivesWay() throws Exception {
        Coordinator coordinator = connect();
        for (Coordinator owner : List.of(coordinator, connect())) {
            KeptLock kept = keptAtB(owner);
            kept.acquire(PATIENCE).close();
            awaitInLine(lock(coordinator, "b"), 1);
            try (MultiLockGrant grant = both(coordinator).acquire(PATIENCE)) {
                grant.ensureHeld();
                assertTrue(kept.tryAcquire().isEmpty());
                awaitInLine(lock(coordinator, "b"), 1);
            }
            kept.acquire(PATIENCE).close();
        }
    }

    @Test
    void keptPlaceInUseGivesWayToAMultiLockAndComesBack() throws Exception {
        Coordinator coordinator = connect();
        KeptLock kept = keptAtB(connect());
        LockGrant first = kept.acquire(PATIENCE);
        CompletableFuture<MultiLockGrant> waiter = both(coordinator).acquireAsync();
        awaitInLine(lock(coordinator, "b"), 2);
        AtomicBoolean isOver = new AtomicBoolean();
        List<Future<?>> callers = new ArrayList<>();
        for (int i = 0; i < 2; i++) { // so that another caller of the process waits at each release
            callers.add(threads.submit(() -> {
                while (!isOver.get()) {
                    kept.acquire(PATIENCE).close();
                }
                return null;
            }));
        }
        assertFalse(waiter.isDone());
        first.close();
        try (MultiLockGrant grant = waiter.get(120, SECONDS)) {
            assertTrue(kept.tryAcquire().isEmpty());
            grant.ensureHeld();
        }
        isOver.set(true);
        for (Future<?> caller : callers) {
            caller.get(120, SECONDS);
        }
        awaitInLine(lock(coordinator, "a"), 0);
    }

    private static KeptLock keptAtB(Coordinator coordinator) {
        return lock(coordinator, "b").kept(Keeping.idleFor(Duration.ofHours(1)));
    }

    @Test
    void locksMayBeOfSeveralCoordinatorsAndAreLostWithTheFirstSession() throws Exception {
        Coordinator awake = connect();
        ManualTimeSource clock = jumpingClock();
        Coordinator sleeper = opened(builder().timeSource(clock));
        MultiLockGrant grant =
                MultiLock.of(lock(awake, "a"), lock(sleeper, "b")).acquire();
        stop(clock);
        CompletableFuture<LockGrant> next = lock(awake, "b").acquireAsync();
        next.get(sessionTimeout().toMillis() * 3 + 20_000, MILLISECONDS).close();
        clock.advance(sessionTimeout().plusSeconds(60)); // it wakes up
        assertFalse(grant.isHeld());
        clock.advanceUntil(
                sessionTimeout(), () -> grant.lost().toCompletableFuture().isDone());
        LossReason reason = grant.lost().toCompletableFuture().get(120, SECONDS);
        // what it hears first, when it wakes up: that its session or that its znode is gone
        assertTrue(reason == LossReason.SESSION_LOST || reason == LossReason.NODE_DELETED, reason::toString);
        awaitFree(awake);
    }

    @Test
    void overlappingSetsNeitherBlockNorShareALock() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println(getClass().getSimpleName() + ": multi-lock crowd, seed " + seed);
        List<String> names = List.of("a", "b", "c", "d");
        AtomicIntegerArray inside = new AtomicIntegerArray(names.size());
        List<Coordinator> coordinators = List.of(connect(), connect(), connect());
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            Random random = new Random(seed + i);
            Coordinator coordinator = coordinators.get(i % 3);
            all.add(threads.submit(() -> {
                for (int turn = 0; turn < 8; turn++) {
                    List<String> some = new ArrayList<>(names);
                    Collections.shuffle(some, random);
                    List<String> wanted = some.subList(0, 1 + random.nextInt(names.size()));
                    boolean isOfSeveral = random.nextInt(6) == 0;
                    MultiLock lock = MultiLock.of(wanted.stream()
                            .map(name -> lock(isOfSeveral ? coordinators.get(random.nextInt(3)) : coordinator, name))
                            .toList());
                    try (MultiLockGrant grant = random.nextInt(4) == 0
                            ? lock.tryAcquire().orElseGet(() -> lockUninterrupted(lock))
                            : lock.acquire(PATIENCE.multipliedBy(3))) {
                        wanted.forEach(name ->
                                assertEquals(1, inside.incrementAndGet(names.indexOf(name)), "two hold " + name));
                        Thread.yield();
                        grant.ensureHeld();
                        wanted.forEach(name -> inside.decrementAndGet(names.indexOf(name)));
                    }
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(120, SECONDS);
        }
        awaitFree(coordinators.get(0));
    }

    private static MultiLockGrant lockUninterrupted(MultiLock lock) {
        try {
            return lock.acquire(PATIENCE.multipliedBy(3));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
