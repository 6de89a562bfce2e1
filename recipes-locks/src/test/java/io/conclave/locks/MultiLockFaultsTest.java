package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.LossReason;
import io.conclave.grant.FencingToken;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.HeldClaim;
import io.conclave.testkit.driver.Holding;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of a multi-lock's runs: no contender is blocked at any of its locks, two never hold one,
 * nothing stays behind, and the victim gets the right kind of failure.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class MultiLockFaultsTest {
    private static DistributedLock lock(Actor actor, String name) {
        return DistributedLock.at(actor.coordinator(), "/multi/" + name);
    }

    private static MultiLock multi(Actor actor) {
        return MultiLock.of(lock(actor, "b"), lock(actor, "a"));
    }

    /** Holds both, each of which excludes every other holder; what is lost with one is lost for both. */
    private static void hold(Actor actor, MultiLockGrant grant) {
        LockGrant a = grant.of(lock(actor, "a"));
        LockGrant b = grant.of(lock(actor, "b"));
        Holding first = actor.granted("a", Holding.Kind.EXCLUSIVE, HeldClaim.of(a), 1);
        Holding second = actor.granted("b", Holding.Kind.EXCLUSIVE, HeldClaim.of(b), 1);
        actor.hold(first);
        second.release();
    }

    private static void holdOne(Actor actor, String name, LockGrant grant) {
        actor.hold(actor.granted(name, Holding.Kind.EXCLUSIVE, HeldClaim.of(grant), 1));
    }

    /**
     * One of several: with the first that is lost the others are given back, so the reason of the loss is that of all.
     */
    private record Part(MultiLockGrant all, LockGrant one) implements HeldClaim {
        @Override
        public Duration remaining() {
            return one.remaining();
        }

        @Override
        public CompletionStage<LossReason> lost() {
            return all.lost();
        }

        @Override
        public Optional<FencingToken> token() {
            return Optional.of(one.token());
        }

        @Override
        public void close() {
            one.close();
        }

        @Override
        public String toString() {
            return one.toString();
        }
    }

    static FaultDriver holder() {
        return FaultDriver.of("multi-lock, holder", run -> {
            run.rival("takes one", me -> holdOne(me, "a", lock(me, "a").acquire()));
            run.rival("throws it out", me -> run.deleteZnodesOfVictim());
            run.victim().start(me -> {
                MultiLockGrant grant = multi(me).acquire();
                me.hold(me.granted("a", Holding.Kind.EXCLUSIVE, new Part(grant, grant.of(lock(me, "a"))), 1));
                grant.close();
            });
            run.untilAtRest();
            run.helper("a").start(me -> holdOne(me, "a", lock(me, "a").acquire()));
            run.helper("b").start(me -> holdOne(me, "b", lock(me, "b").acquire()));
        });
    }

    @Test
    void holderDoesNotBlockOthersUnderAnyFault() {
        holder().verify();
    }

    @Test
    void waiterForTheSecondGetsBothOrSaysWhyNot() {
        FaultDriver.of("multi-lock, waiter", run -> {
                    run.rival("takes one", me -> holdOne(me, "a", lock(me, "a").acquire()));
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    Actor first = run.helper("first");
                    Holding held = first.granted(
                            "b",
                            Holding.Kind.EXCLUSIVE,
                            HeldClaim.of(lock(first, "b").acquire()),
                            1);
                    run.victim().start(me -> {
                        MultiLockGrant grant = me.await(multi(me).acquireAsync());
                        me.hold(me.granted("b", Holding.Kind.EXCLUSIVE, new Part(grant, grant.of(lock(me, "b"))), 1));
                        grant.close();
                    });
                    run.untilAtRest();
                    run.helper("a").start(me -> holdOne(me, "a", lock(me, "a").acquire()));
                    run.helper("b").start(me -> holdOne(me, "b", lock(me, "b").acquire()));
                    run.untilAtRest();
                    held.release();
                })
                .verify();
    }

    @Test
    void waiterThatTimesOutLeavesNothingBehind() {
        FaultDriver.of("multi-lock, giving up", run -> {
                    run.rival("takes one", me -> holdOne(me, "a", lock(me, "a").acquire()));
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    Actor first = run.helper("first");
                    Holding held = first.granted(
                            "b",
                            Holding.Kind.EXCLUSIVE,
                            HeldClaim.of(lock(first, "b").acquire()),
                            1);
                    run.victim().start(me -> hold(me, multi(me).acquire(Duration.ofSeconds(5))));
                    run.untilAtRest();
                    run.helper("a").start(me -> holdOne(me, "a", lock(me, "a").acquire()));
                    run.victim().join();
                    held.release();
                })
                .expecting(AcquireTimeoutException.class)
                .verify();
    }
}
