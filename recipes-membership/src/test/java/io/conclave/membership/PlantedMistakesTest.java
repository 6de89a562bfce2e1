package io.conclave.membership;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.membership.TextbookMember.Mistake;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultFoundError;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The fault driver finds the mistakes that groups usually have, and nothing in the same groups without them: so it
 * would find them in ours.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class PlantedMistakesTest {
    private static void found(Object mistake, FaultDriver driver, String sign) {
        FaultFoundError found = assertThrows(FaultFoundError.class, driver::verify);
        System.out.println(mistake + " found after " + found.runs() + " runs, with " + found.plan());
        assertTrue(found.runs() > 0, found::getMessage);
        assertTrue(found.getMessage().contains(sign), found::getMessage);
    }

    private static void foundGroup(FaultRun run) throws InterruptedException {
        run.helper("founder").coordinator().execute(Create.of(TextbookMember.GROUP));
    }

    /**
     * A deletion that was on its way when an operator threw the member out may meet the next one: a znode's name is all
     * that it can say.
     */
    private static boolean mayComeTooLate(FaultRun run) {
        return run.struck().size() > 1 && run.struck().stream().anyMatch(Fault::deletesNodes);
    }

    /** A member that comes and goes, and another one that waits for its name. */
    private static FaultDriver leaving(Mistake... mistakes) {
        return FaultDriver.of("planted: member that leaves " + List.of(mistakes), run -> {
            foundGroup(run);
            run.victim().start(me -> {
                TextbookMember member = new TextbookMember(me.coordinator(), "a", mistakes);
                member.join();
                try {
                    run.pause(Duration.ofMillis(500));
                } finally {
                    member.leave();
                }
            });
            run.untilAtRest();
            run.helper("next").start(me -> {
                TextbookMember member = new TextbookMember(me.coordinator(), "a");
                member.join();
                run.pause(Duration.ofSeconds(30));
                if (!member.isThere() && !mayComeTooLate(run)) {
                    run.violated("next was thrown out");
                }
                member.leave();
            });
        });
    }

    /** A member that stays: it is there in the end unless it was thrown out. */
    private static FaultDriver staying(Mistake... mistakes) {
        AtomicReference<TextbookMember> joined = new AtomicReference<>();
        return FaultDriver.of("planted: member that stays " + List.of(mistakes), run -> {
                    joined.set(null);
                    foundGroup(run);
                    run.victim().start(me -> {
                        TextbookMember member = new TextbookMember(me.coordinator(), "a", mistakes);
                        member.join();
                        joined.set(member);
                        run.pause(Duration.ofMillis(500)); // a moment for faults that strike when everybody waits
                    });
                })
                .keepingZnodesUntilTheEnd()
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40)); // until the next session, should this one have been lost
                    boolean mayBeOut = run.struck().stream().anyMatch(Fault::deletesNodes);
                    boolean isThere = run.store().snapshot().containsKey(TextbookMember.GROUP.child("a"));
                    if (joined.get() != null && !isThere && !mayBeOut) {
                        run.violated("the member has joined, and is not there");
                    }
                    if (joined.get() == null && isThere) {
                        run.violated("left behind by a join that failed");
                    }
                });
    }

    private static FaultDriver view(boolean repeatsLostReads) {
        AtomicReference<TextbookView> view = new AtomicReference<>();
        return FaultDriver.of("planted: view" + (repeatsLostReads ? "" : ", lost reads not repeated"), run -> {
                    foundGroup(run);
                    run.victim().start(me -> {
                        view.set(new TextbookView(me.coordinator(), TextbookMember.GROUP, repeatsLostReads));
                        view.get().begin();
                    });
                    run.untilAtRest();
                    new TextbookMember(run.helper("a").coordinator(), "a").join();
                    run.untilAtRest();
                    new TextbookMember(run.helper("b").coordinator(), "b").join();
                })
                .keepingZnodesUntilTheEnd()
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40));
                    run.untilAtRest();
                    if (!view.get().names().equals(List.of("a", "b"))) {
                        run.violated("the view ends with " + view.get().names());
                    }
                });
    }

    @Test
    void groupsWithoutMistakesPass() {
        assertTrue(leaving().verify().total() > 50);
        assertTrue(staying().verify().total() > 50);
        assertTrue(view(true).verify().total() > 50);
    }

    @Test
    void leavingByNameIsFound() {
        found(Mistake.LEAVES_BY_NAME, leaving(Mistake.LEAVES_BY_NAME), "next was thrown out");
    }

    @Test
    void interruptedJoinThatForgetsItsNodeIsFound() {
        found(
                Mistake.FORGETS_ITS_NODE_ON_INTERRUPT,
                staying(Mistake.FORGETS_ITS_NODE_ON_INTERRUPT),
                "left behind by a join that failed");
    }

    @Test
    void memberThatDoesNotJoinAgainIsFound() {
        found(Mistake.DOES_NOT_JOIN_AGAIN, staying(Mistake.DOES_NOT_JOIN_AGAIN), "is not there");
    }

    @Test
    void viewThatDoesNotRepeatALostReadIsFound() {
        found("DOES_NOT_REPEAT_A_LOST_READ", view(false), "the view ends with");
    }

    /** Deletes a group, and after a lost reply whatever is there then. */
    private static void deleteAgain(Actor me) throws InterruptedException {
        while (true) {
            try {
                me.coordinator().execute(Delete.of(TextbookMember.GROUP));
                return;
            } catch (OutcomeUnknownException unknown) {
                // again: but it may be another group by now
            } catch (RefusedException gone) {
                return;
            }
        }
    }

    @Test
    void groupThatIsDeletedAgainAfterItsNextCreationIsFound() {
        AtomicInteger made = new AtomicInteger();
        FaultDriver driver = FaultDriver.of("planted: group deleted again", run -> {
                    foundGroup(run);
                    made.set(1);
                    run.rival("makes it if it is gone", me -> {
                        if (me.coordinator()
                                .execute(Exists.of(TextbookMember.GROUP))
                                .isEmpty()) {
                            me.coordinator().execute(Create.of(TextbookMember.GROUP));
                            made.incrementAndGet();
                        }
                    });
                    run.victim().start(PlantedMistakesTest::deleteAgain);
                    run.victim().join();
                    run.settle();
                    boolean isThere = run.store().snapshot().containsKey(TextbookMember.GROUP);
                    if (made.get() - (isThere ? 1 : 0) > 1) {
                        run.violated("one call has deleted two groups");
                    }
                })
                .leaving(TextbookMember.GROUP::equals);
        FaultFoundError error = assertThrows(FaultFoundError.class, driver::verify);
        System.out.println("group deleted again found after " + error.runs() + " runs, with " + error.plan());
        assertTrue(error.runs() > 0 && error.runs() <= 20, error::getMessage);
        assertTrue(error.getMessage().contains("deleted two groups"), error::getMessage);
    }
}
