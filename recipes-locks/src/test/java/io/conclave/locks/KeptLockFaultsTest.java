package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of runs with a kept place: two never hold, neither of one process nor of two, nobody is
 * blocked for good, and nothing stays behind.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class KeptLockFaultsTest {
    private static final Duration IDLE = Duration.ofSeconds(1);

    private static KeptLock kept(Actor actor) {
        return plain(actor).kept(Keeping.idleFor(IDLE).withHandOvers(2));
    }

    private static DistributedLock plain(Actor actor) {
        return DistributedLock.at(actor.coordinator(), "/locks/faults");
    }

    private static void rivals(FaultRun run) {
        run.rival("takes it if it can", me -> {
            try {
                me.hold(plain(me).acquire(Duration.ofSeconds(12))); // longer than the victim's session lives
            } catch (AcquireTimeoutException somebodyHolds) {
                // that is as good
            }
        });
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    /** Takes the place, holds it twice, and keeps it until the idle time is over. */
    static FaultDriver again() {
        return FaultDriver.of("kept lock, again", run -> {
            rivals(run);
            run.victim().start(me -> {
                me.hold(kept(me).acquire());
                me.hold(kept(me).acquire());
            });
            run.victim().join();
            run.pause(IDLE.multipliedBy(2));
            run.helper("next").start(me -> me.hold(plain(me).acquire()));
        });
    }

    @Test
    void keptPlaceDoesNotBlockOthersUnderAnyFault() {
        again().verify();
    }

    /** Gives its idle place up when another one comes, and enters the line anew behind it. */
    static FaultDriver givingWay() {
        return FaultDriver.of("kept lock, giving way", run -> {
            rivals(run);
            run.victim().start(me -> me.hold(kept(me).acquire()));
            run.victim().join();
            run.helper("next").start(me -> me.hold(plain(me).acquire()));
            run.untilAtRest();
            run.victim().start(me -> me.hold(kept(me).acquire()));
            run.victim().join();
            run.pause(IDLE.multipliedBy(2));
        });
    }

    @Test
    void idlePlaceGivesWayUnderAnyFault() {
        givingWay().verify();
    }

    /** Four callers of the victim want it at once, and one of another process. */
    static FaultDriver crowd() {
        return FaultDriver.of("kept lock, crowd", run -> {
            rivals(run);
            for (int i = 0; i < 4; i++) {
                run.victim().start(me -> me.hold(kept(me).acquire()));
            }
            run.untilAtRest();
            run.helper("next").start(me -> me.hold(plain(me).acquire()));
            run.victim().join();
            run.pause(IDLE.multipliedBy(2));
        });
    }

    @Test
    void callersOfTheVictimAndOthersNeverHoldTogether() {
        crowd().verify();
    }

    @Test
    void callerThatTimesOutBehindAnotherOfItsProcessLeavesNothingBehind() {
        FaultDriver.of("kept lock, giving up", run -> {
                    rivals(run);
                    run.victim().start(me -> me.hold(kept(me).acquire()));
                    run.untilAtRest();
                    run.victim().start(me -> me.hold(kept(me).acquire(Duration.ofMillis(10))));
                    run.helper("next").start(me -> me.hold(plain(me).acquire()));
                    run.victim().join();
                    run.pause(IDLE.multipliedBy(2));
                })
                .expecting(AcquireTimeoutException.class)
                .verify();
    }

    @Test
    void interruptedCallersLeaveNothingBehind() {
        FaultDriver.of("kept lock, interrupted", run -> {
                    rivals(run);
                    run.victim().start(me -> me.hold(kept(me).acquire()));
                    run.victim().start(me -> me.hold(kept(me).acquire()));
                    run.untilAtRest();
                    run.interruptVictim();
                    run.victim().join();
                    run.pause(IDLE.multipliedBy(2));
                    run.helper("next").start(me -> me.hold(plain(me).acquire()));
                })
                .expecting(InterruptedException.class)
                .verify();
    }

    /** Tries twice, the second time while its place may be kept. */
    static FaultDriver trying() {
        return FaultDriver.of("kept lock, try", run -> {
            rivals(run);
            for (int i = 0; i < 2; i++) {
                run.victim()
                        .start(me -> me.unlessTheStoreIsSilent(
                                () -> kept(me).tryAcquire().ifPresent(me::hold)));
                run.victim().join();
            }
            run.pause(IDLE.multipliedBy(2));
            run.helper("next").start(me -> me.hold(plain(me).acquire()));
        });
    }

    @Test
    void tryIsAnsweredAtOnce() {
        trying().verify();
    }
}
