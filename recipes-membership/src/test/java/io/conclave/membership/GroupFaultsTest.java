package io.conclave.membership;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of a group's runs: no ghosts stay behind, a member comes back unless another client threw
 * it out, and a view ends with what is there.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class GroupFaultsTest {
    private static final String PATH = "/groups/faults";
    private static final Fault[] DELETIONS =
            Arrays.stream(Fault.values()).filter(Fault::deletesNodes).toArray(Fault[]::new);

    private static Group<String> group(Actor actor) {
        return Group.at(actor.coordinator(), PATH, DataCodec.TEXT);
    }

    private static List<String> present(FaultRun run) {
        return run.store().snapshot().keySet().stream()
                .filter(path -> path.parent().filter(NodePath.of(PATH)::equals).isPresent())
                .map(NodePath::name)
                .toList();
    }

    private static boolean wasThrownOut(FaultRun run) {
        return run.struck().stream().anyMatch(Fault::deletesNodes);
    }

    /** What other processes do while the victim is away. */
    private static void rivals(FaultRun run) {
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
        run.rival("joins with its id if it can", me -> {
            try {
                group(me).join("a", "rival", Duration.ofSeconds(5)).close();
            } catch (AcquireTimeoutException taken) {
                // a member is there
            }
        });
    }

    @Test
    void memberThatComesAndGoesDoesNotBlockOthersUnderAnyFault() {
        FaultDriver.of("group, member", run -> {
                    rivals(run);
                    run.victim().start(me -> {
                        try (Membership<String> membership = group(me).join("a", "one")) {
                            run.pause(Duration.ofMillis(500));
                            membership.update("two");
                        }
                    });
                    run.untilAtRest();
                    run.helper("next").start(me -> group(me).join("a", "mine").close());
                })
                .explaining(GrantLostException.class, DELETIONS)
                .verify();
    }

    @Test
    void asynchronousMemberDoesNotBlockOthersUnderAnyFault() {
        FaultDriver.of("group, asynchronous member", run -> {
                    rivals(run);
                    run.victim().start(me -> {
                        Membership<String> membership = me.await(group(me).joinAsync("a", "one"));
                        CompletableFuture<Void> updated = membership.updateAsync("two");
                        try {
                            me.await(updated);
                        } finally {
                            membership.close();
                        }
                    });
                    run.untilAtRest();
                    run.helper("next").start(me -> group(me).join("a", "mine").close());
                })
                .explaining(GrantLostException.class, DELETIONS)
                .verify();
    }

    static FaultDriver memberThatStays() {
        AtomicReference<Membership<String>> membership = new AtomicReference<>();
        return FaultDriver.of("group, staying member", run -> {
                    rivals(run);
                    membership.set(null);
                    run.victim().start(me -> {
                        membership.set(group(me).join("a", "one"));
                        membership.get().updateAsync("two");
                        run.pause(Duration.ofSeconds(1)); // it may be thrown out while it does nothing
                    });
                    run.victim().join();
                })
                .keepingZnodesUntilTheEnd()
                .explaining(GrantLostException.class, DELETIONS)
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40)); // until the next session, should this one have been lost
                    run.untilAtRest();
                    Membership<String> me = membership.get();
                    List<Member<String>> members = group(run.helper("looking")).members();
                    boolean isThere =
                            !members.isEmpty() && members.get(0).payload().equals("two");
                    if (me != null && !isThere && !(wasThrownOut(run) && me.state() == MembershipState.ENDED)) {
                        run.violated(me + " is not seen as it should be: " + members);
                    }
                    if (me == null && !present(run).isEmpty()) {
                        run.violated("the join failed, and left " + present(run));
                    }
                });
    }

    @Test
    void memberThatStaysIsThereInTheEndWithItsLastPayload() {
        memberThatStays().verify();
    }

    static FaultDriver takenId() {
        return FaultDriver.of("group, taken id", run -> {
            rivals(run);
            Membership<String> first = group(run.helper("first")).join("a", "first");
            run.victim().start(me -> group(me).join("a", "second").close());
            run.untilAtRest();
            Actor behind = run.helper("behind");
            behind.start(me -> group(me).join("a", "third").close());
            run.untilAtRest();
            first.close();
        });
    }

    @Test
    void joinThatWaitsForATakenIdGetsItOrLeavesNothing() {
        takenId().verify();
    }

    @Test
    void joinThatTimesOutLeavesNothing() {
        FaultDriver.of("group, giving up", run -> {
                    rivals(run);
                    Membership<String> first = group(run.helper("first")).join("a", "first");
                    run.victim().start(me -> group(me).join("a", "second", Duration.ofSeconds(5)));
                    run.victim().join();
                    first.close();
                    run.helper("behind")
                            .start(me -> group(me).join("a", "third").close());
                })
                .expecting(AcquireTimeoutException.class)
                .verify();
    }

    @Test
    void joinThatIsInterruptedWhileWaitingLeavesNothing() {
        FaultDriver.of("group, interrupted", run -> {
                    rivals(run);
                    Membership<String> first = group(run.helper("first")).join("a", "first");
                    run.victim().start(me -> group(me).join("a", "second"));
                    run.untilAtRest();
                    run.interruptVictim();
                    run.victim().join();
                    first.close();
                    run.helper("behind")
                            .start(me -> group(me).join("a", "third").close());
                })
                .expecting(InterruptedException.class)
                .verify();
    }

    private static FaultDriver view(String name, boolean persistentWatches) {
        AtomicReference<GroupView<String>> view = new AtomicReference<>();
        List<String> problems = new ArrayList<>();
        return FaultDriver.of(name, run -> {
                    if (!persistentWatches) {
                        run.store().faults().withoutPersistentWatches();
                    }
                    problems.clear();
                    run.rival(
                            "joins and leaves",
                            me -> group(me).join("x", "rival").close());
                    Membership<String> a = group(run.helper("a")).join("a", "one");
                    Membership<String> b = group(run.helper("b")).join("b", "two");
                    run.victim().start(me -> {
                        GroupFixture.Told told = new GroupFixture.Told();
                        view.set(group(me).view());
                        view.get().onChange(update -> {
                            told.accept(update);
                            problems.addAll(told.problems());
                        });
                    });
                    run.untilAtRest();
                    a.update("three");
                    b.close();
                    run.untilAtRest();
                    group(run.helper("c")).join("c", "four");
                })
                .keepingZnodesUntilTheEnd()
                .requestsAtMost(5, 20) // it reads all again, on every connection
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40));
                    run.untilAtRest();
                    List<String> seen = GroupFixture.texts(view.get().snapshot().members());
                    if (!seen.equals(List.of("a=three", "c=four"))
                            || !view.get().isCurrent()) {
                        run.violated("the view ends with " + view);
                    }
                    problems.forEach(run::violated);
                });
    }

    @Test
    void viewEndsWithWhatIsThere() {
        view("group, view", true).verify();
    }

    @Test
    void viewByOneShotWatchesEndsWithWhatIsThere() {
        view("group, view by one-shot watches", false).verify();
    }

    static FaultDriver settling() {
        Duration quiet = Duration.ofSeconds(2);
        return FaultDriver.of("group, settling", run -> {
                    AtomicLong changedNanos = new AtomicLong(); // when a member came or went last
                    run.rival("joins and leaves", me -> {
                        group(me).join("x", "rival").close();
                        changedNanos.set(run.time().monotonicNanos());
                    });
                    group(run.helper("a")).join("a", "one");
                    run.victim().start(me -> {
                        List<Member<String>> members = me.await(group(me).settled(quiet));
                        long quietNanos = run.time().monotonicNanos() - changedNanos.get();
                        if (quietNanos < quiet.toNanos()
                                || !GroupFixture.ids(members).equals(List.of("a", "b"))) {
                            run.violated("it settled " + quietNanos + " ns after a change, with " + members);
                        }
                    });
                    run.untilAtRest();
                    run.pause(Duration.ofSeconds(1));
                    group(run.helper("b")).join("b", "two");
                    changedNanos.accumulateAndGet(run.time().monotonicNanos(), Math::max);
                })
                .keepingZnodesUntilTheEnd()
                .requestsAtMost(5, 20); // it looks again, on every connection
    }

    @Test
    void groupSettlesWhenNobodyHasComeOrGoneForTheTime() {
        settling().verify();
    }

    @Test
    void groupIsDeletedUnderEveryFault() {
        FaultDriver.of("group, deletion", run -> {
                    Membership<String> a = group(run.helper("a")).join("a", "one");
                    Membership<String> b = group(run.helper("b")).join("b", "two");
                    run.victim().start(me -> group(me).delete());
                    run.victim().join();
                    a.close();
                    b.close();
                })
                .leaving(path -> path.equals(NodePath.of(PATH))) // if the deletion was interrupted
                .verify();
    }

    /** The groups that there were at one path, one after the other, in one run. */
    private static final class Succession {
        private final FaultRun run;
        private int made = 1;
        private int deletedByOthers;
        private int members;
        private long lastMade;
        private Optional<Membership<String>> lastMember = Optional.empty();

        Succession(FaultRun run) {
            this.run = run;
        }

        void delete(Actor me) throws InterruptedException {
            deletedByOthers += group(me).delete() ? 1 : 0;
        }

        void makeAndJoin(Actor me) throws InterruptedException {
            made += group(me).create() ? 1 : 0;
            lastMade = czxid();
            lastMember = Optional.of(group(me).join("later-" + ++members, "new"));
        }

        private long czxid() {
            NodeStat stat = run.store().snapshot().get(NodePath.of(PATH));
            return stat == null ? 0 : stat.czxid();
        }

        void check() {
            int present = czxid() == 0 ? 0 : 1;
            if (made - deletedByOthers - present > 1) {
                run.violated("one call has deleted two groups");
            }
            boolean isMemberOut = lastMember
                    .filter(member -> member.state() == MembershipState.ENDED)
                    .isPresent();
            if (lastMade != 0 && lastMade == czxid() && isMemberOut) {
                run.violated("a member of a later group was deleted, which is still there");
            }
        }
    }

    static FaultDriver deletedAndMadeByOthers() {
        return FaultDriver.of("group, deleted and made by others", run -> {
                    Actor helper = run.helper("helper");
                    group(helper).create();
                    group(helper).join("a", "one");
                    group(helper).join("b", "two");
                    Succession groups = new Succession(run);
                    run.rival("deletes it and makes it again", me -> {
                        groups.delete(me);
                        groups.makeAndJoin(me);
                    });
                    run.rival("makes it if it is gone", groups::makeAndJoin);
                    run.victim().start(me -> group(me).delete());
                    run.victim().join();
                    run.settle();
                    groups.check();
                })
                .leaving(path -> path.equals(NodePath.of(PATH)))
                .keepingZnodesUntilTheEnd();
    }

    @Test
    void groupCreatedSinceIsNotDeletedByTheSameCall() {
        deletedAndMadeByOthers().verify();
    }

    static FaultDriver madeAndDeletedByOthers() {
        return FaultDriver.of("group, created and deleted by others", run -> {
                    Actor helper = run.helper("helper");
                    AtomicInteger deleted = new AtomicInteger();
                    AtomicInteger made = new AtomicInteger();
                    AtomicInteger madeByVictim = new AtomicInteger();
                    run.rival("deletes it", me -> deleted.addAndGet(group(me).delete() ? 1 : 0));
                    run.rival("makes it", me -> made.addAndGet(group(me).create() ? 1 : 0));
                    run.victim().start(me -> madeByVictim.set(group(me).create() ? 1 : 0));
                    run.victim().join();
                    run.settle();
                    int present = group(helper).exists() ? 1 : 0;
                    if (present + deleted.get() - made.get() > 1) {
                        run.violated("one call has made two groups");
                    }
                    if (madeByVictim.get() > present + deleted.get() - made.get()) {
                        run.violated("it was said to be made by this call");
                    }
                    group(helper).delete();
                })
                .explaining(OutcomeUnknownException.class, Fault.absences());
    }

    @Test
    void groupDeletedByAnotherClientIsNotCreatedAgainByTheSameCall() {
        madeAndDeletedByOthers().verify();
    }
}
