package io.conclave.barriers;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.Scenario;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each fault at each request of a double barrier's runs: no participant enters or has left too early, one that may
 * continue does, and znodes of a dead process do not disturb the next round.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class DoubleBarrierFaultsTest {
    private static final NodePath PATH = NodePath.of("/barriers/faults");

    /** A process that dies as the last one cannot delete what shows that the barrier is open; the next round does. */
    private static final Predicate<NodePath> READY = path -> path.equals(PATH.child("ready"));

    /**
     * A barrier whose participants' order is known.
     *
     * @param rank the digit that the names begin with
     */
    private static DoubleBarrier barrier(Actor actor, int participants, String rank) {
        return new DoubleBarrier(
                actor.coordinator(),
                new DoubleBarrierLayout(PATH, participants),
                () -> rank + UUID.randomUUID().toString().substring(1));
    }

    /** Where each participant of one round is, so that each that continues can be checked. */
    private static final class Progress {
        private final FaultRun run;
        private final int participants;
        private final Set<String> begun = ConcurrentHashMap.newKeySet();
        private final Set<String> inside = ConcurrentHashMap.newKeySet();
        private volatile boolean opened;

        Progress(FaultRun run, int participants) {
            this.run = run;
            this.participants = participants;
        }

        Actor.Body through(String rank) {
            return me -> {
                begun.add(me.name());
                try (Participation participation =
                        barrier(me, participants, rank).enter()) {
                    enters(me);
                    run.pause(Duration.ofMillis(me.name().equals("victim") ? 300 : 500));
                    inside.remove(me.name());
                    participation.leave();
                    hasLeft(me);
                } finally {
                    inside.remove(me.name());
                }
            };
        }

        private void enters(Actor me) {
            opened = true;
            if (begun.size() < participants) {
                run.violated(me.name() + " entered, but only these had come: " + begun);
            }
            inside.add(me.name());
        }

        /** The victim may be inside without a session, and not know it yet. */
        private void hasLeft(Actor me) {
            if (inside.stream().anyMatch(name -> !name.equals("victim"))
                    || (run.isClean() && inside.contains("victim"))) {
                run.violated(me.name() + " has left, but inside are " + inside);
            }
        }

        /** If the victim failed before the barrier opened the others wait for one more, and get it. */
        void replaceTheVictimIfNeeded() throws Exception {
            run.victim().join();
            run.untilAtRest();
            if (!opened) {
                run.helper("replacement").start(through("8"));
            }
        }
    }

    /** One more round by others: nothing of the first may be in its way, it must wait for both, and leave nothing. */
    private static final Scenario NEXT_ROUND = run -> {
        run.settle(); // what an interrupted victim has sent may arrive with its next connection, and is deleted then
        Actor one = run.helper("next-1");
        assertThrows(WaitTimeoutException.class, () -> barrier(one, 2, "1").enter(Duration.ofSeconds(1)));
        Actor other = run.helper("next-2");
        other.start(me -> barrier(me, 2, "2").enter().leave());
        barrier(one, 2, "1").enter().leave();
        other.join();
        if (run.store().snapshot().keySet().stream().anyMatch(READY)) {
            run.violated("ready is left after the next round");
        }
    };

    private static FaultDriver driver(String name, Scenario scenario) {
        return FaultDriver.of(name, scenario)
                .leaving(READY)
                .within(Duration.ofMinutes(2))
                .requestsAtMost(6, 20)
                .afterwards(NEXT_ROUND);
    }

    @ParameterizedTest
    @CsvSource({"1,1", "1,3", "8,2", "f,1", "f,3"})
    void participantPassesWithTheOthersOrDoesNotBlockThem(String rank, int comes) {
        driver("double barrier, one of three, rank " + rank + ", comes as number " + comes, run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    Progress progress = new Progress(run, 3);
                    String[] others = {"7", "9"};
                    for (int number = 1, other = 0; number <= 3; number++) {
                        if (number == comes) {
                            run.victim().start(progress.through(rank));
                        } else {
                            run.helper("helper " + other).start(progress.through(others[other++]));
                        }
                        run.untilAtRest();
                    }
                    progress.replaceTheVictimIfNeeded();
                })
                // counted, gone through by the others, deleted unheard, and created again
                .also("8:DROP_AFTER@500ms,9:DELETE_AND_DROP_AFTER@500ms")
                .verify();
    }

    @Test
    void onlyParticipantGoesThrough() {
        driver("double barrier, alone", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    run.victim().start(me -> barrier(me, 1, "1").enter().leave());
                })
                .verify();
    }

    @Test
    void asynchronousParticipantPassesOrDoesNotBlockOthers() {
        driver("double barrier, asynchronous", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    Progress progress = new Progress(run, 2);
                    run.helper("helper").start(progress.through("7"));
                    run.untilAtRest();
                    run.victim().start(me -> {
                        progress.begun.add(me.name());
                        try (Participation participation =
                                me.await(barrier(me, 2, "1").enterAsync())) {
                            progress.enters(me);
                            progress.inside.remove(me.name());
                            me.await(participation.leaveAsync());
                            progress.hasLeft(me);
                        }
                    });
                    progress.replaceTheVictimIfNeeded();
                })
                .verify();
    }

    @Test
    void participantThatGivesUpEnteringLeavesNothingBehind() {
        driver("double barrier, giving up entering", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    run.victim().start(me -> barrier(me, 2, "1").enter(Duration.ofSeconds(5)));
                    run.victim().join();
                })
                .expecting(WaitTimeoutException.class)
                .verify();
    }

    @Test
    void participantThatGivesUpLeavingLeavesNothingBehind() {
        driver("double barrier, giving up leaving", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    Progress progress = new Progress(run, 2);
                    Actor helper = run.helper("helper");
                    helper.start(me -> {
                        progress.begun.add(me.name());
                        try (Participation participation = barrier(me, 2, "f").enter()) {
                            progress.enters(me);
                            run.pause(Duration.ofSeconds(45));
                            progress.inside.remove(me.name());
                            participation.leave();
                        }
                    });
                    run.untilAtRest();
                    run.victim().start(me -> {
                        progress.begun.add(me.name());
                        try (Participation participation = barrier(me, 2, "1").enter()) {
                            participation.leave(Duration.ofSeconds(5));
                        }
                    });
                    progress.replaceTheVictimIfNeeded();
                })
                .expecting(WaitTimeoutException.class)
                .verify();
    }

    @Test
    void participantThatComesDuringARoundWaitsForTheNextRound() {
        driver("double barrier, late", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    Progress first = new Progress(run, 2);
                    run.helper("first-1").start(first.through("7"));
                    run.helper("first-2").start(first.through("9"));
                    Progress second = new Progress(run, 2);
                    run.pause(Duration.ofMillis(100));
                    run.victim().start(second.through("1"));
                    run.pause(Duration.ofSeconds(1));
                    run.helper("second").start(second.through("f"));
                    second.replaceTheVictimIfNeeded();
                })
                .verify();
    }

    @Test
    void znodesOfADeadRoundAreRemoved() {
        driver("double barrier, after a dead round", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    Actor dead = run.helper("dead");
                    barrier(dead, 1, "1").enter().close();
                    Progress progress = new Progress(run, 2);
                    run.victim().start(progress.through("1"));
                    run.untilAtRest();
                    run.helper("helper").start(progress.through("f"));
                    progress.replaceTheVictimIfNeeded();
                })
                .verify();
    }
}
