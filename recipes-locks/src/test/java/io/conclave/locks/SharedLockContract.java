package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a shared lock promises, on every backend; a subclass says where the backend is. */
public abstract class SharedLockContract extends LockFixture {
    private static SharedLock sharedOf(Coordinator coordinator) {
        return SharedLock.at(coordinator, PATH);
    }

    @Test
    void readersReadTogether() throws Exception {
        Coordinator coordinator = connect();
        ReadGrant one = sharedOf(coordinator).readLock().acquire(PATIENCE);
        ReadGrant two = sharedOf(connect()).readLock().tryAcquire().orElseThrow();
        assertTrue(one.isHeld() && two.isHeld());
        assertTrue(sharedOf(coordinator).writeLock().tryAcquire().isEmpty());
        assertEquals(2, sharedOf(coordinator).holders().size());
        assertEquals(
                sharedOf(coordinator).holders(),
                sharedOf(coordinator).holdersAsync().get(120, SECONDS));
        assertEquals(
                sharedOf(coordinator).members(),
                sharedOf(coordinator).membersAsync().get(120, SECONDS));
        one.close();
        get(two.closeAsync()); // close() waits no longer than the session has left
        sharedOf(coordinator).writeLock().tryAcquire().orElseThrow().close();
        awaitMembers(coordinator, 0);
    }

    @Test
    void writerIsAlone() throws Exception {
        Coordinator coordinator = connect();
        WriteGrant writer = sharedOf(coordinator).writeLock().acquire(PATIENCE);
        assertTrue(sharedOf(connect()).readLock().tryAcquire().isEmpty());
        assertTrue(sharedOf(connect()).writeLock().tryAcquire().isEmpty());
        assertThrows(
                AcquireTimeoutException.class,
                () -> sharedOf(coordinator).readLock().acquire(Duration.ofMillis(50)));
        awaitMembers(coordinator, 1);
        writer.close();
        assertEquals(LossReason.RELEASED, writer.lost().toCompletableFuture().get(120, SECONDS));
    }

    @Test
    void namesAreCuratorsAndTokensGrowWithThePlaces() throws Exception {
        Coordinator coordinator = connect();
        ReadGrant reader = sharedOf(coordinator).readLock().acquire(PATIENCE);
        CompletableFuture<WriteGrant> waiting =
                sharedOf(coordinator).writeLock().acquireAsync();
        awaitMembers(coordinator, 2);
        List<LockMember> members = sharedOf(coordinator)
                .withData("x".getBytes(StandardCharsets.UTF_8))
                .members();
        assertTrue(members.get(0).path().name().matches("_c_[-0-9a-f]{36}-__READ__\\d{10}"), members::toString);
        assertTrue(members.get(1).path().name().matches("_c_[-0-9a-f]{36}-__WRIT__\\d{10}"), members::toString);
        assertEquals(
                List.of(LockMode.SHARED, LockMode.EXCLUSIVE),
                members.stream().map(LockMember::mode).toList());
        reader.close();
        WriteGrant writer = waiting.get(120, SECONDS);
        assertTrue(writer.token().compareTo(reader.token()) > 0);
        writer.close();
    }

    @Test
    void readerWaitsForTheNearestWriterBeforeItOnly() throws Exception {
        Coordinator coordinator = connect();
        SharedLock lock = sharedOf(coordinator);
        ReadGrant first = lock.readLock().acquire(PATIENCE);
        CompletableFuture<WriteGrant> writer = lock.writeLock().acquireAsync();
        awaitMembers(coordinator, 2);
        CompletableFuture<ReadGrant> behind = lock.readLock().acquireAsync();
        CompletableFuture<ReadGrant> besides = lock.readLock().acquireAsync();
        awaitMembers(coordinator, 4);
        CompletableFuture<WriteGrant> last = lock.writeLock().acquireAsync();
        awaitMembers(coordinator, 5);
        assertFalse(writer.isDone() || behind.isDone() || besides.isDone());
        first.close();
        WriteGrant writing = writer.get(120, SECONDS);
        assertFalse(behind.isDone() || besides.isDone());
        writing.close();
        behind.get(120, SECONDS).close();
        assertFalse(last.isDone(), "the last writer waits for both readers");
        besides.get(120, SECONDS).close();
        last.get(120, SECONDS).close();
        awaitMembers(coordinator, 0);
    }

    @Test
    void writerThatGivesUpLetsTheReadersBehindItIn() throws Exception {
        Coordinator coordinator = connect();
        SharedLock lock = sharedOf(coordinator);
        ReadGrant first = lock.readLock().acquire(PATIENCE);
        CompletableFuture<WriteGrant> writer = lock.writeLock().acquireAsync();
        awaitMembers(coordinator, 2);
        CompletableFuture<ReadGrant> behind = lock.readLock().acquireAsync();
        awaitMembers(coordinator, 3);
        writer.cancel(true);
        ReadGrant second = behind.get(120, SECONDS);
        assertTrue(first.isHeld() && second.isHeld());
        first.close();
        second.close();
    }

    @Test
    void downgradeKeepsThePlaceAndTheToken() throws Exception {
        Coordinator coordinator = connect();
        SharedLock lock = sharedOf(coordinator);
        WriteGrant writer = lock.writeLock().acquire(PATIENCE);
        NodePath before = writer.path();
        ReadGrant reader = writer.downgrade();
        assertTrue(reader.isHeld());
        assertFalse(writer.isHeld());
        assertEquals(writer.token(), reader.token());
        assertEquals(LossReason.RELEASED, writer.lost().toCompletableFuture().get(120, SECONDS));
        assertEquals(before, writer.path());
        assertEquals(before.name().replace("WRIT", "READ"), reader.path().name());
        assertEquals(List.of(reader.path().name()), children(coordinator));
        assertThrows(GrantLostException.class, writer::downgrade);
        writer.close();
        assertTrue(reader.isHeld(), "closing the old grant does nothing");
        awaitMembers(coordinator, 1);
        reader.close();
        awaitMembers(coordinator, 0);
        assertEquals(LossReason.RELEASED, reader.lost().toCompletableFuture().get(120, SECONDS));
    }

    @Test
    void downgradeLetsWaitingReadersInAtOnceAndWritersNot() throws Exception {
        Coordinator coordinator = connect();
        SharedLock lock = sharedOf(coordinator);
        SharedLock other = sharedOf(connect());
        WriteGrant writer = lock.writeLock().acquire(PATIENCE);
        CompletableFuture<ReadGrant> first = other.readLock().acquireAsync();
        CompletableFuture<ReadGrant> second = lock.readLock().acquireAsync();
        awaitMembers(coordinator, 3);
        CompletableFuture<WriteGrant> next = other.writeLock().acquireAsync();
        awaitMembers(coordinator, 4);
        CompletableFuture<ReadGrant> last = lock.readLock().acquireAsync();
        awaitMembers(coordinator, 5);
        ReadGrant reader = writer.downgradeAsync().get(120, SECONDS);
        ReadGrant one = first.get(120, SECONDS);
        ReadGrant two = second.get(120, SECONDS);
        assertTrue(reader.isHeld() && one.isHeld() && two.isHeld());
        assertFalse(next.isDone() || last.isDone());
        one.close();
        two.close();
        assertFalse(next.isDone(), "the downgraded one still reads");
        reader.close();
        next.get(120, SECONDS).close();
        last.get(120, SECONDS).close();
    }

    @Test
    void writerRightBehindADowngradedOneWaitsForTheReader() throws Exception {
        Coordinator coordinator = connect();
        SharedLock lock = sharedOf(coordinator);
        WriteGrant writer = lock.writeLock().acquire(PATIENCE);
        CompletableFuture<WriteGrant> next = sharedOf(connect()).writeLock().acquireAsync();
        awaitMembers(coordinator, 2);
        ReadGrant reader = writer.downgrade();
        assertThrows(AcquireTimeoutException.class, () -> lock.writeLock().acquire(Duration.ofMillis(100)));
        assertFalse(next.isDone());
        reader.close();
        assertTrue(next.get(120, SECONDS).token().compareTo(reader.token()) > 0);
    }

    @Test
    void downgradedReaderLosesTheLockWhenItsZnodeIsDeleted() throws Exception {
        Coordinator coordinator = connect();
        ReadGrant reader = sharedOf(coordinator).writeLock().acquire(PATIENCE).downgrade();
        connect().execute(Delete.of(reader.path()));
        assertEquals(
                LossReason.NODE_DELETED, reader.lost().toCompletableFuture().get(120, SECONDS));
        assertFalse(reader.isHeld());
    }

    @Test
    void downgradeOfAGrantThatIsGoneFails() throws Exception {
        Coordinator coordinator = connect();
        SharedLock lock = sharedOf(coordinator);
        WriteGrant closed = lock.writeLock().acquire(PATIENCE);
        closed.close();
        assertThrows(GrantLostException.class, closed::downgrade);
        WriteGrant deleted = lock.writeLock().acquire(PATIENCE);
        coordinator.execute(Delete.of(deleted.path()));
        assertThrows(GrantLostException.class, deleted::downgrade);
        assertEquals(
                LossReason.NODE_DELETED, deleted.lost().toCompletableFuture().get(120, SECONDS));
        awaitMembers(coordinator, 0);
    }

    @Test
    void secondDowngradeIsRefusedAndTheFirstOneStands() throws Exception {
        Coordinator coordinator = connect();
        WriteGrant writer = sharedOf(coordinator).writeLock().acquire(PATIENCE);
        CompletableFuture<ReadGrant> first = writer.downgradeAsync();
        assertThrows(GrantLostException.class, writer::downgradeAsync);
        assertTrue(first.get(120, SECONDS).isHeld());
    }

    @Test
    void closingTheWritersGrantDuringItsDowngradeGivesAllBack() throws Exception {
        Coordinator coordinator = connect();
        for (int i = 0; i < 20; i++) {
            WriteGrant writer = sharedOf(coordinator).writeLock().acquire(PATIENCE);
            CompletableFuture<ReadGrant> downgrade = writer.downgradeAsync();
            writer.closeAsync().toCompletableFuture().get(120, SECONDS);
            if (i % 2 == 0) {
                downgrade.cancel(true);
            }
            try {
                downgrade.get(120, SECONDS).close(); // was quicker
            } catch (ExecutionException | java.util.concurrent.CancellationException expected) {
                assertFalse(writer.isHeld());
            }
            awaitMembers(coordinator, 0);
        }
    }

    @Test
    void interruptedDowngradeGivesAllBack() throws Exception {
        Coordinator coordinator = connect();
        WriteGrant writer = sharedOf(coordinator).writeLock().acquire(PATIENCE);
        Future<?> interrupted = threads.submit(() -> {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, writer::downgrade);
        });
        interrupted.get(120, SECONDS);
        awaitMembers(coordinator, 0);
    }

    @Test
    void viewsOfBothHalvesExcludeEachOther() throws Exception {
        SharedLock lock = sharedOf(connect());
        java.util.concurrent.locks.Lock reading = lock.readLock().asLock();
        java.util.concurrent.locks.Lock writing = lock.writeLock().asLock();
        reading.lock();
        reading.lock();
        assertFalse(threads.submit(() -> writing.tryLock()).get(120, SECONDS));
        reading.unlock();
        reading.unlock();
        assertTrue(writing.tryLock());
        writing.unlock();
    }

    @Test
    void twoViewsOfOneHalfHaveOneOwner() throws Exception {
        SharedLock lock = sharedOf(connect());
        lock.writeLock().asLock().lock();
        assertTrue(lock.writeLock().asLock().tryLock());
        lock.writeLock().asLock().unlock();
        lock.writeLock().asLock().unlock();
        assertTrue(lock.readLock().asLock().tryLock());
        lock.readLock().asLock().unlock();
    }

    @Test
    void bothHalvesWorkInTheLayoutOfKazoo() throws Exception {
        Coordinator coordinator = connect();
        SharedLock lock = sharedOf(coordinator).withLayout(LockLayout.KAZOO);
        WriteGrant writer = lock.writeLock().acquire(PATIENCE);
        assertTrue(writer.path().name().matches("[0-9a-f]{32}__lock__\\d{10}"), writer::toString);
        CompletableFuture<ReadGrant> waiting = lock.readLock().acquireAsync();
        awaitMembers(coordinator, 2);
        assertEquals(
                List.of(LockMode.EXCLUSIVE, LockMode.SHARED),
                lock.members().stream().map(LockMember::mode).toList());
        ReadGrant downgraded = writer.downgrade();
        assertTrue(downgraded.path().name().matches("[0-9a-f]{32}__rlock__\\d{10}"), downgraded::toString);
        waiting.get(120, SECONDS).close();
        assertTrue(lock.writeLock().tryAcquire().isEmpty());
        downgraded.close();
        DistributedLock mutex = lockOf(coordinator).withLayout(LockLayout.KAZOO);
        LockGrant alone = mutex.acquire(PATIENCE);
        assertTrue(lock.writeLock().tryAcquire().isEmpty(), "kazoo's mutex and writer are of one kind");
        assertEquals(LockMode.EXCLUSIVE, mutex.holder().orElseThrow().mode());
        alone.close();
    }

    @Test
    void neverAWriterBesidesAnotherHolder() throws Exception {
        long seed = System.nanoTime();
        System.out.println("shared lock storm, seed " + seed);
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Random random = new Random(seed + i);
            SharedLock lock = sharedOf(connect());
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 12; round++) {
                    takeTurn(lock, random, readers, writers);
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(120, SECONDS);
        }
        awaitMembers(connect(), 0);
    }

    private static void takeTurn(SharedLock lock, Random random, AtomicInteger readers, AtomicInteger writers)
            throws Exception {
        int what = random.nextInt(3);
        if (what == 0) {
            try (ReadGrant reading = lock.readLock().acquire(PATIENCE)) {
                read(readers, writers);
                reading.ensureHeld();
            }
            return;
        }
        try (WriteGrant writing = lock.writeLock().acquire(PATIENCE)) {
            assertEquals(1, writers.incrementAndGet());
            assertEquals(0, readers.get());
            writing.ensureHeld();
            writers.decrementAndGet();
            if (what == 2) {
                try (ReadGrant reading = writing.downgrade()) {
                    read(readers, writers);
                    reading.ensureHeld();
                }
            }
        }
    }

    private static void read(AtomicInteger readers, AtomicInteger writers) {
        readers.incrementAndGet();
        assertEquals(0, writers.get());
        Thread.yield();
        assertEquals(0, writers.get());
        readers.decrementAndGet();
    }
}
