package io.conclave.shedlock;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.node.Bytes;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import io.conclave.time.TimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import net.javacrumbs.shedlock.support.LockException;
import net.javacrumbs.shedlock.support.Utils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users rely on beyond what ShedLock's own tests demand. */
class ConclaveLockProviderTest extends ShedLockFixture {
    private static final NodePath RECORD = NodePath.of("/shedlock/" + NAME);
    private static final Predicate<Request<?>> WRITE = request -> request instanceof Multi;

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ManualTimeSource standing = new ManualTimeSource();
    private final Coordinator coordinator = connect(standing);
    private final Coordinator other = connect(TimeSource.system());
    private final ConclaveLockProvider provider = ConclaveLockProvider.at(coordinator);

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    private Coordinator connect(TimeSource time) {
        return opened(Coordinator.builder("memory:" + store)
                .sessionTimeout(ofMinutes(1))
                .timeSource(time));
    }

    @AfterEach
    void clear() {
        faults.clear();
        coordinator.close();
        MemoryStore.forget(store);
    }

    private void expireSession() {
        long lost = RecipeAccess.session(coordinator).id();
        faults.expire(lost);
        await().until(() -> RecipeAccess.session(coordinator).id() != lost);
    }

    @Test
    void lockIsFreeWhenItsHoldersSessionHasEnded() {
        locked(provider, config(NAME));
        coordinator.close();
        assertTrue(isFree(other, NAME));
    }

    @Test
    void lockOfAHolderThatIsGoneStaysTakenUntilLockAtLeastForIsOver() {
        locked(provider, config(NAME, LONG, ofSeconds(30)));
        coordinator.close();
        assertFalse(isFree(other, NAME));
        clock.advance(ofSeconds(30));
        assertTrue(isFree(other, NAME));
    }

    @Test
    void lockUntilAtMostOutlivesItsHolder() {
        locked(provider.untilAtMost(), config(NAME, ofSeconds(40), ZERO));
        coordinator.close();
        assertFalse(isFree(other, NAME));
        clock.advance(ofSeconds(40));
        assertTrue(isFree(other, NAME));
    }

    @Test
    void lateUnlockDoesNotFreeTheSuccessorsLock() {
        SimpleLock late = locked(provider, config(NAME));
        expireSession();
        SimpleLock successor = locked(ConclaveLockProvider.at(other), config(NAME));
        late.unlock();
        assertFalse(isFree(provider, NAME));
        successor.unlock();
        assertTrue(isFree(provider, NAME));
    }

    @Test
    void lateExtensionDoesNotTakeTheSuccessorsLock() {
        SimpleLock late = locked(provider, config(NAME));
        expireSession();
        SimpleLock successor = locked(ConclaveLockProvider.at(other), config(NAME));
        assertTrue(late.extend(LONG, ZERO).isEmpty());
        successor.unlock();
        assertTrue(isFree(provider, NAME));
    }

    @Test
    void extensionGivesALockThatHasLostItsSessionTheNextOne() {
        SimpleLock lock = locked(provider, config(NAME));
        expireSession();
        SimpleLock extended = lock.extend(LONG, ZERO).orElseThrow();
        assertFalse(isFree(other, NAME));
        extended.unlock();
        assertTrue(isFree(other, NAME));
    }

    /** Keeps the task that it is to repeat, for the test to run. */
    private static final class RepeatedTask extends ScheduledThreadPoolExecutor {
        private Runnable task = () -> {};

        RepeatedTask() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initial, long period, TimeUnit unit) {
            task = command;
            return schedule(() -> {}, 0, unit);
        }
    }

    @Test
    void lockIsKeptAliveByShedLocksKeeper() {
        RepeatedTask keeper = new RepeatedTask();
        SimpleLock lock = locked(new KeepAliveLockProvider(provider, keeper), config(NAME, ofSeconds(30), ZERO));
        for (int i = 0; i < 4; i++) {
            clock.advance(ofSeconds(15));
            keeper.task.run();
        }
        assertFalse(isFree(other, NAME));
        lock.unlock();
        assertTrue(isFree(other, NAME));
        keeper.shutdownNow();
    }

    @Test
    void anyThreadUnlocks() throws Exception {
        SimpleLock lock = locked(provider, config(NAME));
        threads.submit(lock::unlock).get();
        assertTrue(isFree(other, NAME));
    }

    @Test
    void secondUnlockIsRefused() {
        SimpleLock lock = locked(provider, config(NAME));
        lock.unlock();
        assertThrows(IllegalStateException.class, lock::unlock);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a/b", "/", "..", ".", "%2F", "100 %", "tab\there", "Prüfung-夜", "x\uD83D\uDE00", "a\u0000"})
    void anyNameHasALockOfItsOwn(String name) {
        SimpleLock lock = locked(provider, config(name));
        assertFalse(isFree(other, name));
        assertTrue(isFree(other, name + "2"));
        assertTrue(isFree(other, name.replace('/', '-') + "-"));
        lock.unlock();
        assertTrue(isFree(other, name));
    }

    @Test
    void providersOfTwoPathsHaveLocksOfTheirOwn() {
        SimpleLock lock = locked(ConclaveLockProvider.at(coordinator, "/app/jobs"), config(NAME));
        assertTrue(isFree(other, NAME));
        assertFalse(isFree(ConclaveLockProvider.at(other, "/app/jobs"), NAME));
        lock.unlock();
    }

    @Test
    void badArgumentsAreNamed() {
        assertThrows(IllegalArgumentException.class, () -> ConclaveLockProvider.at(coordinator, "jobs"));
        assertThrows(IllegalArgumentException.class, () -> provider.withRequestTimeout(ZERO));
        assertThrows(IllegalArgumentException.class, () -> provider.withRequestTimeout(ofSeconds(-1)));
    }

    @Test
    void lockDoesNotWaitLongerThanTheRequestTimeoutAndLeavesNothing() throws Exception {
        faults.suspend(RecipeAccess.session(coordinator).id());
        Future<?> failing = threads.submit(() -> {
            ConclaveLockProvider quick = provider.withRequestTimeout(ofSeconds(3));
            LockException failure = assertThrows(LockException.class, () -> quick.lock(config(NAME)));
            assertTrue(
                    failure.getMessage()
                            .startsWith(
                                    "Cannot lock \"nightly-report\" at /shedlock: the store did not answer within 3 s"),
                    failure::getMessage);
        });
        standing.advanceUntil(Duration.ofMillis(100), failing::isDone);
        failing.get();
        faults.restoreAll();
        await().until(() -> coordinator.state() == SessionState.CONNECTED);
        assertTrue(isFree(other, NAME));
        assertTrue(isFree(provider, NAME));
    }

    @Test
    void lockThatWasWrittenAfterItsCallerHasGoneIsUnlocked() throws Exception {
        assertTrue(isFree(other, NAME)); // the record is there
        faults.onNext(WRITE, RequestFate.HOLD_REPLY);
        Future<?> failing = threads.submit(() -> assertThrows(LockException.class, () -> provider.lock(config(NAME))));
        standing.advanceUntil(Duration.ofMillis(100), failing::isDone);
        failing.get();
        assertFalse(isFree(other, NAME));
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        await().until(() -> isFree(other, NAME));
    }

    @Test
    void interruptedLockIsUnlockedAndKeepsTheFlag() throws Exception {
        assertTrue(isFree(other, NAME)); // the record is there
        faults.onNext(WRITE, RequestFate.HOLD_REPLY);
        AtomicReference<Thread> caller = new AtomicReference<>();
        Future<Boolean> failing = threads.submit(() -> {
            caller.set(Thread.currentThread());
            LockException failure = assertThrows(LockException.class, () -> provider.lock(config(NAME)));
            assertTrue(failure.getMessage().endsWith("the thread was interrupted"), failure::getMessage);
            return Thread.interrupted();
        });
        await().until(() -> children(other, RECORD.toString()).size() == 2);
        caller.get().interrupt();
        assertTrue(failing.get());
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        await().until(() -> isFree(other, NAME));
    }

    @Test
    void interruptedThreadUnlocksAndKeepsTheFlag() {
        SimpleLock lock = locked(provider, config(NAME));
        Thread.currentThread().interrupt();
        lock.unlock();
        assertTrue(Thread.interrupted());
        assertTrue(isFree(other, NAME));
    }

    @Test
    void unlockGoesOnWhenItsCallerHasGone() throws Exception {
        SimpleLock lock = locked(provider, config(NAME));
        faults.suspend(RecipeAccess.session(coordinator).id());
        Future<?> failing = threads.submit(() -> {
            LockException failure = assertThrows(LockException.class, lock::unlock);
            assertTrue(failure.getMessage().contains("it is tried until it succeeds"), failure::getMessage);
        });
        standing.advanceUntil(Duration.ofMillis(100), failing::isDone);
        failing.get();
        assertFalse(isFree(other, NAME));
        faults.restoreAll();
        await().until(() -> isFree(other, NAME));
    }

    /** Calls lock while the connection is away for longer than the time. */
    private SimpleLock lockedAfterAnOutage(Duration atMost, Duration atLeast) throws Exception {
        assertTrue(isFree(other, NAME)); // the record is there
        faults.suspend(RecipeAccess.session(coordinator).id());
        LockConfiguration asked = config(NAME, atMost, atLeast);
        Future<SimpleLock> waiting = threads.submit(() -> locked(provider, asked));
        clock.advance(ofSeconds(7));
        standing.advance(ofSeconds(7));
        faults.restoreAll();
        return waiting.get(120, TimeUnit.SECONDS);
    }

    @Test
    void lockAtMostForBeginsWhenTheLockIsTakenNotWhenItWasAskedFor() throws Exception {
        lockedAfterAnOutage(ofSeconds(5), ZERO);
        assertFalse(isFree(other, NAME));
    }

    @Test
    void lockAtLeastForBeginsWhenTheLockIsTakenNotWhenItWasAskedFor() throws Exception {
        lockedAfterAnOutage(LONG, ofSeconds(5)).unlock();
        assertFalse(isFree(other, NAME));
    }

    /** Calls lock for 5 s, which is written, and 7 s pass without a reply. */
    private Future<SimpleLock> lockedWithoutAReplyFor7s() throws InterruptedException {
        assertTrue(isFree(other, NAME)); // the record is there
        faults.onNext(WRITE, RequestFate.HOLD_REPLY);
        Future<SimpleLock> waiting = threads.submit(() -> locked(provider, config(NAME, ofSeconds(5), ZERO)));
        await().until(() -> children(other, RECORD.toString()).size() == 2);
        clock.advance(ofSeconds(7));
        return waiting;
    }

    @Test
    void lockWhoseReplyIsLostIsTakenAnewWithItsWholeTime() throws Exception {
        Future<SimpleLock> waiting = lockedWithoutAReplyFor7s();
        faults.drop(RecipeAccess.session(coordinator).id());
        waiting.get(120, TimeUnit.SECONDS);
        assertFalse(isFree(other, NAME));
    }

    @Test
    void lockThatIsOverBeforeItsReplyComesIsNotGiven() throws Exception {
        Future<SimpleLock> waiting = lockedWithoutAReplyFor7s();
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiting.get(120, TimeUnit.SECONDS));
        assertEquals(LockException.class, failure.getCause().getClass(), failure::toString);
        await().until(() -> children(other, RECORD.toString()).size() == 1); // it is undone
        assertTrue(isFree(other, NAME));
    }

    @Test
    void extensionThatIsOverBeforeItsReplyComesIsNotGiven() throws Exception {
        SimpleLock lock = locked(provider, config(NAME));
        Bytes before = other.execute(GetData.of(RECORD)).bytes();
        faults.onNext(WRITE, RequestFate.HOLD_REPLY);
        Future<Boolean> extending =
                threads.submit(() -> lock.extend(ofSeconds(5), ZERO).isPresent());
        await().until(() -> !other.execute(GetData.of(RECORD)).bytes().equals(before));
        clock.advance(ofSeconds(7));
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        assertFalse(extending.get(120, TimeUnit.SECONDS));
    }

    @Test
    void closedCoordinatorIsAnError() {
        SimpleLock lock = locked(provider, config(NAME));
        coordinator.close();
        LockException failure = assertThrows(LockException.class, () -> provider.lock(config(NAME)));
        assertEquals(ClosedException.class, failure.getCause().getCause().getClass());
        assertThrows(LockException.class, lock::unlock);
        assertTrue(isFree(other, NAME));
    }

    private static void pauseUntil(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void lockEndsWhenItsCoordinatorIsClosedBeforeItHasHeardThatItsSessionIsLost() throws Exception {
        assertTrue(isFree(other, NAME)); // the record is there
        faults.onNext(WRITE, RequestFate.HOLD_REPLY);
        ConclaveLockProvider patient = provider.withRequestTimeout(ofMinutes(600));
        Future<LockException> failing =
                threads.submit(() -> assertThrows(LockException.class, () -> patient.lock(config(NAME))));
        await().until(() -> children(other, RECORD.toString()).size() == 2);
        RecipeSession session = RecipeAccess.session(coordinator);
        CountDownLatch mayHear = new CountDownLatch(1);
        session.execute(() -> pauseUntil(mayHear));
        standing.advance(ofMinutes(2));
        await().until(() -> session.state() == SessionState.LOST);
        Future<?> closing = threads.submit(coordinator::close);
        await().until(() -> coordinator.state() == SessionState.CLOSED);
        mayHear.countDown();
        LockException failure = failing.get(120, TimeUnit.SECONDS);
        assertEquals(ClosedException.class, failure.getCause().getCause().getClass(), failure::toString);
        closing.get(120, TimeUnit.SECONDS);
    }

    @Test
    void lockThatIsLostWithItsRecordIsUnlockedWithoutAnError() throws InterruptedException {
        SimpleLock lock = locked(provider, config(NAME));
        faults.deleteAsOperator(RECORD);
        lock.unlock();
        SimpleLock again = locked(provider, config(NAME));
        other.execute(Delete.of(RECORD.child("holder")));
        again.unlock();
        assertTrue(isFree(other, NAME));
    }

    /** The requests of ShedLock's own provider for ZooKeeper. */
    private final class TheirProvider {
        boolean isLocked() throws InterruptedException {
            String until = new String(other.execute(GetData.of(RECORD)).data(), StandardCharsets.UTF_8);
            return Instant.parse(until).isAfter(clock.instant());
        }

        void create(Duration atMost) throws InterruptedException {
            other.execute(Create.of(NodePath.of("/shedlock")));
            other.execute(Create.of(RECORD).withData(until(atMost)));
        }

        void set(Duration atMost) throws InterruptedException {
            int version = other.execute(GetData.of(RECORD)).stat().version();
            other.execute(SetData.of(RECORD, until(atMost)).withVersion(version));
        }

        private byte[] until(Duration time) {
            return Utils.toIsoString(clock.instant().plus(time)).getBytes(StandardCharsets.UTF_8);
        }
    }

    @Test
    void lockExcludesTheLockOfShedLocksOwnProvider() throws InterruptedException {
        TheirProvider theirs = new TheirProvider();
        theirs.create(LONG);
        assertTrue(provider.lock(config(NAME)).isEmpty());
        theirs.set(ZERO); // its unlock
        SimpleLock lock = locked(provider, config(NAME));
        assertTrue(theirs.isLocked());
        lock.unlock();
        assertFalse(theirs.isLocked());
        theirs.set(LONG); // its lock, on our record
        assertTrue(provider.lock(config(NAME)).isEmpty());
        clock.advance(LONG);
        assertTrue(isFree(provider, NAME));
    }

    @Test
    void lateUnlockDoesNotFreeTheLockOfShedLocksOwnProvider() throws InterruptedException {
        TheirProvider theirs = new TheirProvider();
        SimpleLock late = locked(provider, config(NAME, ofSeconds(1), ZERO));
        clock.advance(ofSeconds(1));
        theirs.set(LONG);
        late.unlock();
        assertTrue(theirs.isLocked());
        assertEquals(1, children(other, RECORD.toString()).size(), "the znode of the holder is left");
    }

    @Test
    void recordThatIsNoTimeCountsAsLocked() throws InterruptedException {
        other.execute(Create.of(NodePath.of("/shedlock")));
        other.execute(Create.of(RECORD));
        assertTrue(provider.lock(config(NAME)).isEmpty());
    }
}
