package io.conclave.testkit.driver;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.grant.FencingToken;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Each rule of the driver, broken by a scenario made for it. */
class FaultDriverRulesTest {
    private static final NodePath A = NodePath.of("/a");
    /** Held until it is closed, whatever the store says. */
    private static final class Fake implements HeldClaim {
        private final CompletableFuture<LossReason> lost = new CompletableFuture<>();

        @Override
        public Duration remaining() {
            return lost.isDone() ? Duration.ZERO : Duration.ofSeconds(10);
        }

        @Override
        public CompletionStage<LossReason> lost() {
            return lost;
        }

        @Override
        public Optional<FencingToken> token() {
            return Optional.empty();
        }

        @Override
        public void close() {
            lost.complete(LossReason.RELEASED);
        }
    }

    private static void hold(Actor actor, Holding.Kind kind, int weight) {
        actor.hold(actor.granted("", kind, new Fake(), weight));
    }

    private static void assertFound(String rule, FaultDriver driver) {
        String message = assertThrows(FaultFoundError.class, driver::verify).getMessage();
        assertTrue(message.contains(rule), message);
    }

    private static Scenario together(Holding.Kind one, int oneWeight, Holding.Kind other, int otherWeight) {
        return run -> {
            run.victim().start(me -> hold(me, one, oneWeight));
            run.helper("other").start(me -> hold(me, other, otherWeight));
        };
    }

    @Test
    void readersHoldTogetherAndNoWriterBesideThem() {
        Scenario readers = together(Holding.Kind.SHARED, 1, Holding.Kind.SHARED, 1);
        assertEquals(0, FaultDriver.of("readers", readers).verify().total(), "no requests, no faults");
        Scenario readerAndWriter = together(Holding.Kind.SHARED, 1, Holding.Kind.EXCLUSIVE, 1);
        assertFound("two hold at the same time", FaultDriver.of("reader and writer", readerAndWriter));
    }

    @Test
    void noMorePermitsAreHeldThanThereAre() {
        Scenario permits = together(Holding.Kind.PERMIT, 2, Holding.Kind.PERMIT, 1);
        assertDoesNotThrow(
                () -> FaultDriver.of("3 of 3 permits", permits).permits(3).verify());
        assertFound("3 permits of 2", FaultDriver.of("3 of 2 permits", permits).permits(2));
    }

    @Test
    void downgradeEndsTheExclusion() {
        FaultDriver.of("downgrade", run -> {
                    Holding writer = run.victim().granted("", Holding.Kind.EXCLUSIVE, new Fake(), 1);
                    writer.becomes(Holding.Kind.SHARED);
                    hold(run.helper("reader"), Holding.Kind.SHARED, 1);
                    writer.release();
                })
                .verify();
    }

    @Test
    void aGrantThatIsNeverReleasedIsFound() {
        assertFound("never released", FaultDriver.of("keeper", run -> run.victim()
                .granted("", Holding.Kind.SHARED, new Fake(), 1)));
    }

    @Test
    void swallowedInterruptIsFound() {
        assertFound("neither threw InterruptedException nor kept", FaultDriver.of("deaf", run -> run.victim()
                .start(me -> {
                    try {
                        me.coordinator().execute(Exists.of(A));
                        run.pause(Duration.ofSeconds(1));
                    } catch (InterruptedException e) {
                        // as if nothing had been
                    }
                })));
    }

    @Test
    void unknownOutcomeIsNoAnswerUnlessTheScenarioSaysSo() {
        Scenario write = run -> {
            run.helper("founder").coordinator().execute(Create.of(A));
            run.victim().start(me -> me.coordinator().execute(SetData.of(A, new byte[0])));
        };
        assertFound("no fault explains", FaultDriver.of("write", write));
        assertDoesNotThrow(() -> FaultDriver.of("write that says so", write)
                .explaining(OutcomeUnknownException.class, Fault.values())
                .verify());
    }

    @Test
    void persistentZnodeThatStaysBehindIsFound() {
        assertFound("left behind, and not by a clean run", FaultDriver.of("litter", run -> run.victim()
                .start(me -> {
                    try {
                        me.coordinator().execute(Create.of(A));
                        me.coordinator().execute(Delete.of(A));
                    } catch (OutcomeUnknownException e) {
                        // it may be there
                    }
                })));
    }

    @Test
    void ephemeralZnodeThatWaitsForTheEndOfItsSessionIsFound() {
        Scenario member = run ->
                run.victim().start(me -> me.coordinator().execute(Create.of(A).withMode(CreateMode.EPHEMERAL)));
        assertFound("left behind while its session lives", FaultDriver.of("member", member));
        assertDoesNotThrow(() -> FaultDriver.of("member for long", member)
                .keepingZnodesUntilTheEnd()
                .explaining(OutcomeUnknownException.class, Fault.values())
                .verify());
    }

    @Test
    void requestsWithoutEndAreFound() {
        assertFound("requests", FaultDriver.of("eager", run -> run.victim().start(me -> {
            boolean known = false;
            for (int attempt = 0; attempt < 100 && !known; attempt++) {
                me.coordinator().execute(Exists.of(A));
                known = run.struck().isEmpty();
            }
        })));
    }

    @Test
    void checkAfterwardsSeesEveryRun() {
        FaultDriver driver = FaultDriver.of("checked", run -> run.victim()
                        .start(me -> me.coordinator().execute(Exists.of(A))))
                .afterwards(run -> {
                    if (!run.isClean()) {
                        run.violated("seen after " + run.struck());
                    }
                });
        assertFound("seen after [DROP_BEFORE]", driver);
    }

    /** A victim that sends one request, waits for a while and sends another one, whatever becomes of them. */
    private static void sendTwo(FaultRun run, Actor me) throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            try {
                me.coordinator().execute(Create.of(A));
            } catch (ConclaveException e) {
                // it may be there, or the outcome unknown
            }
            run.pause(Duration.ofMillis(500));
        }
    }

    @Test
    void rivalActsWhileTheVictimIsAway() {
        AtomicInteger acted = new AtomicInteger();
        FaultReport report = FaultDriver.of("rival", run -> {
                    long session =
                            RecipeAccess.session(run.victim().coordinator()).id();
                    run.rival("looks", me -> {
                        acted.incrementAndGet();
                        Fault absence = run.struck().iterator().next();
                        boolean lives = run.store().faults().liveSessions().contains(session);
                        if (absence.endsSession() == lives) {
                            run.violated(absence + ", but session lives: " + lives);
                        }
                        // The victim's own thread hears of the cut a moment after it.
                        Awaitility.await().until(() -> run.victim().isConnected() == absence.stopsProcess());
                    });
                    run.victim().start(me -> sendTwo(run, me));
                })
                .leaving(A::equals)
                .pairs(0)
                .also("0:STOPPED/looks")
                .also("0:GONE_BEFORE/looks")
                .also("0:STOPPED_PAST_SESSION_AT_REST/looks")
                .afterwards(run -> {
                    run.settle();
                    boolean wasAway = run.struck().stream().anyMatch(Fault::isAbsence);
                    if (wasAway && !run.victim().isConnected()) {
                        run.violated("the victim has not come back");
                    }
                })
                .verify();
        assertTrue(acted.get() >= 3 + report.cleanRequests(), report::toString);
    }

    @Test
    void nothingRunsInAStoppedProcess() {
        AtomicInteger steps = new AtomicInteger();
        FaultDriver.of("stopped", run -> {
                    run.rival("waits", me -> {
                        int before = steps.get();
                        run.pause(Duration.ofSeconds(3));
                        boolean isStopped =
                                run.struck().stream().filter(Fault::isAbsence).allMatch(Fault::stopsProcess);
                        if (isStopped && steps.get() != before) {
                            run.violated("the victim went on while it was stopped");
                        }
                    });
                    run.victim().start(me -> {
                        RecipeAccess.session(me.coordinator())
                                .time()
                                .schedule(Duration.ofSeconds(2), steps::incrementAndGet);
                        for (int i = 0; i < 4; i++) {
                            sendTwo(run, me);
                            steps.incrementAndGet();
                        }
                    });
                })
                .leaving(A::equals)
                .verify();
        assertTrue(steps.get() > 0);
    }

    @Test
    void rivalThatFailsIsFound() {
        assertFound(
                "rival that fails failed",
                FaultDriver.of("failing rival", run -> {
                            run.rival("fails", me -> me.coordinator().execute(Delete.of(A)));
                            run.victim().start(me -> me.coordinator().execute(Exists.of(A)));
                        })
                        .explaining(OutcomeUnknownException.class, Fault.values()));
    }

    @Test
    void everyWayToBeAwayIsTriedIfAskedFor() {
        FaultReport report = FaultDriver.of("all absences", run -> {
                    run.rival("does nothing", me -> {});
                    run.rival("does nothing either", me -> {});
                    run.victim().start(me -> sendTwo(run, me));
                })
                .leaving(A::equals)
                .tryingAllAbsences()
                .verify();
        for (Fault absence : Fault.absences()) {
            assertEquals(4, report.runs().get(absence.toString()), report::toString);
        }
    }

    private static FaultDriver writer() {
        return FaultDriver.of("writer", run -> {
                    run.helper("founder").coordinator().execute(Create.of(A));
                    run.victim().start(me -> me.coordinator().execute(SetData.of(A, new byte[0])));
                })
                .explaining(OutcomeUnknownException.class, Fault.values())
                .leaving(A::equals);
    }

    @Test
    void plantedMistakeThatChangesNothingIsNotFoundAndIsNotThereAfterwards() {
        FaultDriver driver = writer();
        Mistake harmless = Mistake.forgetsVersions("set /another");
        String message =
                assertThrows(AssertionError.class, () -> driver.find(harmless)).getMessage();
        assertTrue(message.contains("was not found in"), message);
        Mistake silent = Mistake.doesNotHearOfLostReply("set /a");
        assertTrue(driver.find(silent).getMessage().contains("lost wake-up"));
        driver.verify();
    }

    @Test
    void plantedMistakeThatShowsWithoutAFaultIsRefused() {
        Mistake obvious = Mistake.leavesOut("set /a", "multi.*").and(Mistake.stopsOnlyWhenTold());
        FaultDriver driver = FaultDriver.of("transaction", run -> {
                    run.helper("founder").coordinator().execute(Create.of(A));
                    run.victim().start(me -> me.coordinator().execute(Multi.of(SetData.of(A, new byte[] {1}))));
                    run.victim().join();
                    if (run.isClean() && run.store().snapshot().get(A).version() == 0) {
                        run.violated("nothing was set");
                    }
                })
                .leaving(A::equals);
        String message =
                assertThrows(AssertionError.class, () -> driver.find(obvious)).getMessage();
        assertTrue(message.contains("shows without any fault"), message);
    }
}
