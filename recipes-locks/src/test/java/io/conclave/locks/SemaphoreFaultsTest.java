package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.grant.FencingToken;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.HeldClaim;
import io.conclave.testkit.driver.Holding;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each fault at each request of a semaphore's runs: never more permits out than there are, no contender is blocked,
 * nothing stays behind, and the victim gets the right kind of failure.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class SemaphoreFaultsTest {
    private static final String PATH = "/semaphores/faults";

    private static DistributedSemaphore semaphore(Actor actor) {
        return DistributedSemaphore.at(actor.coordinator(), PATH, 3);
    }

    private static DistributedSemaphore adjustable(Actor actor) {
        return DistributedSemaphore.adjustable(actor.coordinator(), PATH, 3);
    }

    /** A permit grant for the driver. */
    private record Permits(PermitGrant grant) implements HeldClaim {
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
            return Optional.of(new FencingToken(0, ((HeldPermits) grant).czxid())); // of the znodes; not compared
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

    private static void hold(Actor actor, PermitGrant grant) {
        actor.hold(new Permits(grant), grant.permits());
    }

    private static Holding granted(Actor actor, PermitGrant grant) {
        return actor.granted("", Holding.Kind.PERMIT, new Permits(grant), grant.permits());
    }

    private static FaultDriver driver(String name, io.conclave.testkit.driver.Scenario scenario) {
        return FaultDriver.of(name, scenario).permits(3);
    }

    /** What other processes do while the victim is away. */
    private static void rivals(FaultRun run) {
        run.rival("takes one", me -> hold(me, semaphore(me).acquire(1)));
        run.rival("takes all if it can", me -> {
            try {
                hold(me, semaphore(me).acquire(3, Duration.ofSeconds(12))); // longer than the victim's session lives
            } catch (AcquireTimeoutException somebodyHolds) {
                // that is as good
            }
        });
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    /** As the former, where the number of permits is adjustable. */
    private static void adjustingRivals(FaultRun run) {
        run.rival("lowers the number and raises it", me -> {
            adjustable(me).setPermits(1);
            adjustable(me).setPermits(3);
        });
        run.rival("takes two if it can", me -> {
            try {
                hold(me, adjustable(me).acquire(2, Duration.ofSeconds(12))); // longer than the victim's session lives
            } catch (AcquireTimeoutException somebodyHolds) {
                // that is as good
            }
        });
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    static FaultDriver holder() {
        return driver("semaphore, holder", run -> {
            rivals(run);
            run.victim().start(me -> hold(me, semaphore(me).acquire()));
            run.untilAtRest();
            run.helper("next").start(me -> hold(me, semaphore(me).acquire(3)));
        });
    }

    @Test
    void holderDoesNotBlockOthersUnderAnyFault() {
        holder().verify();
    }

    @Test
    void holderOfSeveralDoesNotBlockOthersUnderAnyFault() {
        driver("semaphore, holder of two", run -> {
                    rivals(run);
                    run.victim().start(me -> hold(me, semaphore(me).acquire(2)));
                    run.untilAtRest();
                    run.helper("next").start(me -> hold(me, semaphore(me).acquire(2)));
                    run.helper("small").start(me -> hold(me, semaphore(me).acquire(1)));
                })
                .verify();
    }

    @Test
    void holderOfAnAdjustableNumberDoesNotBlockOthersUnderAnyFault() {
        driver("semaphore, adjustable", run -> {
                    run.rival("sets the number and takes one", me -> {
                        adjustable(me).setPermits(3);
                        hold(me, adjustable(me).acquire(1));
                    });
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    run.victim().start(me -> hold(me, me.await(adjustable(me).acquireAsync(2))));
                    run.untilAtRest();
                    run.helper("next").start(me -> hold(me, adjustable(me).acquire(2)));
                })
                .verify();
    }

    @Test
    void waiterGetsItsPermitsOrSaysWhyNot() {
        driver("semaphore, waiter for two", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding one = granted(first, semaphore(first).acquire(1));
                    Holding two = granted(first, semaphore(first).acquire(2));
                    run.victim().start(me -> hold(me, semaphore(me).acquire(2)));
                    run.untilAtRest();
                    run.helper("behind").start(me -> hold(me, semaphore(me).acquire(3)));
                    run.untilAtRest();
                    one.release();
                    run.untilAtRest();
                    two.release();
                })
                .verify();
    }

    @Test
    void waiterInTheLineGetsItsPermitsOrSaysWhyNot() {
        driver("semaphore, waiter behind a waiter", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = granted(first, semaphore(first).acquire(3));
                    run.helper("before").start(me -> hold(me, semaphore(me).acquire(2)));
                    run.untilAtRest();
                    run.victim().start(me -> hold(me, semaphore(me).acquire(2)));
                    run.untilAtRest();
                    run.helper("behind").start(me -> hold(me, semaphore(me).acquire(1)));
                    run.untilAtRest();
                    held.release();
                })
                .verify();
    }

    @Test
    void waiterThatTimesOutLeavesNothingBehind() {
        driver("semaphore, giving up", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = granted(first, semaphore(first).acquire(2));
                    run.victim().start(me -> hold(me, semaphore(me).acquire(2, Duration.ofSeconds(5))));
                    run.untilAtRest();
                    run.helper("behind").start(me -> hold(me, semaphore(me).acquire(1)));
                    run.victim().join();
                    held.release();
                })
                .expecting(AcquireTimeoutException.class)
                .verify();
    }

    @Test
    void interruptedWaiterLeavesNothingBehind() {
        driver("semaphore, interrupted waiter", run -> {
                    adjustingRivals(run);
                    Actor first = run.helper("first");
                    Holding held = granted(first, adjustable(first).acquire(3));
                    run.victim().start(me -> hold(me, adjustable(me).acquire(2)));
                    run.untilAtRest();
                    run.helper("behind").start(me -> hold(me, adjustable(me).acquire(1)));
                    run.untilAtRest();
                    run.interruptVictim();
                    run.victim().join();
                    held.release();
                })
                .expecting(InterruptedException.class)
                .verify();
    }

    static FaultDriver trying() {
        return driver("semaphore, try", run -> {
            rivals(run);
            Actor first = run.helper("first");
            Holding held = granted(first, semaphore(first).acquire(2));
            run.victim().start(me -> {
                me.unlessTheStoreIsSilent(() -> semaphore(me).tryAcquire(2).ifPresent(grant -> hold(me, grant)));
                // empty, if a fault keeps the place of the first try in the line: that is before us
                me.unlessTheStoreIsSilent(() -> semaphore(me).tryAcquire(1).ifPresent(grant -> hold(me, grant)));
            });
            run.victim().join();
            held.release();
        });
    }

    @Test
    void tryIsAnsweredAtOnce() {
        trying().verify();
    }

    /** The victim sets the number once, whether there was one, and a rival's that came later stays. */
    static FaultDriver numberSetByOthers(boolean isSet) {
        return driver("semaphore, number set by others" + (isSet ? ", again" : ""), run -> {
                    Actor helper = run.helper("helper");
                    if (isSet) {
                        adjustable(helper).setPermits(3);
                    }
                    AtomicBoolean wasReplaced = new AtomicBoolean();
                    run.rival("sets another number", me -> {
                        wasReplaced.compareAndSet(false, adjustable(me).permits() == 2);
                        adjustable(me).setPermits(1);
                    });
                    run.victim().start(me -> adjustable(me).setPermits(2));
                    run.victim().join();
                    run.settle();
                    if (wasReplaced.get() && adjustable(helper).permits() != 1) {
                        run.violated("one call has set the number twice");
                    }
                })
                .tryingAllAbsences()
                .explaining(OutcomeUnknownException.class, Fault.values());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void numberThatOthersHaveSetSinceIsNotSetAgainByTheSameCall(boolean isSet) {
        numberSetByOthers(isSet).verify();
    }

    @Test
    void waiterHearsOfMorePermits() {
        driver("semaphore, more permits", run -> {
                    adjustingRivals(run);
                    Actor first = run.helper("first");
                    adjustable(first).setPermits(1);
                    Holding held = granted(first, adjustable(first).acquire(1));
                    run.victim().start(me -> hold(me, adjustable(me).acquire(2)));
                    run.untilAtRest();
                    adjustable(first).setPermits(3);
                    run.victim().join();
                    held.release();
                })
                .verify();
    }
}
