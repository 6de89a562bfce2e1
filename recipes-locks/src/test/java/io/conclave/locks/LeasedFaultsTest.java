package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.Scenario;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of those who acquire, extend, resume and release leases: two never hold, nobody waits for
 * longer than a lease, and no call that ends leaves a lease behind, although no session takes it along.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class LeasedFaultsTest {
    private static final String PATH = "/leases/faults";
    /** Longer than any fault lasts. */
    private static final Duration LEASE = Duration.ofMinutes(2);

    /** Longer than the victim is away, and shorter than it would take to find out that a lease is nobody's. */
    private static final Duration PATIENCE = LEASE.minusSeconds(10);

    private static final Duration SHORT = Duration.ofSeconds(30);

    private static LeasedLock lock(Actor actor) {
        return LeasedLock.at(actor.coordinator(), PATH, LEASE);
    }

    private static LeasedSemaphore semaphore(Actor actor) {
        return LeasedSemaphore.at(actor.coordinator(), PATH, 3, LEASE);
    }

    private static FaultDriver driver(String name, Scenario scenario) {
        return FaultDriver.of("lease, " + name, scenario)
                .leaving(path -> path.toString().startsWith("/leases") && !isLease(path.name()))
                .within(Duration.ofMinutes(5));
    }

    private static boolean isLease(String name) {
        return LeaseLayout.isLease(name);
    }

    private static void takesIt(FaultRun run) {
        run.rival("takes it if it can", me -> {
            try {
                me.hold(lock(me).acquire(Duration.ofSeconds(12))); // longer than the victim's session lives
            } catch (AcquireTimeoutException somebodyHolds) {
                // that is as good
            }
        });
    }

    private static void rivals(FaultRun run) {
        takesIt(run);
        run.rival("throws it out of the line", me -> run.deleteZnodesOfVictim());
    }

    /** Other processes that go on with leases, and rely on what they have made of them. */
    private static final class Successors {
        private final FaultRun run;
        private final Queue<LeasedGrant> resumed = new ConcurrentLinkedQueue<>();

        Successors(FaultRun run) {
            this.run = run;
            run.rival("goes on with it for longer", this::goOn);
        }

        private void goOn(Actor me) throws InterruptedException {
            LeasedLock longer = LeasedLock.at(me.coordinator(), PATH, LEASE.multipliedBy(2));
            for (LeaseHolder holder : longer.holders()) {
                longer.resume(holder.id()).ifPresent(resumed::add);
            }
        }

        /** Others must not take a lease while one who has gone on with it holds it. */
        void checkLengths(Actor observer) throws InterruptedException {
            List<LeaseHolder> seen = lock(observer).holders();
            for (LeasedGrant grant : resumed) {
                boolean isShorter = seen.stream()
                        .anyMatch(holder ->
                                holder.id().equals(grant.id()) && holder.lease().compareTo(grant.lease()) < 0);
                if (isShorter && grant.isHeld()) {
                    run.violated("others see a shorter lease than one who has gone on with it: " + seen);
                }
            }
        }

        /** To be asked when everybody has had the time to hear of it. */
        void checkNotHeld(String id) {
            resumed.stream()
                    .filter(grant -> grant.id().equals(id) && grant.isHeld())
                    .forEach(grant -> run.violated("goes on with what is released, and says that it holds: " + grant));
        }

        void close() {
            resumed.forEach(LeasedGrant::close);
        }
    }

    private static void releaseAll(Actor me) throws InterruptedException {
        for (LeaseHolder holder : lock(me).holders()) {
            lock(me).release(holder.id());
        }
    }

    /** What goes on behind the scenes is over, and no lease is there. */
    private static void checkNothingLeft(FaultRun run, Actor helper) throws InterruptedException {
        run.settle();
        run.pause(Duration.ofSeconds(30)); // the next session comes, and what it has to remove
        if (!lock(helper).holders().isEmpty()) {
            run.violated("left: " + lock(helper).holders());
        }
    }

    static FaultDriver holder() {
        return driver("hold", run -> {
            rivals(run);
            Actor other = run.helper("other");
            run.victim().start(me -> me.hold(lock(me).acquire()));
            run.untilAtRest();
            other.start(me -> me.hold(lock(me).acquire(PATIENCE)));
            run.victim().join();
            other.join();
            checkNothingLeft(run, other);
        });
    }

    @Test
    void holderIsAloneAndLeavesNothing() {
        holder().verify();
    }

    @Test
    void waiterIsGrantedOrSaysWhyNot() {
        driver("wait", run -> {
                    rivals(run);
                    Actor other = run.helper("other");
                    other.start(me -> me.hold(lock(me).acquire()));
                    run.untilAtRest();
                    run.victim().start(me -> me.hold(me.await(lock(me).acquireAsync())));
                    run.victim().join();
                    other.join();
                    checkNothingLeft(run, other);
                })
                .verify();
    }

    @Test
    void waiterThatTimesOutOrIsInterruptedLeavesNothing() {
        driver("time-out and interrupt", run -> {
                    rivals(run);
                    Actor other = run.helper("other");
                    LeasedGrant grant = lock(other).acquire();
                    run.victim().start(me -> lock(me).acquire(Duration.ofSeconds(5)));
                    run.victim().join();
                    run.victim().start(me -> lock(me).acquire());
                    run.untilAtRest();
                    run.interruptVictim();
                    run.victim().join();
                    grant.close();
                    checkNothingLeft(run, other);
                })
                .expecting(AcquireTimeoutException.class)
                .expecting(InterruptedException.class)
                .verify();
    }

    @Test
    void tryIsAnsweredAtOnce() {
        driver("try", run -> {
                    rivals(run);
                    run.victim().start(me -> {
                        me.unlessTheStoreIsSilent(() -> lock(me).tryAcquire().ifPresent(me::hold));
                        me.unlessTheStoreIsSilent(() -> lock(me).tryAcquire().ifPresent(me::hold));
                    });
                    run.victim().join();
                    checkNothingLeft(run, run.helper("other"));
                })
                .verify();
    }

    /** The victim has died without a word, as far as others can tell: it never releases. */
    static FaultDriver abandoned() {
        return driver("abandoned", run -> {
            Queue<LeasedGrant> abandoned = new ConcurrentLinkedQueue<>();
            Actor other = run.helper("other");
            rivals(run);
            run.victim()
                    .start(me -> abandoned.add(
                            LeasedLock.at(me.coordinator(), PATH, SHORT).acquire()));
            run.victim().join();
            other.start(me -> {
                LeasedGrant grant = lock(me).acquire(LEASE);
                abandoned.stream().filter(LeasedGrant::isHeld).forEach(old -> run.violated("two hold: " + old));
                me.hold(grant);
            });
            other.join();
            checkNothingLeft(run, other);
        });
    }

    @Test
    void leaseThatIsNotReleasedEndsForItsHolderFirst() {
        abandoned().verify();
    }

    private static String leaveLeaseOfDeadProcess(Actor helper) throws InterruptedException {
        String id = LeaseLayout.newId();
        byte[] data = new LeaseRecord(SHORT, 1, "dead").encoded();
        for (String parent : new String[] {"/leases", PATH}) {
            helper.coordinator().execute(Create.of(NodePath.of(parent)));
        }
        helper.coordinator().execute(Create.of(NodePath.of(PATH).child(id)).withData(data));
        return id;
    }

    /** The victim takes what a dead process has left; while it is about to, another process goes on with that. */
    static FaultDriver successor() {
        return driver("successor", run -> {
                    Queue<LeasedGrant> resumed = new ConcurrentLinkedQueue<>();
                    Actor other = run.helper("other");
                    String id = leaveLeaseOfDeadProcess(other);
                    run.rival("goes on with it", me -> {
                        Optional<LeasedGrant> grant =
                                LeasedLock.at(other.coordinator(), PATH, SHORT).resume(id);
                        grant.ifPresent(one -> {
                            resumed.add(one);
                            one.lost().thenAccept(reason -> {
                                if (reason == LossReason.NODE_DELETED) {
                                    run.violated("taken from one who has just gone on with it");
                                }
                            });
                        });
                    });
                    takesIt(run);
                    run.victim().start(me -> {
                        LeasedGrant grant = lock(me).acquire();
                        resumed.stream().filter(LeasedGrant::isHeld).forEach(old -> run.violated("two hold: " + old));
                        me.hold(grant);
                    });
                    run.victim().join();
                    run.pause(LEASE);
                    LeasedGrant last = lock(other).acquire(LEASE); // whatever the others have left
                    last.close();
                    checkNothingLeft(run, other);
                })
                .tryingAllAbsences();
    }

    @Test
    void deadHoldersLeaseIsTakenUnlessSomebodyGoesOnWithIt() {
        successor().verify();
    }

    static FaultDriver extender() {
        return driver("extend", run -> {
                    takesIt(run);
                    Successors successors = new Successors(run);
                    Actor other = run.helper("other");
                    run.victim().start(me -> {
                        LeasedGrant grant = lock(me).acquire();
                        for (int i = 0; i < 2; i++) {
                            grant.extend(LEASE);
                            if (grant.remaining().compareTo(LEASE.dividedBy(2)) < 0) {
                                run.violated("extended, and only " + grant.remaining() + " remain");
                            }
                        }
                        successors.checkLengths(other);
                        me.hold(grant);
                    });
                    other.start(me -> me.hold(lock(me).acquire()));
                    run.victim().join();
                    other.join();
                    successors.close();
                    run.pause(LEASE); // of a victim that was interrupted, and never released
                    // who goes on with it makes it twice as long, and that is waited for from when it was seen
                    lock(other).acquire(LEASE.multipliedBy(3)).close();
                    checkNothingLeft(run, other);
                })
                .within(Duration.ofMinutes(15));
    }

    @Test
    void extensionTakesEffectOverLostConnectionsAndSessions() {
        extender().verify();
    }

    /** While the victim extends what it holds, another process releases it and takes it. */
    static FaultDriver extendedAndTaken() {
        return driver("extend what others take", run -> {
                    Queue<LeasedGrant> held = new ConcurrentLinkedQueue<>();
                    Queue<LeasedGrant> taken = new ConcurrentLinkedQueue<>();
                    run.rival("releases it and takes it", me -> {
                        if (!lock(me).holders().isEmpty()) {
                            releaseAll(me);
                            taken.add(lock(me).acquire());
                        }
                    });
                    run.victim().start(me -> {
                        LeasedGrant grant = lock(me).acquire();
                        held.add(grant);
                        grant.extend(LEASE);
                        grant.extend(LEASE);
                    });
                    run.victim().join();
                    run.settle();
                    run.pause(Duration.ofSeconds(30)); // the victim is connected again
                    List<LeasedGrant> holders = Stream.concat(held.stream(), taken.stream())
                            .filter(LeasedGrant::isHeld)
                            .toList();
                    if (holders.size() > 1) {
                        run.violated("two hold: " + holders);
                    }
                    run.victim().start(me -> held.forEach(LeasedGrant::close));
                    run.victim().join();
                    run.settle(); // a rival may be about to take it
                    taken.forEach(LeasedGrant::close);
                    checkNothingLeft(run, run.helper("other"));
                })
                // taken before it knew that it was granted, or extended
                .explaining(GrantLostException.class, Fault.absences());
    }

    @Test
    void extensionDoesNotRestoreWhatAnotherHasTaken() {
        extendedAndTaken().verify();
    }

    /** Another process releases what the victim holds. */
    static FaultDriver released() {
        return driver("released by another", run -> {
                    Queue<LeasedGrant> held = new ConcurrentLinkedQueue<>();
                    Actor other = run.helper("other");
                    run.rival("releases it as well", LeasedFaultsTest::releaseAll);
                    Successors successors = new Successors(run);
                    run.victim().start(me -> held.add(lock(me).acquire()));
                    run.victim().join();
                    run.untilAtRest();
                    releaseAll(other);
                    LeasedGrant next = lock(other).acquire(LEASE);
                    run.settle();
                    run.pause(Duration.ofSeconds(30)); // the victim is connected again
                    held.forEach(grant -> successors.checkNotHeld(grant.id()));
                    held.stream()
                            .filter(LeasedGrant::isHeld)
                            .forEach(old -> run.violated("says that it holds: " + old));
                    next.close();
                    checkNothingLeft(run, other);
                })
                // released before it knew that it was granted
                .explaining(GrantLostException.class, Fault.absences());
    }

    @Test
    void holderHearsThatItWasReleasedByAnother() {
        released().verify();
    }

    /** As the former, while the victim is away. */
    static FaultDriver releasedWhileAway() {
        return driver("released while it is away", run -> {
                    Queue<LeasedGrant> held = new ConcurrentLinkedQueue<>();
                    run.rival("releases it by its id", LeasedFaultsTest::releaseAll);
                    Actor other = run.helper("other");
                    run.victim().start(me -> {
                        held.add(lock(me).acquire());
                        run.pause(Duration.ofSeconds(5));
                    });
                    run.victim().join();
                    run.settle();
                    run.pause(Duration.ofSeconds(30)); // the victim is connected again
                    boolean isThere = !lock(other).holders().isEmpty();
                    if (!isThere) {
                        held.stream()
                                .filter(LeasedGrant::isHeld)
                                .forEach(old -> run.violated("says that it holds: " + old));
                    }
                    run.victim().start(me -> held.forEach(LeasedGrant::close));
                    run.victim().join();
                    checkNothingLeft(run, other);
                })
                // released before it knew that it was granted
                .explaining(GrantLostException.class, Fault.absences());
    }

    @Test
    void holderHearsThatItWasReleasedWhileItWasAway() {
        releasedWhileAway().verify();
    }

    /** The victim goes on with what another process has left, and releases that and a second one by its id. */
    static FaultDriver resume() {
        return driver("resume", run -> {
            Actor other = run.helper("other");
            LeasedGrant left = semaphore(other).acquire();
            LeasedGrant second = semaphore(other).acquire();
            AtomicBoolean areReleased = new AtomicBoolean();
            run.rival("releases them", me -> {
                areReleased.set(true);
                releaseAll(me);
            });
            Successors successors = new Successors(run);
            AtomicBoolean isDone = new AtomicBoolean();
            run.victim().start(me -> {
                Optional<LeasedGrant> grant = semaphore(me).resume(left.id());
                if (grant.isPresent()) {
                    successors.checkLengths(other);
                    grant.get().close();
                } else if (!areReleased.get()) {
                    run.violated("it is there, and was not found");
                }
                if (!semaphore(me).release(second.id()) && !areReleased.get()) {
                    run.violated("it is there, and was not released");
                }
                isDone.set(true);
            });
            run.victim().join();
            run.settle();
            run.pause(Duration.ofSeconds(30));
            if (isDone.get()) {
                successors.checkNotHeld(left.id());
                successors.checkNotHeld(second.id());
            }
            left.close(); // if the victim was interrupted
            second.close();
            successors.close();
            checkNothingLeft(run, other);
        });
    }

    @Test
    void processThatGoesOnWithALeaseReleasesIt() {
        resume().verify();
    }

    @Test
    void noMorePermitsAreOutThanThereAre() {
        driver("permits", run -> {
                    run.rival("takes two if it can", me -> {
                        try {
                            me.hold(semaphore(me).together(2).acquire(Duration.ofSeconds(12)), 2);
                        } catch (AcquireTimeoutException othersHold) {
                            // that is as good
                        }
                    });
                    run.rival("throws it out of the line", me -> run.deleteZnodesOfVictim());
                    Actor other = run.helper("other");
                    Actor third = run.helper("third");
                    other.start(me -> me.hold(semaphore(me).acquire(), 1));
                    run.victim().start(me -> me.hold(semaphore(me).together(2).acquire(), 2));
                    run.victim().start(me -> me.hold(semaphore(me).acquire(), 1));
                    third.start(me -> me.hold(semaphore(me).together(3).acquire(), 3));
                    run.victim().join();
                    other.join();
                    third.join();
                    checkNothingLeft(run, other);
                })
                .permits(3)
                .verify();
    }
}
