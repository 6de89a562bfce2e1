package io.conclave.locks;

import io.conclave.error.GrantLostException;
import io.conclave.grant.Grant;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.HeldClaim;
import io.conclave.testkit.driver.Holding;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of work that runs while a lock is held: a loss is reported to the caller, no contender is
 * blocked, and nothing stays behind.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class WhileHeldFaultsTest {
    private static final Duration WORK = Duration.ofMillis(500);

    /** Something that runs work while it is held. */
    private interface Locked<G> {
        void run(Work<G> work) throws Exception;
    }

    private interface Work<G> {
        void run(G grant) throws Exception;
    }

    /** Holds for a while, and ends by an interrupt. If what is held is lost by then, the call must not end normally. */
    private static <G extends Grant> void work(FaultRun run, Actor me, Locked<G> lock, Holding.Kind kind)
            throws Exception {
        AtomicReference<String> lost = new AtomicReference<>("");
        try {
            lock.run(grant -> {
                Holding holding = me.granted("", kind, HeldClaim.of(grant), 1);
                try {
                    run.pause(WORK);
                } finally {
                    lost.set(grant.isHeld() ? "" : grant.toString());
                    holding.release();
                }
            });
        } catch (GrantLostException e) {
            // The driver's interrupt may have come after that of the loss, and then one flag stood for both: see
            // WhileHeld.
            Thread.currentThread().interrupt();
            throw e;
        }
        if (!lost.get().isEmpty()) {
            run.violated("the call ended normally, although this was lost: " + lost.get());
        }
    }

    private static DistributedLock lock(Actor actor) {
        return DistributedLock.at(actor.coordinator(), "/locks/faults");
    }

    @Test
    void workOnALockHearsOfItsLoss() {
        FaultDriver.of("lock, while held", run -> {
                    run.rival("takes it if it can", me -> lock(me).tryAcquire().ifPresent(me::hold));
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    run.victim()
                            .start(me -> work(run, me, work -> lock(me).whileHeld(work::run), Holding.Kind.EXCLUSIVE));
                    run.untilAtRest();
                    run.helper("next").start(me -> me.hold(lock(me).acquire()));
                })
                .verify();
    }

    private static SharedLock shared(Actor actor) {
        return SharedLock.at(actor.coordinator(), "/locks/faults");
    }

    static FaultDriver writer() {
        return FaultDriver.of("shared lock, while held", run -> {
            run.rival("reads", me -> me.share(shared(me).readLock().acquire()));
            run.rival("writes", me -> me.hold(shared(me).writeLock().acquire()));
            run.rival("throws it out", me -> run.deleteZnodesOfVictim());
            run.victim()
                    .start(me ->
                            work(run, me, work -> shared(me).writeLock().whileHeld(work::run), Holding.Kind.EXCLUSIVE));
            run.untilAtRest();
            run.helper("next").start(me -> me.hold(shared(me).writeLock().acquire()));
        });
    }

    @Test
    void workOnAWriteLockHearsOfItsLoss() {
        writer().verify();
    }

    private static DistributedSemaphore semaphore(Actor actor) {
        return DistributedSemaphore.at(actor.coordinator(), "/locks/faults", 1);
    }

    @Test
    void workOnPermitsHearsOfTheirLoss() {
        FaultDriver.of("semaphore, while held", run -> {
                    run.rival("takes it", me -> me.hold(semaphore(me).acquire(), 1));
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    run.victim()
                            .start(me ->
                                    work(run, me, work -> semaphore(me).whileHeld(1, work::run), Holding.Kind.PERMIT));
                    run.untilAtRest();
                    run.helper("next").start(me -> me.hold(semaphore(me).acquire(), 1));
                })
                .permits(1)
                .verify();
    }
}
