package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.grant.Grant;
import io.conclave.grant.HeldCall;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * What every kind of lock promises to work that runs while it is held: a loss is never silent, and no exception or
 * interrupt is.
 */
abstract class WhileHeldContract extends LockLossContract {
    /** How long work waits for an interrupt that must come; no busy machine needs it. */
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final TimeSource REAL = TimeSource.system();

    /** A kind of lock, at a path of its own. */
    private enum Kind {
        MUTEX {
            @Override
            <R> R call(Coordinator coordinator, HeldCall<Grant, R, Exception> work) throws Exception {
                return lockOf(coordinator).callWhileHeld(PATIENCE, work);
            }

            @Override
            NodePath znode(Coordinator coordinator, Grant grant) {
                return ((LockGrant) grant).path();
            }
        },
        READER {
            @Override
            <R> R call(Coordinator coordinator, HeldCall<Grant, R, Exception> work) throws Exception {
                return shared(coordinator).readLock().callWhileHeld(PATIENCE, work);
            }

            @Override
            NodePath znode(Coordinator coordinator, Grant grant) {
                return ((LockGrant) grant).path();
            }
        },
        WRITER {
            @Override
            <R> R call(Coordinator coordinator, HeldCall<Grant, R, Exception> work) throws Exception {
                return shared(coordinator).writeLock().callWhileHeld(work);
            }

            @Override
            NodePath znode(Coordinator coordinator, Grant grant) {
                return ((LockGrant) grant).path();
            }
        },
        PERMITS {
            @Override
            <R> R call(Coordinator coordinator, HeldCall<Grant, R, Exception> work) throws Exception {
                return semaphore(coordinator).callWhileHeld(2, PATIENCE, work);
            }

            @Override
            NodePath znode(Coordinator coordinator, Grant grant) throws Exception {
                return semaphore(coordinator).holders().get(0).path();
            }
        },
        MULTI {
            @Override
            <R> R call(Coordinator coordinator, HeldCall<Grant, R, Exception> work) throws Exception {
                return MultiLock.of(lockOf(coordinator), shared(coordinator).writeLock())
                        .callWhileHeld(PATIENCE, work);
            }

            @Override
            NodePath znode(Coordinator coordinator, Grant grant) {
                return ((MultiLockGrant) grant).of(lockOf(coordinator)).path();
            }
        };

        abstract <R> R call(Coordinator coordinator, HeldCall<Grant, R, Exception> work) throws Exception;

        abstract NodePath znode(Coordinator coordinator, Grant grant) throws Exception;

        private static SharedLock shared(Coordinator coordinator) {
            return SharedLock.at(coordinator, "/locks/catalog");
        }

        private static DistributedSemaphore semaphore(Coordinator coordinator) {
            return DistributedSemaphore.at(coordinator, "/locks/permits", 3);
        }
    }

    /** What the work does once its grant is being lost. */
    private interface AfterTheLoss {
        void run() throws Exception;
    }

    private static void lose(Kind kind, Coordinator by, Grant grant) throws Exception {
        by.execute(Delete.of(kind.znode(by, grant)));
    }

    /** Loses what is held, from another thread, as an operator would. */
    private void loseFromElsewhere(Kind kind, Coordinator operator, Grant grant) {
        threads.submit(() -> {
            lose(kind, operator, grant);
            return null;
        });
    }

    /** What the caller of work is told whose grant is lost while it runs. */
    private GrantLostException lossOf(Kind kind, Coordinator coordinator, Coordinator operator, AfterTheLoss work) {
        return assertThrows(
                GrantLostException.class,
                () -> kind.call(coordinator, grant -> {
                    loseFromElsewhere(kind, operator, grant);
                    work.run();
                    return null;
                }),
                kind::toString);
    }

    /** Work that blocks, as a call of the JDK does. */
    private static void blockUntilInterrupted() throws InterruptedException {
        assertFalse(new CountDownLatch(1).await(LIMIT.toSeconds(), SECONDS));
        throw new AssertionError("the work was not interrupted within " + LIMIT);
    }

    /** Work that only looks at its flag. */
    private static void runUntilInterrupted() {
        long beganNanos = REAL.monotonicNanos();
        while (!Thread.currentThread().isInterrupted()) {
            assertTrue(
                    REAL.monotonicNanos() - beganNanos < LIMIT.toNanos(),
                    () -> "the work was not interrupted within " + LIMIT);
            Thread.onSpinWait();
        }
    }

    private static void assertFreeAndUninterrupted(Kind kind, Coordinator coordinator) throws Exception {
        assertFalse(Thread.currentThread().isInterrupted(), kind + ": the interrupt of the loss is left");
        assertTrue(kind.call(coordinator, Grant::isHeld), kind + " is free again");
    }

    @Test
    void workRunsWhileItIsHeldAndGivesItBack() throws Exception {
        Coordinator coordinator = connect();
        for (Kind kind : Kind.values()) {
            Grant grant = kind.call(coordinator, held -> {
                held.ensureHeld();
                return held;
            });
            assertFalse(grant.isHeld(), kind::toString);
            assertFreeAndUninterrupted(kind, coordinator);
        }
        lockOf(coordinator).whileHeld(PATIENCE, grant -> assertTrue(grant.isHeld()));
        lockOf(coordinator).whileHeld(grant -> assertTrue(grant.isHeld()));
        awaitMembers(coordinator, 0);
    }

    @Test
    void lossInterruptsTheWorkAndIsThrownToTheCaller() throws Exception {
        Coordinator coordinator = connect();
        Coordinator operator = connect();
        for (Kind kind : Kind.values()) {
            GrantLostException lost = lossOf(kind, coordinator, operator, WhileHeldContract::blockUntilInterrupted);
            assertEquals(LossReason.NODE_DELETED, lost.reason());
            assertInstanceOf(InterruptedException.class, lost.getSuppressed()[0], kind::toString);
            assertFreeAndUninterrupted(kind, coordinator);
        }
    }

    @Test
    void lossIsThrownToTheCallerOfWorkThatIgnoresItsInterrupt() throws Exception {
        Coordinator coordinator = connect();
        Coordinator operator = connect();
        for (Kind kind : Kind.values()) {
            GrantLostException lost = lossOf(kind, coordinator, operator, WhileHeldContract::runUntilInterrupted);
            assertArrayEquals(new Throwable[0], lost.getSuppressed());
            assertFreeAndUninterrupted(kind, coordinator);
        }
    }

    @Test
    void exceptionOfTheWorkIsThrownAsItIs() throws Exception {
        Coordinator coordinator = connect();
        IOException ours = new IOException("the disk is full");
        for (Kind kind : Kind.values()) {
            assertSame(
                    ours,
                    assertThrows(
                            IOException.class,
                            () -> kind.call(coordinator, grant -> {
                                throw ours;
                            })));
            assertArrayEquals(new Throwable[0], ours.getSuppressed());
            assertFreeAndUninterrupted(kind, coordinator);
        }
    }

    @Test
    void exceptionOfTheWorkAfterALossIsSuppressedInTheLoss() throws Exception {
        Coordinator coordinator = connect();
        Coordinator operator = connect();
        Kind kind = Kind.MUTEX;
        IOException ours = new IOException("the disk is full");
        GrantLostException lost = lossOf(kind, coordinator, operator, () -> {
            await().pollInSameThread().until(() -> Thread.interrupted());
            throw ours;
        });
        assertArrayEquals(new Throwable[] {ours}, lost.getSuppressed());
        AssertionError error = new AssertionError("a bug of the work");
        assertSame(
                error,
                assertThrows(
                        AssertionError.class,
                        () -> kind.call(coordinator, grant -> {
                            loseFromElsewhere(kind, operator, grant);
                            await().pollInSameThread().until(() -> Thread.interrupted());
                            throw error;
                        })));
        assertInstanceOf(GrantLostException.class, error.getSuppressed()[0]);
        assertFreeAndUninterrupted(kind, coordinator);
    }

    @Test
    void lossFoundByTheWorkItselfIsThrownOnce() throws Exception {
        Coordinator coordinator = connect();
        Coordinator operator = connect();
        GrantLostException lost =
                assertThrows(GrantLostException.class, () -> lockOf(coordinator).whileHeld(PATIENCE, grant -> {
                    loseFromElsewhere(Kind.MUTEX, operator, grant);
                    while (true) {
                        grant.ensureHeld();
                    }
                }));
        assertArrayEquals(new Throwable[0], lost.getSuppressed());
        assertEquals(PATH, lost.path());
        assertFreeAndUninterrupted(Kind.MUTEX, coordinator);
    }

    @Test
    void interruptFromElsewhereIsTheWorksAndStays() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<Thread> working = new CompletableFuture<>();
        Future<Boolean> flag = threads.submit(() -> {
            lockOf(coordinator).whileHeld(PATIENCE, grant -> {
                working.complete(Thread.currentThread());
                runUntilInterrupted();
            });
            return Thread.interrupted();
        });
        working.get(120, SECONDS).interrupt();
        assertTrue(flag.get(120, SECONDS));
        CompletableFuture<Thread> sleeping = new CompletableFuture<>();
        Future<?> sleeper = threads.submit(() -> {
            lockOf(coordinator).whileHeld(PATIENCE, grant -> {
                sleeping.complete(Thread.currentThread());
                blockUntilInterrupted();
            });
            return null;
        });
        sleeping.get(120, SECONDS).interrupt();
        assertInstanceOf(
                InterruptedException.class,
                assertThrows(ExecutionException.class, () -> sleeper.get(120, SECONDS))
                        .getCause());
        awaitMembers(coordinator, 0);
    }

    @Test
    void interruptFromElsewhereThatCameBeforeTheLossIsKept() throws Exception {
        Coordinator coordinator = connect();
        Coordinator operator = connect();
        Future<Boolean> flag = threads.submit(() -> {
            assertThrows(GrantLostException.class, () -> lockOf(coordinator).whileHeld(PATIENCE, grant -> {
                loseFromElsewhere(Kind.MUTEX, operator, grant, Thread.currentThread());
                while (grant.isHeld()) {
                    Thread.onSpinWait();
                }
                assertTrue(Thread.interrupted());
                throw new InterruptedException("as a blocking call throws it");
            }));
            return Thread.interrupted();
        });
        assertTrue(flag.get(120, SECONDS));
    }

    private void loseFromElsewhere(Kind kind, Coordinator operator, Grant grant, Thread interruptedBefore) {
        threads.submit(() -> {
            interruptedBefore.interrupt();
            lose(kind, operator, grant);
            return null;
        });
    }

    @Test
    void workThatGivesTheLockBackItselfHasNotLostIt() throws Exception {
        Coordinator coordinator = connect();
        for (Kind kind : Kind.values()) {
            assertEquals("done", kind.call(coordinator, grant -> {
                grant.close();
                return "done";
            }));
            assertFreeAndUninterrupted(kind, coordinator);
        }
        try (ReadGrant reading = SharedLock.at(coordinator, "/locks/catalog")
                .writeLock()
                .callWhileHeld(PATIENCE, WriteGrant::downgrade)) {
            assertTrue(reading.isHeld());
        }
    }

    @Test
    void workDoesNotBeginWithoutTheLock() throws Exception {
        Coordinator coordinator = connect();
        try (LockGrant grant = lockOf(connect()).acquire(PATIENCE)) {
            assertThrows(
                    AcquireTimeoutException.class, () -> lockOf(coordinator).whileHeld(Duration.ofMillis(50), held -> {
                        throw new AssertionError("the work has begun");
                    }));
            assertTrue(grant.isHeld());
        }
        awaitMembers(coordinator, 0);
    }

    @Test
    void closingTheCoordinatorEndsTheWork() throws Exception {
        Coordinator closing = connect();
        GrantLostException lost =
                assertThrows(GrantLostException.class, () -> lockOf(closing).whileHeld(PATIENCE, grant -> {
                    threads.submit(closing::close);
                    blockUntilInterrupted();
                }));
        assertEquals(LossReason.COORDINATOR_CLOSED, lost.reason());
        assertFalse(Thread.currentThread().isInterrupted());
    }
}
