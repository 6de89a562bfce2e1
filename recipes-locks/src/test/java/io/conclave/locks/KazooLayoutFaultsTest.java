package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.grant.RevocationOutcome;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.HeldClaim;
import io.conclave.testkit.driver.Holding;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of locks in the layout of kazoo, where nothing but the guid's place in the name tells
 * whose a znode is.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class KazooLayoutFaultsTest {
    private static DistributedLock mutex(Actor actor) {
        return DistributedLock.at(actor.coordinator(), "/locks/kazoo").withLayout(LockLayout.KAZOO);
    }

    private static SharedLock shared(Actor actor) {
        return SharedLock.at(actor.coordinator(), "/locks/kazoo-shared").withLayout(LockLayout.KAZOO);
    }

    private static void rivals(FaultRun run) {
        run.rival("takes it if it can", KazooLayoutFaultsTest::takeIfPossible);
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    private static void takeIfPossible(Actor me) throws InterruptedException {
        try {
            me.hold(mutex(me).acquire(Duration.ofSeconds(12))); // longer than the victim's session lives
        } catch (AcquireTimeoutException somebodyHolds) {
            // that is as good
        }
    }

    private static void sharingRivals(FaultRun run) {
        run.rival("writes", me -> me.hold(shared(me).writeLock().acquire()));
        run.rival("reads", me -> me.share(shared(me).readLock().acquire()));
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    static FaultDriver holder() {
        return FaultDriver.of("lock in kazoo's layout, holder", run -> {
            rivals(run);
            run.victim().start(me -> me.hold(mutex(me).acquire()));
            run.untilAtRest();
            run.helper("next").start(me -> me.hold(mutex(me).acquire()));
        });
    }

    @Test
    void holderDoesNotBlockOthersUnderAnyFault() {
        holder().verify();
    }

    @Test
    void waiterGetsTheLockOrSaysWhyNot() {
        FaultDriver.of("lock in kazoo's layout, waiter", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(mutex(first).acquire());
                    run.victim().start(me -> me.hold(mutex(me).acquire()));
                    run.untilAtRest();
                    run.helper("behind").start(me -> me.hold(mutex(me).acquire()));
                    run.untilAtRest();
                    held.release();
                })
                .verify();
    }

    @Test
    void readerThatWaitsIsLetInOrSaysWhyNot() {
        FaultDriver.of("shared lock in kazoo's layout, waiting reader", run -> {
                    sharingRivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(shared(first).writeLock().acquire());
                    run.victim().start(me -> me.share(shared(me).readLock().acquire()));
                    run.untilAtRest();
                    run.helper("behind")
                            .start(me -> me.hold(shared(me).writeLock().acquire()));
                    run.untilAtRest();
                    held.release();
                })
                .verify();
    }

    @Test
    void writerThatWaitsIsLetInOrSaysWhyNot() {
        FaultDriver.of("shared lock in kazoo's layout, waiting writer", run -> {
                    sharingRivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(
                            "",
                            Holding.Kind.SHARED,
                            HeldClaim.of(shared(first).readLock().acquire()),
                            1);
                    run.victim().start(me -> me.hold(shared(me).writeLock().acquire()));
                    run.untilAtRest();
                    run.helper("behind")
                            .start(me -> me.share(shared(me).readLock().acquire()));
                    run.untilAtRest();
                    held.release();
                })
                .verify();
    }

    @Test
    void downgradeDoesNotBlockOthersUnderAnyFault() {
        FaultDriver.of("shared lock in kazoo's layout, downgrade", run -> {
                    sharingRivals(run);
                    run.victim()
                            .start(me ->
                                    shared(me).writeLock().acquire().downgrade().close());
                    run.untilAtRest();
                    run.helper("next")
                            .start(me -> me.hold(shared(me).writeLock().acquire()));
                })
                .verify();
    }

    @Test
    void revokerGetsAnAnswer() {
        FaultDriver.of("revocation in kazoo's layout, revoker", run -> {
                    AtomicBoolean isAskedByOthers = new AtomicBoolean();
                    run.rival("asks as well", me -> {
                        isAskedByOthers.set(true);
                        Optional<LockMember> holding = mutex(me).holder();
                        if (holding.isPresent()) {
                            me.await(mutex(me).requestRelease(holding.get(), Duration.ofSeconds(1)));
                        }
                    });
                    Actor holder = run.helper("holder");
                    LockGrant grant = mutex(holder).acquire();
                    grant.revocationRequested().thenRun(grant::closeAsync);
                    run.victim().start(me -> {
                        Optional<LockMember> asked = mutex(me).holder();
                        if (asked.isEmpty()) {
                            if (!isAskedByOthers.get()) {
                                run.violated("there was no holder to be asked");
                            }
                            return;
                        }
                        RevocationOutcome outcome = me.await(mutex(me).requestRelease(asked.get()));
                        if (outcome != RevocationOutcome.RELEASED && !isAskedByOthers.get()) {
                            run.violated("the holder gave up, and not: " + outcome);
                        }
                    });
                    run.victim().join();
                    grant.close();
                })
                .verify();
    }
}
