package io.conclave.commit;

import static io.conclave.commit.AwayInitiator.PATH;
import static io.conclave.commit.AwayInitiator.TRANSACTION;
import static io.conclave.commit.AwayInitiator.awaitThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A recovery that is cut off while it decides, and whose session lives on while others finish the transaction. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class LateRecoveryTest {
    /** The decision to commit, with a check of each vote. */
    private static final Predicate<Request<?>> COMMIT = request -> request instanceof Multi multi
            && multi.operations().stream()
                    .anyMatch(
                            one -> one instanceof Create create && create.path().equals(TRANSACTION.child("decision")));

    private static final Predicate<Request<?>> LOOK =
            request -> request instanceof Exists exists && exists.path().equals(TRANSACTION.child("decision"));

    /** The initiator is dead, all sites have voted to commit and are cut off, and nobody has decided. */
    private static AwayInitiator undecided() {
        AwayInitiator away = new AwayInitiator();
        away.cutOffBehindTheBeginning();
        away.commit(away.initiator);
        away.awaitVotes();
        away.store().faults().suspend(RecipeAccess.session(away.sites).id());
        away.expireInitiator();
        return away;
    }

    private static Coordinator connectByAStandingClock(AwayInitiator away) {
        return Coordinator.builder("memory:" + away.store)
                .timeSource(new ManualTimeSource())
                .sessionTimeout(Duration.ofHours(24))
                .connect();
    }

    private static void awaitCutOff(Coordinator coordinator) {
        awaitThat(() -> RecipeAccess.session(coordinator).state() == SessionState.SUSPENDED);
    }

    private static void othersFinish(AwayInitiator away) {
        away.store().faults().restore(RecipeAccess.session(away.sites).id());
        away.successorCleansUp();
    }

    private static void assertEnds(CompletableFuture<Map<String, io.conclave.commit.Decision>> recovery)
            throws Exception {
        assertEquals(Map.of(), recovery.get(120, TimeUnit.SECONDS), "it is finished and deleted");
    }

    @Test
    void recoveryEndsWhenOthersHaveFinishedTheTransactionBeforeItsDecisionArrives() throws Exception {
        try (AwayInitiator away = undecided();
                Coordinator late = connectByAStandingClock(away)) {
            Faults faults = away.store().faults();
            long session = RecipeAccess.session(late).id();
            faults.onNext(session, COMMIT, RequestFate.DROP_BEFORE);
            CompletableFuture<Map<String, io.conclave.commit.Decision>> recovery =
                    TwoPhaseCommit.at(late, PATH).recoverAsync();
            awaitCutOff(late);
            othersFinish(away);
            faults.restore(session);
            assertEnds(recovery);
        }
    }

    @Test
    void recoveryEndsWhenOthersHaveFinishedTheTransactionBeforeItReadsTheirDecision() throws Exception {
        try (AwayInitiator away = undecided();
                Coordinator late = connectByAStandingClock(away)) {
            Faults faults = away.store().faults();
            long session = RecipeAccess.session(late).id();
            faults.onNext(session, COMMIT, RequestFate.DROP_BEFORE);
            CompletableFuture<Map<String, io.conclave.commit.Decision>> recovery =
                    TwoPhaseCommit.at(late, PATH).recoverAsync();
            awaitCutOff(late);
            TwoPhaseCommit.at(away.successor, PATH).recover(); // which decides
            faults.onNext(session, LOOK, RequestFate.DROP_BEFORE);
            faults.restore(session);
            awaitCutOff(late);
            othersFinish(away);
            faults.restore(session);
            assertEnds(recovery);
        }
    }
}
