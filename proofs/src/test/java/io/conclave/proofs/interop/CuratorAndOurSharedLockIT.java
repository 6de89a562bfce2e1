package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.LossReason;
import io.conclave.grant.RevocationOutcome;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.locks.LockMember;
import io.conclave.locks.LockMode;
import io.conclave.locks.ReadGrant;
import io.conclave.locks.SharedLock;
import io.conclave.locks.WriteGrant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Curator's read/write lock and ours on one path, and revocation from either side. */
class CuratorAndOurSharedLockIT extends CuratorBesideOurs {
    private static final String PATH = "/locks/both";

    private SharedLock ours() {
        return SharedLock.at(coordinator, PATH);
    }

    private InterProcessReadWriteLock theirs() {
        return new InterProcessReadWriteLock(curator, PATH);
    }

    private void awaitMembers(int count) {
        await().atMost(PATIENCE).until(() -> ours().members().size() == count);
    }

    @ParameterizedTest
    @EnumSource
    void readersOfBothReadTogetherAndWritersWait(ServerKind kind) throws Exception {
        open(kind);
        InterProcessReadWriteLock theirs = theirs();
        ReadGrant reading = ours().readLock().acquire(PATIENCE);
        assertTrue(theirs.readLock().acquire(20, SECONDS));
        assertFalse(theirs().writeLock().acquire(200, MILLISECONDS));
        assertTrue(ours().writeLock().tryAcquire().isEmpty());
        assertEquals(2, ours().holders().size());
        CompletableFuture<WriteGrant> writer = ours().writeLock().acquireAsync();
        awaitMembers(3);
        assertFalse(theirs().readLock().acquire(200, MILLISECONDS), "behind our writer");
        theirs.readLock().release();
        assertFalse(writer.isDone());
        reading.close();
        writer.get(120, SECONDS).close();
        awaitMembers(0);
    }

    @ParameterizedTest
    @EnumSource
    void theirWriterKeepsOurReadersOut(ServerKind kind) throws Exception {
        open(kind);
        InterProcessReadWriteLock theirs = theirs();
        assertTrue(theirs.writeLock().acquire(20, SECONDS));
        assertTrue(ours().readLock().tryAcquire().isEmpty());
        CompletableFuture<ReadGrant> reader = ours().readLock().acquireAsync();
        awaitMembers(2);
        theirs.writeLock().release();
        reader.get(120, SECONDS).close();
        awaitMembers(0);
    }

    @ParameterizedTest
    @EnumSource
    void curatorSeesOurDowngradedWriterAsAReaderInItsPlace(ServerKind kind) throws Exception {
        open(kind);
        WriteGrant writing = ours().writeLock().acquire(PATIENCE);
        Semaphore readerIsIn = new Semaphore(0);
        Semaphore readerMayGo = new Semaphore(0);
        Future<?> reader = threads.submit(() -> {
            InterProcessReadWriteLock lock = theirs();
            lock.readLock().acquire();
            readerIsIn.release();
            readerMayGo.acquire();
            lock.readLock().release();
            return null;
        });
        awaitMembers(2);
        Semaphore writerIsIn = new Semaphore(0);
        Future<?> writer = threads.submit(() -> {
            InterProcessReadWriteLock lock = theirs();
            lock.writeLock().acquire();
            writerIsIn.release();
            lock.writeLock().release();
            return null;
        });
        awaitMembers(3);
        assertFalse(readerIsIn.tryAcquire(100, MILLISECONDS));
        ReadGrant reading = writing.downgrade();
        assertTrue(readerIsIn.tryAcquire(20, SECONDS));
        readerMayGo.release();
        reader.get(120, SECONDS);
        assertFalse(writerIsIn.tryAcquire(200, MILLISECONDS), "ours still reads");
        reading.close();
        writer.get(120, SECONDS);
        awaitMembers(0);
    }

    @ParameterizedTest
    @EnumSource
    void ourReaderGoesInWhenCuratorDowngrades(ServerKind kind) throws Exception {
        open(kind);
        InterProcessReadWriteLock theirs = theirs();
        theirs.writeLock().acquire();
        CompletableFuture<ReadGrant> reader = ours().readLock().acquireAsync();
        awaitMembers(2);
        theirs.readLock().acquire(); // its own way: a second znode with the writer's number
        List<LockMember> members = ours().members(); // which of the two comes first is chance, and does not matter
        assertEquals(3, members.size(), members::toString);
        assertEquals(
                Set.of(LockMode.SHARED, LockMode.EXCLUSIVE),
                Set.of(members.get(0).mode(), members.get(1).mode()),
                members::toString);
        assertFalse(reader.isDone());
        theirs.writeLock().release();
        reader.get(120, SECONDS).close();
        assertTrue(ours().writeLock().tryAcquire().isEmpty(), "theirs still reads");
        theirs.readLock().release();
        awaitMembers(0);
    }

    @ParameterizedTest
    @EnumSource
    void neverAWriterBesidesAnotherHolder(ServerKind kind) throws Exception {
        open(kind);
        AtomicInteger inside = new AtomicInteger();
        List<Future<?>> workers = new ArrayList<>();
        for (int worker = 0; worker < 6; worker++) {
            int number = worker;
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 8; round++) {
                    takeTurn(number % 2 == 0, (number + round) % 3 == 0, inside);
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(120, SECONDS);
        }
        awaitMembers(0);
    }

    private void takeTurn(boolean curators, boolean writes, AtomicInteger inside) throws Exception {
        if (curators) {
            InterProcessReadWriteLock lock = theirs();
            InterProcessMutex half = writes ? lock.writeLock() : lock.readLock();
            half.acquire();
            try {
                visit(writes, inside);
            } finally {
                half.release();
            }
        } else {
            try (LockGrant grant =
                    writes ? ours().writeLock().acquire() : ours().readLock().acquire()) {
                visit(writes, inside);
                grant.ensureHeld();
            }
        }
    }

    /** Readers count 1 each, a writer 1000. */
    private static void visit(boolean writes, AtomicInteger inside) {
        int weight = writes ? 1000 : 1;
        int with = inside.addAndGet(weight);
        assertTrue(writes ? with == 1000 : with < 1000, () -> "inside: " + with);
        inside.addAndGet(-weight);
    }

    @ParameterizedTest
    @EnumSource
    void curatorsRevokerAsksOurHolder(ServerKind kind) throws Exception {
        open(kind);
        LockGrant grant = DistributedLock.at(coordinator, PATH).acquire(PATIENCE);
        grant.revocationRequested().thenRun(grant::close);
        Revoker.attemptRevoke(curator, grant.absolutePath().toString());
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
        awaitMembers(0);
    }

    @ParameterizedTest
    @EnumSource
    void weAskCuratorsHolder(ServerKind kind) throws Exception {
        open(kind);
        InterProcessMutex theirs = new InterProcessMutex(curator, PATH);
        Semaphore asked = new Semaphore(0);
        theirs.makeRevocable(lock -> asked.release());
        theirs.acquire();
        DistributedLock ours = DistributedLock.at(coordinator, PATH);
        CompletableFuture<RevocationOutcome> outcome =
                ours.requestRelease(ours.holder().orElseThrow());
        assertTrue(asked.tryAcquire(20, SECONDS));
        assertFalse(outcome.isDone());
        theirs.release();
        assertEquals(RevocationOutcome.RELEASED, outcome.get(120, SECONDS));
    }
}
