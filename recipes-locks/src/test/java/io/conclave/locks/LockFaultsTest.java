package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.Holding;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of a lock's runs: no contender is blocked, two never hold, nothing stays behind, and the
 * victim gets the right kind of failure.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class LockFaultsTest {
    private static DistributedLock lock(Actor actor) {
        return DistributedLock.at(actor.coordinator(), "/locks/faults");
    }

    /** What other processes do while the victim is away. */
    private static void rivals(FaultRun run) {
        run.rival("takes it if it can", LockFaultsTest::takeIfPossible);
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    private static void takeIfPossible(Actor me) throws InterruptedException {
        try {
            me.hold(lock(me).acquire(Duration.ofSeconds(12))); // longer than the victim's session lives
        } catch (AcquireTimeoutException somebodyHolds) {
            // that is as good
        }
    }

    static FaultDriver holder() {
        return FaultDriver.of("lock, holder", run -> {
            rivals(run);
            run.victim().start(me -> me.hold(lock(me).acquire()));
            run.untilAtRest();
            run.helper("next").start(me -> me.hold(lock(me).acquire()));
        });
    }

    @Test
    void holderDoesNotBlockOthersUnderAnyFault() {
        holder().verify();
    }

    @Test
    void asynchronousHolderDoesNotBlockOthersUnderAnyFault() {
        FaultDriver.of("lock, asynchronous holder", run -> {
                    rivals(run);
                    run.victim().start(me -> me.hold(me.await(lock(me).acquireAsync())));
                    run.untilAtRest();
                    run.helper("next").start(me -> me.hold(lock(me).acquire()));
                })
                .verify();
    }

    static FaultDriver waiter() {
        return FaultDriver.of("lock, waiter", run -> {
            rivals(run);
            Actor first = run.helper("first");
            Holding held = first.granted(lock(first).acquire());
            run.victim().start(me -> me.hold(lock(me).acquire()));
            run.untilAtRest();
            run.helper("behind").start(me -> me.hold(lock(me).acquire()));
            run.untilAtRest();
            held.release();
        });
    }

    @Test
    void waiterGetsTheLockOrSaysWhyNot() {
        waiter().verify();
    }

    @Test
    void waiterBehindOneThatGivesUpDoesNotOvertakeTheHolder() {
        FaultDriver.of("lock, waiter behind one that gives up", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(lock(first).acquire());
                    run.helper("middle")
                            .start(me -> assertThrows(
                                    AcquireTimeoutException.class, () -> lock(me).acquire(Duration.ofSeconds(2))));
                    run.untilAtRest();
                    run.victim().start(me -> me.hold(lock(me).acquire()));
                    run.pause(Duration.ofSeconds(3));
                    held.release();
                    run.helper("behind").start(me -> me.hold(lock(me).acquire()));
                })
                .verify();
    }

    @Test
    void waiterThatTimesOutLeavesNothingBehind() {
        FaultDriver.of("lock, giving up", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(lock(first).acquire());
                    run.victim().start(me -> me.hold(lock(me).acquire(Duration.ofSeconds(5))));
                    run.untilAtRest();
                    run.helper("behind").start(me -> me.hold(lock(me).acquire()));
                    run.victim().join();
                    held.release();
                })
                .expecting(AcquireTimeoutException.class)
                .verify();
    }

    @Test
    void interruptedWaiterLeavesNothingBehind() {
        FaultDriver.of("lock, interrupted waiter", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(lock(first).acquire());
                    run.victim().start(me -> me.hold(lock(me).acquire()));
                    run.untilAtRest();
                    run.helper("behind").start(me -> me.hold(lock(me).acquire()));
                    run.untilAtRest();
                    run.interruptVictim();
                    run.victim().join();
                    held.release();
                })
                .expecting(InterruptedException.class)
                .verify();
    }

    @Test
    void tryIsAnsweredAtOnce() {
        FaultDriver.of("lock, try", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(lock(first).acquire());
                    run.victim()
                            .start(me -> me.unlessTheStoreIsSilent(
                                    () -> lock(me).tryAcquire().ifPresent(me::hold)));
                    run.victim().join();
                    held.release();
                    run.victim()
                            .start(me -> me.unlessTheStoreIsSilent(
                                    () -> lock(me).tryAcquire().ifPresent(me::hold)));
                })
                .verify();
    }

    static FaultDriver tryFree() {
        return FaultDriver.of("lock, try a free one", run -> {
            AtomicBoolean isContended = new AtomicBoolean();
            run.rival("takes it if it can", me -> {
                isContended.set(true);
                takeIfPossible(me);
            });
            run.rival("throws it out", me -> run.deleteZnodesOfVictim());
            run.victim()
                    .start(me -> me.unlessTheStoreIsSilent(() -> {
                        Optional<LockGrant> grant = lock(me).tryAcquire();
                        assertTrue(grant.isPresent() || isContended.get(), "no other contender is there");
                        grant.ifPresent(me::hold);
                    }));
            run.victim().join();
            run.helper("next").start(me -> me.hold(lock(me).acquire()));
        });
    }

    @Test
    void tryOfAFreeLockGetsIt() {
        tryFree().verify();
    }
}
