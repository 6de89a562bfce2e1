package io.conclave.locks;

import io.conclave.error.ClosedException;
import io.conclave.error.LossReason;
import io.conclave.grant.FencingToken;
import io.conclave.grant.RevocationOutcome;
import io.conclave.node.NodeStat;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.HeldClaim;
import io.conclave.testkit.driver.Holding;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each fault at each request of a shared lock's runs, of its downgrade, and of revocations. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class SharedLockFaultsTest {
    private static final String PATH = "/locks/shared-faults";

    private static SharedLock lock(Actor actor) {
        return SharedLock.at(actor.coordinator(), PATH);
    }

    private static DistributedLock mutex(Actor actor) {
        return DistributedLock.at(actor.coordinator(), PATH);
    }

    /** What other processes do while the victim is away. */
    private static void rivals(FaultRun run) {
        run.rival("writes", me -> me.hold(lock(me).writeLock().acquire()));
        run.rival("reads", me -> me.share(lock(me).readLock().acquire()));
    }

    private static boolean hasRivals(FaultRun run) {
        return run.struck().stream().anyMatch(Fault::isAbsence);
    }

    private static void checkRivalWasQuicker(FaultRun run) {
        if (!hasRivals(run)) {
            run.violated("there was no holder to be asked");
        }
    }

    private static void requestRelease(Actor me) throws Exception {
        Optional<LockMember> holder = mutex(me).holder();
        if (holder.isPresent()) {
            me.await(mutex(me).requestRelease(holder.get(), Duration.ofSeconds(1)));
        }
    }

    /** A downgraded grant: its token is another znode's, so the driver is told of its own. */
    private record Downgraded(ReadGrant grant, long czxid) implements HeldClaim {
        @Override
        public Duration remaining() {
            return grant.remaining();
        }

        @Override
        public CompletionStage<LossReason> lost() {
            return grant.lost();
        }

        @Override
        public Optional<FencingToken> token() {
            return Optional.of(new FencingToken(0, czxid));
        }

        @Override
        public void close() {
            grant.close();
        }

        @Override
        public String toString() {
            return grant.toString();
        }
    }

    static FaultDriver reader() {
        return FaultDriver.of("shared lock, reader", run -> {
            rivals(run);
            run.victim().start(me -> me.share(lock(me).readLock().acquire()));
            run.untilAtRest();
            run.helper("writer").start(me -> me.hold(lock(me).writeLock().acquire()));
            run.untilAtRest();
            run.helper("reader").start(me -> me.share(lock(me).readLock().acquire()));
        });
    }

    @Test
    void readerDoesNotBlockOthersUnderAnyFault() {
        reader().verify();
    }

    @Test
    void readerThatWaitsIsLetInOrSaysWhyNot() {
        FaultDriver.of("shared lock, waiting reader", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(lock(first).writeLock().acquire());
                    run.helper("reader")
                            .start(me -> me.share(lock(me).readLock().acquire()));
                    run.untilAtRest();
                    run.victim().start(me -> me.share(lock(me).readLock().acquire()));
                    run.untilAtRest();
                    run.helper("behind")
                            .start(me -> me.hold(lock(me).writeLock().acquire()));
                    run.untilAtRest();
                    held.release();
                })
                .verify();
    }

    @Test
    void writerThatWaitsIsLetInOrSaysWhyNot() {
        FaultDriver.of("shared lock, waiting writer", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Actor second = run.helper("second");
                    Holding one = first.granted(
                            "",
                            Holding.Kind.SHARED,
                            HeldClaim.of(lock(first).readLock().acquire()),
                            1);
                    Holding two = second.granted(
                            "",
                            Holding.Kind.SHARED,
                            HeldClaim.of(lock(second).readLock().acquire()),
                            1);
                    run.victim().start(me -> me.hold(lock(me).writeLock().acquire()));
                    run.untilAtRest();
                    run.helper("behind")
                            .start(me -> me.share(lock(me).readLock().acquire()));
                    run.untilAtRest();
                    two.release();
                    run.untilAtRest();
                    one.release();
                })
                .verify();
    }

    private interface Way {
        ReadGrant downgrade(Actor me, WriteGrant grant) throws Exception;
    }

    private static void downgrade(FaultRun run, Way way) throws InterruptedException {
        rivals(run);
        CompletableFuture<Void> allAreInLine = new CompletableFuture<>();
        run.victim().start(me -> {
            WriteGrant writing = lock(me).writeLock().acquire();
            Holding holding = me.granted(writing);
            try {
                allAreInLine.get();
            } catch (InterruptedException e) {
                holding.release();
                throw e;
            }
            holding.ends();
            read(run, me, way.downgrade(me, writing));
            if (writing.lost().toCompletableFuture().join() != LossReason.RELEASED) {
                run.violated("lost by its downgrade: " + writing);
            }
        });
        run.untilAtRest();
        run.helper("reader").start(me -> me.share(lock(me).readLock().acquire()));
        run.untilAtRest();
        run.helper("writer").start(me -> me.hold(lock(me).writeLock().acquire()));
        run.untilAtRest();
        run.helper("last").start(me -> me.share(lock(me).readLock().acquire()));
        run.untilAtRest();
        allAreInLine.complete(null);
    }

    private static void read(FaultRun run, Actor me, ReadGrant grant) {
        NodeStat znode = run.store().snapshot().get(grant.absolutePath());
        if (znode == null) {
            grant.close(); // a fault has struck already
        } else {
            me.hold(me.granted("", Holding.Kind.SHARED, new Downgraded(grant, znode.czxid()), 1));
        }
    }

    @Test
    void downgradeLeavesNoGapAndNothingBehind() {
        FaultDriver.of("shared lock, downgrade", run -> downgrade(run, (me, grant) -> grant.downgrade()))
                .verify();
    }

    @Test
    void asynchronousDowngradeLeavesNoGapAndNothingBehind() {
        FaultDriver.of(
                        "shared lock, asynchronous downgrade",
                        run -> downgrade(run, (me, grant) -> me.await(grant.downgradeAsync())))
                .verify();
    }

    @Test
    void writerThatIsClosedDuringItsDowngradeLeavesNothingBehind() {
        FaultDriver.of("shared lock, closed during downgrade", run -> {
                    rivals(run);
                    run.victim().start(me -> {
                        WriteGrant writing = lock(me).writeLock().acquire();
                        CompletableFuture<ReadGrant> downgrade = writing.downgradeAsync();
                        writing.close();
                        try {
                            me.await(downgrade).close(); // it was quicker
                        } catch (ClosedException given) {
                            // both were given back
                        }
                    });
                    run.untilAtRest();
                    run.helper("next").start(me -> me.hold(lock(me).writeLock().acquire()));
                })
                .verify();
    }

    @Test
    void holderThatIsAskedGivesUp() {
        FaultDriver.of("revocation, holder", run -> {
                    run.rival("revokes it", SharedLockFaultsTest::requestRelease);
                    run.rival("takes it", me -> me.hold(mutex(me).acquire()));
                    run.victim().start(me -> {
                        LockGrant grant = mutex(me).acquire();
                        CompletableFuture<Object> over = new CompletableFuture<>();
                        grant.revocationRequested().thenRun(() -> over.complete("asked"));
                        grant.lost().thenAccept(over::complete);
                        run.time().schedule(Duration.ofSeconds(20), () -> over.complete("came after the revoker"));
                        try {
                            me.await(over);
                        } finally {
                            grant.close();
                        }
                    });
                    run.untilAtRest();
                    run.helper("revoker").start(me -> {
                        Optional<LockMember> holder = mutex(me).holder();
                        if (holder.isPresent()) {
                            me.await(mutex(me).requestRelease(holder.get()));
                        }
                        me.hold(mutex(me).acquire());
                    });
                })
                .verify();
    }

    @Test
    void revokerGetsAnAnswer() {
        FaultDriver.of("revocation, revoker", run -> {
                    run.rival("asks as well", SharedLockFaultsTest::requestRelease);
                    Actor holder = run.helper("holder");
                    LockGrant grant = mutex(holder).acquire();
                    grant.revocationRequested().thenRun(grant::closeAsync);
                    run.victim().start(me -> {
                        Optional<LockMember> asked = mutex(me).holder();
                        if (asked.isEmpty()) {
                            checkRivalWasQuicker(run);
                            return;
                        }
                        RevocationOutcome outcome = me.await(mutex(me).requestRelease(asked.get()));
                        if (outcome != RevocationOutcome.RELEASED && !hasRivals(run)) {
                            run.violated("the holder gave up, and not: " + outcome);
                        }
                    });
                    run.victim().join();
                    grant.close();
                })
                .verify();
    }

    @Test
    void revokerWithADeadlineGetsAnAnswer() {
        FaultDriver.of("revocation, revoker with a deadline", run -> {
                    run.rival("asks as well", SharedLockFaultsTest::requestRelease);
                    Actor holder = run.helper("holder");
                    LockGrant grant = mutex(holder).acquire();
                    run.victim().start(me -> {
                        Optional<LockMember> asked = mutex(me).holder();
                        if (asked.isEmpty()) {
                            checkRivalWasQuicker(run);
                            return;
                        }
                        RevocationOutcome outcome =
                                me.await(mutex(me).requestRelease(asked.get(), Duration.ofSeconds(3)));
                        boolean isDeleted = outcome == RevocationOutcome.DELETED;
                        if (!isDeleted && !hasRivals(run)) {
                            run.violated("the holder did not give up, and not: " + outcome);
                        }
                        if (grant.lost().toCompletableFuture().join() != LossReason.REVOKED) {
                            run.violated("not revoked: " + grant.lost());
                        }
                    });
                    run.victim().join();
                    grant.close();
                })
                .verify();
    }
}
