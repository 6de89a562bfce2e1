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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of a multi-lock's runs: no contender is blocked at any of its locks, two never hold one,
 * nothing stays behind, and the victim gets the right kind of failure.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class MultiLockFaultsTest {
    private static DistributedLock lock(Actor actor, String name) {
        return DistributedLock.at(actor.coordinator(), "/multi/" + name);
    }

    private static MultiLock multi(Actor actor) {
        return MultiLock.of(lock(actor, "b"), lock(actor, "a"));
    }

    /** Holds both; what is lost with one is lost for both. */
    private static void hold(Actor actor, String name, MultiLockGrant grant) {
        Part part = new Part(grant, grant.of(lock(actor, name)));
        actor.hold(actor.granted(name, Holding.Kind.EXCLUSIVE, part, 1));
        grant.close();
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
            all.close();
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
                hold(me, "a", grant);
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
                        hold(me, "b", grant);
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
                    run.victim().start(me -> hold(me, "b", multi(me).acquire(Duration.ofSeconds(5))));
                    run.untilAtRest();
                    run.helper("a").start(me -> holdOne(me, "a", lock(me, "a").acquire()));
                    run.victim().join();
                    held.release();
                })
                .expecting(AcquireTimeoutException.class)
                .verify();
    }

    /** Two who want the same locks; the second comes while a fault may keep the first from entering. */
    static FaultDriver overlapping() {
        return FaultDriver.of("multi-lock, overlapping", run -> {
            run.rival("takes both", me -> hold(me, "b", multi(me).acquire()));
            run.rival("throws it out", me -> run.deleteZnodesOfVictim());
            run.victim().start(me -> hold(me, "b", multi(me).acquire()));
            run.helper("other").start(me -> {
                run.pause(Duration.ofMillis(100));
                hold(me, "b", multi(me).acquire());
            });
        });
    }

    /** The victim enters one line after the other, as it must not: a multi-lock may come in between. */
    static FaultDriver nested() {
        return FaultDriver.of("locks one after the other", run -> {
            run.victim().start(me -> {
                try (LockGrant a = lock(me, "a").acquire()) {
                    holdOne(me, "b", lock(me, "b").acquire());
                }
            });
            run.helper("other").start(me -> {
                run.pause(Duration.ofMillis(100));
                hold(me, "b", multi(me).acquire());
            });
        });
    }

    @Test
    void twoThatWantTheSameLocksGetThemOneAfterTheOther() {
        overlapping().verify();
    }

    /** The same where the victim's locks are of two sessions: it cannot enter their lines at the same time. */
    static FaultDriver twoSessions() {
        return FaultDriver.of("multi-lock, two sessions", run -> {
            run.rival("throws it out", me -> run.deleteZnodesOfVictim());
            Actor second = run.helper("second session");
            run.helper("other").start(me -> hold(me, "b", multi(me).acquire()));
            run.victim().start(me -> {
                MultiLockGrant grant =
                        MultiLock.of(lock(me, "a"), lock(second, "b")).acquire();
                hold(me, "a", grant);
            });
            run.helper("another").start(me -> hold(me, "a", multi(me).acquire()));
        });
    }

    @Test
    void locksOfTwoSessionsNeitherBlockNorAreBlocked() {
        twoSessions().verify();
    }
}
