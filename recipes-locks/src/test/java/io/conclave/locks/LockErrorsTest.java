package io.conclave.locks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * What a failed call of a lock tells the reader of the log: the caller, what failed, why, and the holder.
 */
class LockErrorsTest {
    private static final String PATH = "/locks/orders";
    private static final Duration TIMEOUT = Duration.ofMillis(400);

    private final String store = UUID.randomUUID().toString();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator holder = connect(TimeSource.system());
    private final Coordinator waiter = connect(clock);

    private Coordinator connect(TimeSource time) {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofSeconds(30))
                .timeSource(time)
                .connect();
    }

    /** What a call of the waiter ends with whose time passes once it waits with so many watches. */
    private AcquireTimeoutException late(int watches, Callable<?> call) throws Exception {
        Future<AcquireTimeoutException> failure =
                threads.submit(() -> assertThrows(AcquireTimeoutException.class, call::call));
        long session = RecipeAccess.session(waiter).id();
        await().until(() -> MemoryStore.named(store).faults().watchCount(session) >= watches);
        askTheStore();
        clock.advance(TIMEOUT.dividedBy(2));
        askTheStore();
        clock.advanceUntil(TIMEOUT.dividedBy(2), failure::isDone);
        return failure.get(120, SECONDS);
    }

    /** What was asked before is answered when this returns, and so is what follows from it. */
    private void askTheStore() throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            waiter.execute(Exists.of(NodePath.ROOT));
        }
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        holder.close();
        waiter.close();
        MemoryStore.forget(store);
    }

    private static DistributedLock lock(Coordinator coordinator, String data) {
        return DistributedLock.at(coordinator, PATH).withData(data.getBytes(UTF_8));
    }

    private static void assertShowsCallerAndCause(ConclaveException failure) {
        assertTrue(
                Arrays.stream(failure.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().startsWith(LockErrorsTest.class.getName())),
                () -> "no frame of the caller in " + Arrays.toString(failure.getStackTrace()));
        assertInstanceOf(failure.getClass(), failure.getCause());
        assertSpeaksToUsers(failure);
    }

    private static void assertSpeaksToUsers(ConclaveException failure) {
        String message = String.valueOf(failure.getMessage());
        for (String ours : new String[] {
            "Contender", "GrantRequest", "PermitRequest", "AbstractGrant", "Held", "PT", "WAITING", "Multi"
        }) {
            assertFalse(message.contains(ours), message);
        }
        assertTrue(message.contains("/locks/"), message);
    }

    @Test
    void timeoutShowsTheCallerAndNamesTheHolder() throws Exception {
        try (LockGrant grant = lock(holder, "invoice-service").acquire()) {
            AcquireTimeoutException late = late(2, () -> lock(waiter, "me").acquire(TIMEOUT));
            assertShowsCallerAndCause(late);
            assertEquals(PATH, late.path());
            assertEquals(TIMEOUT, late.waited());
            assertEquals("invoice-service", late.holder().orElseThrow().text());
            assertEquals(
                    RecipeAccess.session(holder).id(),
                    late.holder().orElseThrow().sessionId());
            assertEquals(grant.path().toString(), late.holder().orElseThrow().path());
            assertTrue(late.getMessage().contains("\"invoice-service\""), late.getMessage());
            assertTrue(late.getMessage().contains("400 ms"), late.getMessage());
        }
    }

    @Test
    void waiterFarBehindLearnsTheHolderAndNotItsPredecessor() throws Exception {
        try (LockGrant grant = lock(holder, "first").acquire()) {
            CompletableFuture<LockGrant> between = lock(holder, "second").acquireAsync();
            await().until(() -> lock(holder, "").members().size() == 2);
            AcquireTimeoutException late = late(2, () -> lock(waiter, "third").acquire(TIMEOUT));
            assertEquals("first", late.holder().orElseThrow().text());
            assertTrue(late.getMessage().contains("1 more"), late.getMessage());
            assertTrue(between.cancel(true));
            assertTrue(grant.isHeld());
        }
    }

    @Test
    void timeoutWithoutAConnectionSaysSo() throws Exception {
        MemoryStore.named(store).faults().suspend(RecipeAccess.session(waiter).id());
        await().until(() -> waiter.state() == SessionState.SUSPENDED);
        CompletableFuture<AcquireTimeoutException> failure = new CompletableFuture<>();
        threads.submit(() -> failure.complete(assertThrows(
                AcquireTimeoutException.class, () -> lock(waiter, "me").acquire(TIMEOUT))));
        await().until(() -> {
            clock.advance(Duration.ofMillis(50));
            return failure.isDone();
        });
        AcquireTimeoutException late = failure.get();
        assertTrue(late.getMessage().contains("no connection"), late.getMessage());
        assertTrue(late.holder().isEmpty());
        assertShowsCallerAndCause(late);
    }

    @Test
    void asynchronousTimeoutSaysTheSame() throws Exception {
        try (LockGrant grant = lock(holder, "invoice-service").acquire()) {
            CompletableFuture<LockGrant> stage = lock(waiter, "me").acquireAsync(TIMEOUT);
            AcquireTimeoutException late = late(2, () -> {
                throw (Exception)
                        assertThrows(ExecutionException.class, stage::get).getCause();
            });
            assertEquals("invoice-service", late.holder().orElseThrow().text());
            assertTrue(grant.isHeld());
        }
    }

    @Test
    void multiLockNamesTheLockThatIsInTheWay() throws Exception {
        try (LockGrant grant = lock(holder, "invoice-service").acquire()) {
            MultiLock both = MultiLock.of(DistributedLock.at(waiter, "/locks/a"), DistributedLock.at(waiter, PATH));
            AcquireTimeoutException late = late(2, () -> both.acquire(TIMEOUT));
            assertEquals(PATH, late.path());
            assertEquals("invoice-service", late.holder().orElseThrow().text());
            assertTrue(late.getMessage().contains("/locks/a"), late.getMessage());
            assertShowsCallerAndCause(late);
            assertTrue(grant.isHeld());
        }
    }

    @Test
    void multiLockNamesEachLockThatIsInTheWayWithItsHolder() throws Exception {
        try (LockGrant first = lockAt(holder, "/locks/b", "invoices").acquire();
                LockGrant second = lockAt(holder, "/locks/d", "reports").acquire();
                LockGrant third = lockAt(holder, "/locks/e", "mails").acquire()) {
            CompletableFuture<LockGrant> between =
                    lockAt(holder, "/locks/e", "more mails").acquireAsync();
            await().until(() -> lockAt(holder, "/locks/e", "").members().size() == 2);
            MultiLock all = MultiLock.of(Stream.of("a", "b", "c", "d", "e")
                    .map(name -> DistributedLock.at(waiter, "/locks/" + name))
                    .toList());
            AcquireTimeoutException late = late(6, () -> all.acquire(TIMEOUT)); // 3 of its own places, 3 of others
            assertEquals("/locks/b", late.path());
            assertEquals("invoices", late.holder().orElseThrow().text());
            String message = String.valueOf(late.getMessage());
            String[] obstacles = message.substring(message.indexOf("400 ms: ")).split("; ");
            assertEquals(3, obstacles.length, message);
            assertTrue(obstacles[0].contains("/locks/b: it is held by \"invoices\""), message);
            assertTrue(obstacles[1].contains("/locks/d: it is held by \"reports\""), message);
            assertTrue(obstacles[2].contains("/locks/e: it is held by \"mails\""), message);
            assertTrue(obstacles[2].contains("1 more"), message);
            assertSpeaksToUsers(late);
            assertTrue(between.cancel(true));
            assertTrue(first.isHeld() && second.isHeld() && third.isHeld());
        }
    }

    @Test
    void multiLockWithoutAConnectionSaysItOnce() throws Exception {
        MemoryStore.named(store).faults().suspend(RecipeAccess.session(waiter).id());
        await().until(() -> waiter.state() == SessionState.SUSPENDED);
        MultiLock both = MultiLock.of(lockAt(waiter, "/locks/a", ""), lockAt(waiter, "/locks/b", ""));
        Future<AcquireTimeoutException> failure =
                threads.submit(() -> assertThrows(AcquireTimeoutException.class, () -> both.acquire(TIMEOUT)));
        clock.advanceUntil(TIMEOUT, failure::isDone);
        String message = String.valueOf(failure.get(120, SECONDS).getMessage());
        assertEquals(2, message.split("no connection", -1).length, message);
    }

    private static DistributedLock lockAt(Coordinator coordinator, String path, String data) {
        return DistributedLock.at(coordinator, path).withData(data.getBytes(UTF_8));
    }

    @Test
    void semaphoreSaysHowManyPermitsAreOut() throws Exception {
        try (PermitGrant grant =
                DistributedSemaphore.at(holder, "/locks/permits", 2).acquire(2)) {
            AcquireTimeoutException late = late(1, () -> DistributedSemaphore.at(waiter, "/locks/permits", 2)
                    .acquire(1, TIMEOUT));
            assertEquals("/locks/permits", late.path());
            assertTrue(late.getMessage().contains("2 of 2 are out"), late.getMessage());
            assertShowsCallerAndCause(late);
            assertTrue(grant.isHeld());
        }
    }

    @Test
    void lostSessionFailsEachCallerWithItsOwnStack() throws Exception {
        try (LockGrant grant = lock(holder, "first").acquire()) {
            Future<SessionGoneException> one = threads.submit(this::waitUntilTheSessionIsGone);
            Future<SessionGoneException> two = threads.submit(this::waitUntilTheSessionIsGone);
            await().until(() -> lock(holder, "").members().size() == 3);
            MemoryStore.named(store)
                    .faults()
                    .expire(RecipeAccess.session(waiter).id());
            assertNotSame(one.get(120, SECONDS), two.get(120, SECONDS));
            assertShowsCallerAndCause(one.get());
            assertShowsCallerAndCause(two.get());
            assertTrue(grant.isHeld());
        }
    }

    private SessionGoneException waitUntilTheSessionIsGone() {
        return assertThrows(SessionGoneException.class, () -> lock(waiter, "me").acquire());
    }

    @Test
    void lostGrantSaysWhyAndWhich() throws Exception {
        LockGrant grant = lock(holder, "first").acquire();
        MemoryStore.named(store).faults().expire(RecipeAccess.session(holder).id());
        assertEquals(LossReason.SESSION_LOST, grant.lost().toCompletableFuture().get(120, SECONDS));
        GrantLostException lost = assertThrows(GrantLostException.class, grant::ensureHeld);
        assertEquals(LossReason.SESSION_LOST, lost.reason());
        assertEquals(PATH, lost.path());
        assertSpeaksToUsers(lost);
        grant.close();
    }

    @Test
    void warningOfALostGrantNamesThePathThePlaceAndTheReason() throws Exception {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        Logger logger = (Logger) LoggerFactory.getLogger("io.conclave.line");
        logger.setLevel(Level.WARN);
        logger.setAdditive(false);
        logger.addAppender(lines);
        try {
            LockGrant grant = DistributedLock.at(holder, "/locks/warned").acquire();
            long session = RecipeAccess.session(holder).id();
            String place = grant.path().name();
            MemoryStore.named(store).faults().expire(session);
            grant.lost().get(120, SECONDS);
            String warning = "Lost the grant of /locks/warned (place " + place + "): the session 0x"
                    + Long.toHexString(session) + " was lost";
            assertEquals(
                    List.of(warning),
                    lines.list.stream()
                            .filter(line -> line.getLevel() == Level.WARN)
                            .map(ILoggingEvent::getFormattedMessage)
                            .filter(line -> line.contains("/locks/warned"))
                            .toList());
        } finally {
            logger.detachAppender(lines);
            logger.setAdditive(true);
            logger.setLevel(null);
        }
    }

    @Test
    void unlockingALostLockSaysWhyAndWhich() throws Exception {
        Lock view = DistributedLock.at(holder, PATH).asLock();
        view.lock();
        MemoryStore.named(store)
                .faults()
                .deleteAsOperator(lock(holder, "").holder().orElseThrow().path());
        await().pollInSameThread().until(() -> !isHeld(view));
        GrantLostException lost = assertThrows(GrantLostException.class, view::unlock);
        assertEquals(LossReason.NODE_DELETED, lost.reason());
        assertEquals(PATH, lost.path());
    }

    /** Whether the view still counts as held: re-entry says so. */
    private static boolean isHeld(Lock view) {
        try {
            view.lock();
            view.unlock();
            return true;
        } catch (GrantLostException e) {
            return false;
        }
    }
}
