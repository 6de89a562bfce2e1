package io.conclave.config;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ids are never given twice, whatever becomes of the whole store, as long as the reservation is kept. */
class UniqueIdsLossTest {
    private static final String PATH = "/ids";
    private static final Duration TICK = Duration.ofMillis(5);

    @TempDir
    Path folder;

    private static Coordinator connect(String store) {
        return Coordinator.connect("memory:" + store);
    }

    /**
     * Each start is a new store: empty, or with the sequence as an earlier one had it. Persisters come and go in it,
     * and requests lose their replies.
     */
    @Test
    void idsAreUniqueAcrossManyRestartsOfTheStore() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("restarts of a store: seed " + seed);
        Random random = new Random(seed);
        Set<Long> given = new HashSet<>();
        List<byte[]> backups = new ArrayList<>();
        for (int start = 0; start < 8; start++) {
            String store = "store-" + UUID.randomUUID();
            try (Coordinator coordinator = connect(store);
                    Coordinator others = connect(store)) {
                if (!backups.isEmpty() && random.nextBoolean()) {
                    byte[] backup = backups.get(random.nextInt(backups.size()));
                    coordinator.execute(Create.of(NodePath.of(PATH)).withData(backup));
                }
                live(coordinator, others, store, random, given);
                backups.add(coordinator.execute(GetData.of(NodePath.of(PATH))).data());
            } finally {
                MemoryStore.forget(store);
            }
        }
        assertTrue(given.size() > 40, "only " + given.size() + " ids were given");
    }

    private void live(Coordinator coordinator, Coordinator others, String store, Random random, Set<Long> given)
            throws Exception {
        UniqueIds ids = UniqueIds.persisted(coordinator, PATH).withBlockSize(1 + random.nextInt(5));
        UniqueIds otherIds = UniqueIds.persisted(others, PATH).withBlockSize(1 + random.nextInt(5));
        for (int term = 0; term < 3; term++) {
            SequencePersister persister = SequencePersister.start(
                    random.nextBoolean() ? coordinator : others, PATH, reservation(), 1 + random.nextInt(20));
            List<CompletableFuture<Long>> asked = new ArrayList<>();
            for (int i = 0; i < 15; i++) {
                RequestFate fault = random.nextBoolean() ? RequestFate.DROP_AFTER : RequestFate.DROP_BEFORE;
                if (random.nextInt(3) == 0) {
                    MemoryStore.named(store).faults().onNth(1 + random.nextInt(3), request -> true, fault);
                }
                asked.add((random.nextBoolean() ? ids : otherIds).nextAsync());
            }
            boolean isClosed = random.nextBoolean();
            if (isClosed) {
                persister.close(); // a caller that still waits is served by the next one
            }
            for (CompletableFuture<Long> id : asked) {
                take(id, isClosed, given);
            }
            persister.closeAsync().get(120, SECONDS);
        }
    }

    private static void take(CompletableFuture<Long> id, boolean mayNotCome, Set<Long> given) throws Exception {
        try {
            long next = mayNotCome ? id.get(30, MILLISECONDS) : id.get(120, SECONDS);
            assertTrue(given.add(next), "given twice: " + id);
        } catch (TimeoutException e) {
            assertTrue(mayNotCome, "there is a persister, and no id");
            id.cancel(true);
        } catch (ExecutionException e) {
            assertTrue(e.getCause() instanceof ConclaveException, e::toString);
        }
    }

    private Reservation reservation() {
        return FileReservation.at(folder.resolve("ids"));
    }

    @Test
    void sequenceThatWasSetBackGivesNothingBeforeItsPersisterHasSeenIt() throws Exception {
        reservation().raise(500);
        String store = UUID.randomUUID().toString();
        try (Coordinator coordinator = connect(store)) {
            coordinator.execute(Create.of(NodePath.of(PATH)).withData(new SequenceRecord(10, 100, 1).data()));
            UniqueIds ids = UniqueIds.persisted(coordinator, PATH);
            assertThrows(WaitTimeoutException.class, () -> ids.next(Duration.ofMillis(100)));
            try (SequencePersister persister = SequencePersister.start(coordinator, PATH, reservation(), 10)) {
                persister.ready().get(120, SECONDS);
                assertEquals(500, ids.next(Duration.ofSeconds(20)));
                persister.closeAsync().get(120, SECONDS);
            }
        }
    }

    @Test
    void noIdIsGivenBeyondABoundThatCouldNotBeStored() throws Exception {
        Reservation broken = new Reservation() {
            @Override
            public long upperBound() {
                return 0;
            }

            @Override
            public void raise(long upperBound) throws IOException {
                throw new IOException("no space left");
            }
        };
        try (Coordinator coordinator = connect(UUID.randomUUID().toString());
                SequencePersister persister = SequencePersister.start(coordinator, PATH, broken, 10)) {
            UniqueIds ids = UniqueIds.persisted(coordinator, PATH);
            assertThrows(WaitTimeoutException.class, () -> ids.next(Duration.ofMillis(200)));
            assertTrue(persister.toString().contains(PATH));
        }
    }

    /** As one that is written in Kotlin may throw an SQLException. */
    @Test
    void reservationThatThrowsWhatItDoesNotDeclareIsAskedAgain() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        Reservation recovering = new Reservation() {
            @Override
            public long upperBound() {
                if (attempts.getAndIncrement() < 5) { // more than the events of an empty store bring
                    UniqueIdsLossTest.<RuntimeException>sneak(new Exception("the database restarts"));
                }
                return 0;
            }

            @Override
            public void raise(long upperBound) {}
        };
        ManualTimeSource clock = new ManualTimeSource();
        String store = UUID.randomUUID().toString();
        try (Coordinator coordinator = Coordinator.builder("memory:" + store)
                        .sessionTimeout(Duration.ofHours(1))
                        .timeSource(clock)
                        .connect();
                SequencePersister persister = SequencePersister.start(coordinator, PATH, recovering, 10)) {
            CompletableFuture<Void> ready = persister.ready();
            await().atMost(Duration.ofSeconds(120))
                    .pollDelay(Duration.ZERO)
                    .pollInterval(TICK)
                    .until(() -> {
                        clock.advance(Duration.ofMillis(100));
                        return ready.isDone();
                    });
            assertTrue(attempts.get() > 5);
        } finally {
            MemoryStore.forget(store);
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> void sneak(Exception exception) throws E {
        throw (E) exception;
    }

    @Test
    void fileReservationNeverDecreasesAndNamesAnInvalidFile() throws Exception {
        Reservation one = reservation();
        assertEquals(0, one.upperBound());
        one.raise(7);
        reservation().raise(5);
        assertEquals(7, reservation().upperBound());
        Files.writeString(folder.resolve("ids"), "seven");
        assertTrue(assertThrows(IOException.class, one::upperBound).getMessage().contains("seven"));
        Path elsewhere = folder.resolve("not mounted");
        assertThrows(
                IOException.class,
                FileReservation.at(elsewhere.resolve("ids"))::upperBound,
                "where nothing is there, nothing is known");
        assertThrows(IllegalArgumentException.class, () -> one.raise(Long.MAX_VALUE));
    }

    @Test
    void persisterRefusesWhatItCouldNotKeep() throws Exception {
        try (Coordinator coordinator = connect(UUID.randomUUID().toString())) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> SequencePersister.start(coordinator, PATH, reservation(), Long.MAX_VALUE));
            assertThrows(
                    IllegalArgumentException.class, () -> SequencePersister.start(coordinator, "/", reservation(), 10));
            coordinator.close();
            SequencePersister late = SequencePersister.start(coordinator, PATH, reservation(), 10);
            Exception failure =
                    assertThrows(ExecutionException.class, () -> late.ready().get(120, SECONDS));
            assertTrue(failure.getCause() instanceof ClosedException, failure::toString);
        }
    }

    @Test
    void persisterThatFailsTriesAgainEverySecondHoweverBusyItsSequenceIs() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        Reservation broken = new Reservation() {
            @Override
            public long upperBound() throws IOException {
                attempts.incrementAndGet();
                throw new IOException("the disk is gone");
            }

            @Override
            public void raise(long upperBound) {}
        };
        ManualTimeSource clock = new ManualTimeSource();
        String store = UUID.randomUUID().toString();
        NodePath path = NodePath.of(PATH);
        try (Coordinator coordinator = Coordinator.builder("memory:" + store)
                        .sessionTimeout(Duration.ofHours(1))
                        .timeSource(clock)
                        .connect();
                SequencePersister persister = SequencePersister.start(coordinator, PATH, broken, 10)) {
            coordinator.execute(Create.of(path).withData(new SequenceRecord(0, 100, 1).data()));
            for (int i = 1; i <= 20; i++) {
                int before = attempts.get();
                coordinator.execute(SetData.of(path, new SequenceRecord(i, 100, 1).data()));
                await().pollDelay(Duration.ZERO).pollInterval(TICK).until(() -> attempts.get() > before);
            }
            int busy = attempts.get();
            for (int second = 1; second <= 5; second++) {
                int before = attempts.get();
                await().pollDelay(Duration.ZERO).pollInterval(TICK).until(() -> {
                    clock.advance(Duration.ofMillis(100));
                    return attempts.get() > before;
                });
            }
            assertTrue(attempts.get() <= busy + 10, attempts.get() - busy + " attempts in some five seconds");
            persister.closeAsync().get(120, SECONDS);
        } finally {
            MemoryStore.forget(store);
        }
    }
}
