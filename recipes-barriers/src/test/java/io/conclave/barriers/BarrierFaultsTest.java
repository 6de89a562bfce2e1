package io.conclave.barriers;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of a barrier's and a latch's runs: a participant that may continue does, none
 * continues too early, nothing is counted twice or lost.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class BarrierFaultsTest {
    private static Barrier barrier(Actor actor) {
        return Barrier.at(actor.coordinator(), "/barriers/faults");
    }

    private static Latch countDown(Actor actor) {
        return Latch.at(actor.coordinator(), "/counts/faults", 3);
    }

    @Test
    void waiterGoesOnWhenTheBarrierIsRemovedAndNotBefore() {
        FaultDriver.of("barrier, waiter", run -> {
                    run.rival("removes it and sets it again", me -> {
                        if (barrier(me).isSet()) {
                            barrier(me).remove();
                            barrier(me).set();
                        }
                    });
                    Actor owner = run.helper("owner");
                    barrier(owner).set();
                    run.victim().start(me -> {
                        barrier(me).await();
                        if (barrier(owner).isSet()) {
                            run.violated("the victim went on while the barrier was in place");
                        }
                    });
                    run.untilAtRest();
                    run.pause(Duration.ofSeconds(30)); // longer than the session lives, wherever it ended
                    barrier(owner).remove();
                })
                .within(Duration.ofMinutes(2))
                .verify();
    }

    /** If others remove it in time, it goes on. */
    static FaultDriver givingUp() {
        Duration patience = Duration.ofMinutes(2); // longer than two absences
        return FaultDriver.of("barrier, giving up", run -> {
                    Actor owner = run.helper("owner");
                    barrier(owner).set();
                    AtomicLong removedAtNanos = new AtomicLong(Long.MAX_VALUE);
                    AtomicBoolean wasRemoved = new AtomicBoolean();
                    run.rival("removes it", me -> {
                        wasRemoved.set(true);
                        barrier(me).remove();
                        removedAtNanos.accumulateAndGet(run.time().monotonicNanos(), Math::min);
                    });
                    run.rival("removes it and sets it again", me -> {
                        wasRemoved.set(true);
                        removedAtNanos.set(Long.MAX_VALUE);
                        barrier(me).remove();
                        barrier(me).set();
                    });
                    run.victim().start(me -> {
                        try {
                            barrier(me).await(patience);
                        } catch (WaitTimeoutException e) {
                            long openNanos = run.time().monotonicNanos() - removedAtNanos.get();
                            if (openNanos > patience.dividedBy(2).toNanos()) {
                                run.violated("it gave up, although the barrier was open since "
                                        + Duration.ofNanos(openNanos));
                            }
                            throw e;
                        }
                        if (!wasRemoved.get()) {
                            run.violated("the victim went on while the barrier was in place");
                        }
                    });
                    run.victim().join();
                    run.settle();
                    barrier(owner).remove();
                })
                .within(Duration.ofMinutes(5))
                .expecting(WaitTimeoutException.class);
    }

    @Test
    void waiterThatTimesOutLeavesNothingBehind() {
        givingUp().verify();
    }

    @Test
    void barrierIsSetAndRemovedUnderEveryFault() {
        FaultDriver.of("barrier, set and remove", run -> {
                    Actor helper = run.helper("helper");
                    run.victim().start(me -> {
                        barrier(me).set();
                        if (!barrier(helper).isSet()) {
                            run.violated("it was said to be set");
                        }
                        barrier(me).remove();
                        if (barrier(helper).isSet()) {
                            run.violated("it was said to be removed");
                        }
                    });
                    run.victim().join();
                    run.settle();
                    barrier(helper).remove();
                    barrier(helper).await();
                })
                .verify();
    }

    /** What was done to a barrier in one run. */
    private static final class Deeds {
        private final AtomicInteger set = new AtomicInteger();
        private final AtomicInteger removed = new AtomicInteger();

        void set(Actor me) throws InterruptedException {
            set.addAndGet(barrier(me).isSet() ? 0 : 1);
            barrier(me).set();
        }

        void remove(Actor me) throws InterruptedException {
            removed.addAndGet(barrier(me).isSet() ? 1 : 0);
            barrier(me).remove();
        }
    }

    static FaultDriver setAndRemovedByOthers() {
        return FaultDriver.of("barrier, set and removed by others", run -> {
                    Actor helper = run.helper("helper");
                    Deeds others = new Deeds();
                    run.rival("removes it", others::remove);
                    run.rival("sets it", others::set);
                    AtomicBoolean done = new AtomicBoolean();
                    run.victim().start(me -> {
                        barrier(me).set();
                        done.set(true);
                    });
                    run.victim().join();
                    run.settle();
                    int present = barrier(helper).isSet() ? 1 : 0;
                    if (present + others.removed.get() > 1 + others.set.get()) {
                        run.violated("one call has set it twice");
                    }
                    if (done.get() && present + others.removed.get() == 0) {
                        run.violated("it was said to be set");
                    }
                    barrier(helper).remove();
                })
                .explaining(OutcomeUnknownException.class, Fault.absences());
    }

    @Test
    void barrierRemovedByAnotherClientIsNotSetAgainByTheSameCall() {
        setAndRemovedByOthers().verify();
    }

    static FaultDriver removedAndSetByOthers() {
        return FaultDriver.of("barrier, removed and set by others", run -> {
            Actor helper = run.helper("helper");
            barrier(helper).set();
            Deeds others = new Deeds();
            run.rival("sets it", others::set);
            run.rival("removes it", others::remove);
            AtomicBoolean done = new AtomicBoolean();
            run.victim().start(me -> {
                barrier(me).remove();
                done.set(true);
            });
            run.victim().join();
            run.settle();
            int present = barrier(helper).isSet() ? 1 : 0;
            int removedByVictim = 1 + others.set.get() - others.removed.get() - present;
            if (removedByVictim > 1) {
                run.violated("one call has removed it twice");
            }
            if (done.get() && present == 1 && others.set.get() == 0) {
                run.violated("it was said to be removed");
            }
            barrier(helper).remove();
        });
    }

    @Test
    void barrierSetByAnotherClientIsNotRemovedByACallThatHasRemovedOne() {
        removedAndSetByOthers().verify();
    }

    @Test
    void removalDoesNotTakeALaterBarrierAway() {
        FaultDriver.of("barrier, removed and set again", run -> {
                    Actor helper = run.helper("helper");
                    barrier(helper).set();
                    run.victim().start(me -> barrier(me).remove());
                    helper.start(me -> {
                        barrier(me).await();
                        barrier(me).set();
                    });
                    run.victim().join();
                    Actor owner = run.helper("owner");
                    if (Set.of(Fault.DROP_AFTER).containsAll(run.struck())) { // the victim has removed the first one
                        helper.join();
                        if (!barrier(owner).isSet()) {
                            run.violated("the later barrier was taken away");
                        }
                    }
                    barrier(owner).remove(); // whatever stands there now, so that the helper goes on in any case
                    helper.join();
                    barrier(owner).remove(); // what the helper may have set after that
                })
                .verify();
    }

    static FaultDriver counting() {
        return FaultDriver.of("latch, counting", run -> {
                    run.rival("counts the same", me -> countDown(me).countDown("victim"));
                    Actor helper = run.helper("helper");
                    countDown(helper).countDown("helper");
                    run.victim().start(me -> {
                        countDown(me).countDown("victim");
                        if (countDown(helper).remaining() != 1) {
                            run.violated("counted twice, or not at all: "
                                    + countDown(helper).remaining() + " are missing");
                        }
                    });
                    run.victim().join();
                    if (countDown(helper).remaining() == 0) {
                        run.violated("counted twice");
                    }
                    countDown(helper).countDown("victim"); // again by a client that takes its place: still counted once
                    if (countDown(helper).remaining() != 1) {
                        run.violated("a name has counted twice");
                    }
                    countDown(helper).countDown();
                    countDown(helper).await();
                })
                .leaving(path -> path.toString().startsWith("/counts/faults/"));
    }

    @Test
    void countIsNeverLostAndNeverMadeTwice() {
        counting().verify();
    }

    @Test
    void countDownIsCreatedCompletely() {
        FaultDriver.of("latch, first count", run -> {
                    run.rival("counts the same", me -> countDown(me).countDown("one"));
                    run.victim().start(me -> countDown(me).countDown("one"));
                    run.victim().join();
                    Actor helper = run.helper("helper");
                    for (String name : new String[] {"one", "two", "three"}) {
                        countDown(helper).countDown(name);
                    }
                    countDown(helper).await();
                    run.settle();
                    countDown(helper).delete();
                })
                .verify();
    }

    @Test
    void waiterGoesOnWithTheLastCountAndNotBefore() {
        FaultDriver.of("latch, waiter", run -> {
                    run.rival("counts the same", me -> countDown(me).countDown("one"));
                    Actor helper = run.helper("helper");
                    run.victim().start(me -> {
                        countDown(me).await();
                        if (countDown(helper).remaining() > 0) {
                            run.violated("the victim went on too early");
                        }
                    });
                    run.untilAtRest();
                    for (String name : new String[] {"one", "two", "three"}) {
                        countDown(helper).countDown(name);
                        run.pause(Duration.ofSeconds(15));
                    }
                    run.victim().join();
                    countDown(helper).delete();
                })
                .leaving(path -> path.toString().startsWith("/counts")) // by a rival that counts at the very end
                .within(Duration.ofMinutes(2))
                .verify();
    }

    @Test
    void deletionLeavesNothing() {
        FaultDriver.of("latch, deletion", run -> {
                    Actor helper = run.helper("helper");
                    countDown(helper).countDown("one");
                    countDown(helper).countDown("two");
                    run.victim().start(me -> countDown(me).delete());
                    run.victim().join();
                    countDown(helper).delete();
                    if (countDown(helper).remaining() != 3) {
                        run.violated("something is left");
                    }
                })
                .verify();
    }

    /** The latches that there were at one path, one after the other, in one run. */
    private static final class Generations {
        private final FaultRun run;
        private int made;
        private int deletedByOthers;
        private int countedBefore;
        private int countedByOthers;
        private int countedNow;
        private long lastMade;
        private boolean isHalfDeleted;

        Generations(FaultRun run, int made) {
            this.run = run;
            this.made = made;
        }

        boolean isThere() {
            return czxid() != 0;
        }

        private long czxid() {
            NodeStat stat = run.store().snapshot().get(NodePath.of("/counts/faults"));
            return stat == null ? 0 : stat.czxid();
        }

        void delete(Actor me) throws InterruptedException {
            countedBefore += 3 - countDown(me).remaining();
            deletedByOthers += isThere() ? 1 : 0;
            countDown(me).delete();
        }

        void count(Actor me) throws InterruptedException {
            boolean isFirst = !isThere();
            made += isFirst ? 1 : 0;
            countDown(me).countDown("rival " + ++countedByOthers);
            countedNow = isFirst ? 1 : countedNow + 1;
            lastMade = isFirst ? czxid() : lastMade;
        }

        /**
         * The one call of the victim; if it fails in the middle, it may leave half of the one that it has found first.
         */
        void deleteOnce(Actor victim) throws InterruptedException {
            isHalfDeleted = true;
            countDown(victim).delete();
            isHalfDeleted = false;
        }

        /** The one that a rival has made last is complete. */
        void checkLast(Actor me) throws InterruptedException {
            if (isHalfDeleted) {
                return;
            }
            if (lastMade != 0 && lastMade == czxid() && 3 - countDown(me).remaining() < countedNow) {
                run.violated("a count was deleted in a later latch, which is still there");
            }
        }
    }

    static FaultDriver countingAndDeletedByOthers() {
        return FaultDriver.of("latch, counting and deleted by others", run -> {
                    Actor helper = run.helper("helper");
                    Generations generations = new Generations(run, 0);
                    run.rival("deletes it", generations::delete);
                    run.rival("deletes it and counts in another one", me -> {
                        generations.delete(me);
                        generations.count(me);
                    });
                    run.victim().start(me -> countDown(me).countDown("victim"));
                    run.victim().join();
                    run.settle();
                    int counted =
                            generations.countedBefore + 3 - countDown(helper).remaining();
                    if (counted - generations.countedByOthers > 1) {
                        run.violated("one call has counted twice");
                    }
                    countDown(helper).delete();
                })
                .explaining(OutcomeUnknownException.class, Fault.absences())
                .requestsAtMost(6, 20)
                .leaving(path -> path.toString().startsWith("/counts"));
    }

    @Test
    void countInADeletedLatchIsNotRepeatedInALaterOne() {
        countingAndDeletedByOthers().verify();
    }

    static FaultDriver deletedAndMadeByOthers() {
        return FaultDriver.of("latch, deleted and made by others", run -> {
                    Actor helper = run.helper("helper");
                    countDown(helper).countDown("one");
                    Generations generations = new Generations(run, 1);
                    run.rival("deletes it and counts in another one", me -> {
                        generations.delete(me);
                        generations.count(me);
                    });
                    run.rival("counts in another one", me -> {
                        if (!generations.isThere()) {
                            generations.count(me);
                        }
                    });
                    run.victim().start(generations::deleteOnce);
                    run.victim().join();
                    run.settle();
                    int present = generations.isThere() ? 1 : 0;
                    if (generations.made - generations.deletedByOthers - present > 1) {
                        run.violated("one call has deleted two latches");
                    }
                    generations.checkLast(helper);
                    countDown(helper).delete();
                })
                .requestsAtMost(6, 20)
                .leaving(path -> path.toString().startsWith("/counts"));
    }

    @Test
    void countDownCreatedSinceIsNotDeletedByTheSameCall() {
        deletedAndMadeByOthers().verify();
    }
}
