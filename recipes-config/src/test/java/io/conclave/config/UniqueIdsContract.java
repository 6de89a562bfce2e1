package io.conclave.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.WaitTimeoutException;
import io.conclave.testkit.ManualTimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What unique ids promise. */
abstract class UniqueIdsContract extends SharedValueContract {
    private static final String PATH = "/ids/orders";

    @TempDir
    Path folder;

    private final List<SequencePersister> persisters = new ArrayList<>();

    @AfterEach
    void endPersisters() throws Exception {
        for (SequencePersister persister : persisters) {
            get(persister.closeAsync()); // before the folder is deleted
        }
    }

    private SequencePersister persister(Coordinator coordinator, Reservation reservation) {
        SequencePersister persister = SequencePersister.start(coordinator, PATH, reservation, 10);
        persisters.add(persister);
        return persister;
    }

    @Test
    void idsOfManyAreUnique() throws Exception {
        Set<Long> ids = new HashSet<>();
        List<CompletableFuture<Long>> asked = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            UniqueIds mine = UniqueIds.at(connect(), PATH).withBlockSize(7);
            for (int j = 0; j < 50; j++) {
                asked.add(mine.nextAsync());
            }
        }
        for (CompletableFuture<Long> id : asked) {
            assertTrue(ids.add(get(id)), "given twice: " + id.join());
        }
        assertEquals(200, ids.size());
        long largest = ids.stream().max(Long::compare).orElseThrow();
        assertTrue(largest < 200 + 4 * 7, "few are skipped: " + largest);
    }

    @Test
    void aSequenceMadeForEachIdSkipsNone() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        for (long expected = 0; expected < 150; expected++) {
            assertEquals(expected, UniqueIds.at(coordinator, PATH).next());
        }
        loseSession(coordinator, clock);
        assertEquals(150, UniqueIds.at(coordinator, PATH).next(), "the block belongs to the coordinator");
        assertEquals(200, UniqueIds.at(coordinator, PATH).withBlockSize(5).next(), "another block size, another block");
        assertEquals(205, UniqueIds.at(connect(), PATH).next(), "another coordinator, another block");
    }

    @Test
    void aNegativeTimeoutIsNamedWithItsRule() {
        UniqueIds ids = UniqueIds.persisted(connect(), PATH);
        String message = assertThrows(IllegalArgumentException.class, () -> ids.next(Duration.ofSeconds(-1)))
                .getMessage();
        assertTrue(message.contains("PT-1S"), message);
        assertThrows(IllegalArgumentException.class, () -> ids.nextAsync(Duration.ofSeconds(-1)));
    }

    @Test
    void anIdIsAwaitedForALimitedTimeWithoutBlocking() throws Exception {
        UniqueIds none = UniqueIds.persisted(connect(), PATH + "-persisted");
        CompletableFuture<Long> late = none.nextAsync(Duration.ofMillis(50));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> get(late));
        assertTrue(failure.getCause() instanceof WaitTimeoutException, failure::toString);
        UniqueIds ids = UniqueIds.at(connect(), PATH).withBlockSize(2);
        assertEquals(0, get(ids.nextAsync(PATIENCE)));
        assertEquals(1, get(ids.nextAsync(PATIENCE)));
        assertEquals(2, get(ids.nextAsync(PATIENCE)));
    }

    @Test
    void requestForAnIdInAContinuationHoldsUpNoOther() throws Exception {
        UniqueIds ids = UniqueIds.at(connect(), PATH).withBlockSize(2);
        List<CompletableFuture<Long>> nexts = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            nexts.add(ids.nextAsync().thenCompose(id -> {
                try {
                    return CompletableFuture.completedFuture(ids.next());
                } catch (InterruptedException e) {
                    return CompletableFuture.failedFuture(e);
                }
            }));
        }
        Set<Long> given = new HashSet<>();
        for (CompletableFuture<Long> next : nexts) {
            assertTrue(given.add(get(next)));
        }
    }

    @Test
    void idsGoOnAfterALostSession() throws Exception {
        Coordinator other = connect();
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        UniqueIds ids = UniqueIds.at(coordinator, PATH).withBlockSize(1);
        Set<Long> given = new HashSet<>();
        given.add(ids.next());
        loseSession(coordinator, clock);
        assertTrue(given.add(ids.next()));
        assertTrue(given.add(UniqueIds.at(other, PATH).next()));
    }

    @Test
    void persistedIdsWaitForAPersisterAndStayBelowItsBound() throws Exception {
        Reservation reservation = FileReservation.at(folder.resolve("orders"));
        UniqueIds ids = UniqueIds.persisted(connect(), PATH).withBlockSize(3);
        assertThrows(WaitTimeoutException.class, () -> ids.next(Duration.ofMillis(100)));
        CompletableFuture<Long> first = ids.nextAsync();
        assertFalse(first.isDone());
        try (SequencePersister persister = persister(connect(), reservation)) {
            get(persister.ready());
            assertEquals(0, get(first));
            for (int i = 1; i < 100; i++) {
                long id = ids.next(PATIENCE);
                assertEquals(i, id);
                assertTrue(id < reservation.upperBound(), id + " is not below " + reservation.upperBound());
            }
            UniqueIds others = UniqueIds.persisted(connect(), PATH).withBlockSize(1);
            for (int i = 0; i < 3; i++) {
                long id = others.next(PATIENCE);
                assertTrue(id >= 100, "given twice: " + id);
                assertTrue(id < reservation.upperBound(), id + " is not below " + reservation.upperBound());
            }
        }
    }

    @Test
    void interruptedWaitForAnIdEnds() throws Exception {
        UniqueIds ids = UniqueIds.persisted(connect(), PATH);
        Future<Long> waiting = threads.submit(() -> ids.next());
        waiting.cancel(true);
        Reservation reservation = FileReservation.at(folder.resolve("orders"));
        try (SequencePersister persister = persister(connect(), reservation)) {
            assertTrue(waiting.isCancelled());
            assertTrue(ids.next(PATIENCE) >= 0); // some may have been skipped
        }
    }

    @Test
    void sequenceThatLostItsDataContinuesFromTheStoredBound() throws Exception {
        Coordinator coordinator = connect();
        Reservation reservation = FileReservation.at(folder.resolve("orders"));
        SequencePersister first = persister(connect(), reservation);
        long last = UniqueIds.persisted(coordinator, PATH).withBlockSize(1).next(PATIENCE);
        get(first.ready());
        get(first.closeAsync());
        delete(coordinator, PATH); // as much as a contract can lose of a store that others use
        UniqueIds ids = UniqueIds.persisted(coordinator, PATH);
        assertThrows(WaitTimeoutException.class, () -> ids.next(Duration.ofMillis(100)));
        try (SequencePersister second = persister(connect(), reservation)) {
            get(second.ready());
            assertTrue(ids.next(PATIENCE) > last);
        }
    }
}
