package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.grant.Acquirable;
import io.conclave.grant.Grant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Code that is written once works with everything that can be acquired. */
class AcquirableTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration SHORT = Duration.ofMillis(50);

    /** What can be acquired, and what it cannot be held together with. */
    private enum Kind {
        MUTEX(AcquirableTest::mutex, AcquirableTest::mutex),
        READER(
                coordinator -> SharedLock.at(coordinator, "/shared").readLock(),
                coordinator -> SharedLock.at(coordinator, "/shared").writeLock()),
        WRITER(
                coordinator -> SharedLock.at(coordinator, "/shared").writeLock(),
                coordinator -> SharedLock.at(coordinator, "/shared").readLock()),
        SEVERAL(
                coordinator -> MultiLock.of(List.of(mutex(coordinator), DistributedLock.at(coordinator, "/other"))),
                AcquirableTest::mutex),
        PERMIT(
                coordinator -> DistributedSemaphore.at(coordinator, "/permits", 1),
                coordinator -> DistributedSemaphore.at(coordinator, "/permits", 1));

        private final Function<Coordinator, Acquirable<? extends Grant>> mine;
        private final Function<Coordinator, Acquirable<? extends Grant>> rivals;

        Kind(
                Function<Coordinator, Acquirable<? extends Grant>> mine,
                Function<Coordinator, Acquirable<? extends Grant>> rivals) {
            this.mine = mine;
            this.rivals = rivals;
        }
    }

    private final String connectString = "memory:" + UUID.randomUUID();
    private final Coordinator me = connect();
    private final Coordinator rival = connect();

    /** Its tries wait for an answer for as long as a busy machine needs. */
    private Coordinator connect() {
        return Coordinator.builder(connectString).tryTimeout(PATIENCE).connect();
    }

    private static DistributedLock mutex(Coordinator coordinator) {
        return DistributedLock.at(coordinator, "/mutex");
    }

    @AfterEach
    void close() {
        me.close();
        rival.close();
    }

    @ParameterizedTest
    @EnumSource
    void everyFormOfAcquireExcludesOthers(Kind kind) throws Exception {
        useAll(kind.mine.apply(me), kind.rivals.apply(rival));
    }

    private static <G extends Grant, R extends Grant> void useAll(Acquirable<G> mine, Acquirable<R> rivals)
            throws Exception {
        refusesTheRival(mine.acquire(), rivals);
        refusesTheRival(mine.acquire(PATIENCE), rivals);
        refusesTheRival(mine.acquire(Duration.ZERO), rivals);
        refusesTheRival(mine.acquireAsync().get(120, SECONDS), rivals);
        refusesTheRival(mine.acquireAsync(PATIENCE).get(120, SECONDS), rivals);
        refusesTheRival(mine.tryAcquire().orElseThrow(), rivals);
        refusesTheRival(mine.tryAcquireAsync().get(120, SECONDS).orElseThrow(), rivals);
        mine.whileHeld(grant -> assertTrue(rivals.tryAcquire().isEmpty() && grant.isHeld()));
        mine.whileHeld(PATIENCE, grant -> assertTrue(rivals.tryAcquire().isEmpty() && grant.isHeld()));
        assertEquals("done", mine.callWhileHeld(grant -> rivals.tryAcquire().isEmpty() ? "done" : "not exclusive"));
        assertEquals(
                "done",
                mine.callWhileHeld(PATIENCE, grant -> rivals.tryAcquire().isEmpty() ? "done" : "not exclusive"));
    }

    private static <R extends Grant> void refusesTheRival(Grant held, Acquirable<R> rivals) throws Exception {
        assertTrue(held.isHeld());
        assertEquals(Optional.empty(), rivals.tryAcquire());
        assertEquals(Optional.empty(), rivals.tryAcquireAsync().get(120, SECONDS));
        assertThrows(AcquireTimeoutException.class, () -> rivals.acquire(SHORT));
        assertThrows(AcquireTimeoutException.class, () -> rivals.acquire(Duration.ZERO));
        CompletableFuture<R> next = rivals.acquireAsync();
        assertFalse(next.isDone());
        held.close();
        next.get(120, SECONDS).close();
    }
}
