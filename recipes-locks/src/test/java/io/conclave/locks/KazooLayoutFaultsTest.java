package io.conclave.locks;

import io.conclave.grant.RevocationOutcome;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.HeldClaim;
import io.conclave.testkit.driver.Holding;
import java.util.concurrent.TimeUnit;
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

    @Test
    void waiterGetsTheLockOrSaysWhyNot() {
        FaultDriver.of("lock in kazoo's layout, waiter", run -> {
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
                    Actor holder = run.helper("holder");
                    LockGrant grant = mutex(holder).acquire();
                    grant.revocationRequested().thenRun(grant::closeAsync);
                    run.victim().start(me -> {
                        RevocationOutcome outcome = me.await(
                                mutex(me).requestRelease(mutex(me).holder().orElseThrow()));
                        if (outcome != RevocationOutcome.RELEASED) {
                            run.violated("the holder gave up, and not: " + outcome);
                        }
                    });
                    run.victim().join();
                    grant.close();
                })
                .verify();
    }
}
