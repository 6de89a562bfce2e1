package io.conclave.guards;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A holder sleeps past the end of its session: its clocks stand still and nothing reaches it, so on waking it believes
 * that it holds the lock, while the next holder has it. Each guard refuses what it then writes.
 */
class PausedHolderTest {
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(10);
    private static final NodePath DATA = NodePath.of("/orders");

    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource worldsClock = new ManualTimeSource();
    private final ManualTimeSource sleepersClock = new ManualTimeSource();
    private Coordinator world;
    private Coordinator sleeper;
    private Faults faults;

    @BeforeEach
    void connect() throws InterruptedException {
        world = connect(worldsClock); // the first one: its clock is the store's
        sleeper = connect(sleepersClock);
        faults = MemoryStore.named(store).faults();
        world.execute(Create.of(DATA).withData(bytes("nothing yet")));
    }

    @AfterEach
    void close() {
        faults.clear();
        sleeper.close();
        world.close();
        MemoryStore.forget(store);
    }

    private Coordinator connect(TimeSource time) {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(SESSION_TIMEOUT)
                .timeSource(time)
                .connect();
    }

    private static DistributedLock lockOf(Coordinator coordinator) {
        return DistributedLock.at(coordinator, "/locks/orders");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void assertData(String expected) throws InterruptedException {
        assertArrayEquals(bytes(expected), world.execute(GetData.of(DATA)).data());
    }

    private static ConditionFactory soon() {
        return await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    /** The sleeper's session ends without its knowledge; returns the next holder. */
    private LockGrant nextHolderWhileTheSleeperSleeps() {
        long session = RecipeAccess.session(sleeper).id();
        faults.holdReplies(session);
        CompletableFuture<LockGrant> next = lockOf(world).acquireAsync();
        worldsClock.advanceUntil(Duration.ofMillis(500), next::isDone);
        assertFalse(faults.liveSessions().contains(session));
        return next.join();
    }

    @Test
    void lateWriteToADatabaseIsRefused() throws Exception {
        try (TestDatabase database = new TestDatabase()) {
            JdbcGuard guard = database.guard();
            String data = database.table("data");
            database.run("create table " + data + " (n bigint not null)");
            database.run("insert into " + data + " values (0)");

            LockGrant grant = lockOf(sleeper).acquire();
            write(database, guard, grant.token(), "update " + data + " set n = 1");
            LockGrant next = nextHolderWhileTheSleeperSleeps();
            assertTrue(next.token().compareTo(grant.token()) > 0);
            write(database, guard, next.token(), "update " + data + " set n = 2");

            assertTrue(grant.isHeld(), "it is to wake up without a suspicion");
            StaleTokenException refusal = assertThrows(
                    StaleTokenException.class,
                    () -> write(database, guard, grant.token(), "update " + data + " set n = n + 100"));
            assertEquals(grant.token(), refusal.token());
            assertEquals(next.token(), refusal.largest());
            assertEquals(2, database.number("select n from " + data));
            assertTrue(next.isHeld());
        }
    }

    private static void write(TestDatabase database, JdbcGuard guard, FencingToken token, String sql)
            throws SQLException {
        try (Connection transaction = database.transaction()) {
            guard.check(transaction, "orders", token);
            TestDatabase.run(transaction, sql);
            transaction.commit();
        }
    }

    @Test
    void lateWriteToTheStoreIsRefused() throws Exception {
        LockGrant grant = lockOf(sleeper).acquire();
        StoreGuard guard = StoreGuard.of(grant);
        guard.execute(sleeper, SetData.of(DATA, bytes("by the sleeper")));
        LockGrant next = nextHolderWhileTheSleeperSleeps();
        StoreGuard.of(next).execute(world, SetData.of(DATA, bytes("by the next")));

        assertTrue(grant.isHeld(), "it is to wake up without a suspicion");
        assertThrows(
                GrantLostException.class,
                () -> guard.execute(world, SetData.of(DATA, bytes("too late, by a helper's session"))));
        CompletableFuture<List<Multi.Result>> late = guard.executeAsync(sleeper, SetData.of(DATA, bytes("too late")));
        wakeUp();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> late.get(120, SECONDS));
        assertTrue(Waiting.cause(failure) instanceof SessionGoneException, failure::toString);
        assertThrows(
                GrantLostException.class,
                () -> guard.execute(sleeper, SetData.of(DATA, bytes("too late, by the next session"))));
        assertData("by the next");
        assertTrue(next.isHeld());
    }

    /** The news gets through, and the coordinator has its next session. */
    private void wakeUp() {
        long ended = RecipeAccess.session(sleeper).id();
        faults.releaseReplies(ended);
        sleepersClock.advanceUntil(Duration.ofMillis(10), () -> {
            long present = RecipeAccess.session(sleeper).id();
            return present != 0 && present != ended && sleeper.state() == SessionState.CONNECTED;
        });
    }

    @Test
    void storeThatBeganAnewIsNotTakenForALateWriter() throws Exception {
        try (TestDatabase database = new TestDatabase()) {
            JdbcGuard guard = database.guard();
            for (int i = 0; i < 20; i++) {
                world.execute(SetData.of(DATA, bytes("change " + i)));
            }
            FencingToken before = lockOf(sleeper).acquire().token();
            write(database, guard, before, "select 1");

            MemoryStore.forget(store); // its numbers begin at 1 again, with a larger generation
            try (Coordinator anew = connect(TimeSource.system())) {
                FencingToken after = lockOf(anew).acquire().token();
                assertTrue(after.sequence() < before.sequence() && after.generation() > before.generation());
                write(database, guard, after, "select 1");
                assertThrows(StaleTokenException.class, () -> write(database, guard, before, "select 1"));
            }
        }
    }
}
