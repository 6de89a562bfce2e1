package io.conclave.commit;

import static io.conclave.commit.AwayInitiator.PATH;
import static io.conclave.commit.AwayInitiator.SITES;
import static io.conclave.commit.AwayInitiator.TRANSACTION;
import static io.conclave.commit.AwayInitiator.awaitThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.recipe.Waiting;
import io.conclave.testkit.memory.RequestFate;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A transaction begins at most once, and commit() tells the truth, whatever others do while the initiator is away. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class BegunOnceTest {
    private static io.conclave.commit.Decision get(CompletableFuture<io.conclave.commit.Decision> stage)
            throws Exception {
        return stage.get(120, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletableFuture<io.conclave.commit.Decision> stage) {
        return Waiting.cause(assertThrows(ExecutionException.class, () -> get(stage)));
    }

    private static void assertToldOnce(AwayInitiator away) {
        for (String site : SITES) {
            assertEquals(List.of(site + " prepare", site + " COMMIT"), away.toldTo(site));
        }
    }

    @ParameterizedTest
    @EnumSource(Vote.class)
    void initiatorThatLostReplyAndSessionLearnsWhatTheOthersHaveFinished(Vote laterVote) throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.vote(laterVote);
            away.onBeginning(RequestFate.DROP_AFTER);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            away.othersFinishWithoutTheInitiator();
            away.initiatorComesBackWithANewSession();
            assertTrue(get(stage).isCommit());
            assertToldOnce(away);
            assertEquals(1, away.beginnings.size(), "sent again");
        }
    }

    @Test
    void initiatorThatLostItsSessionAfterTheBeginningLearnsWhatTheOthersHaveFinished() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.cutOffBehindTheBeginning();
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            away.othersFinishWithoutTheInitiator();
            away.initiatorComesBackWithANewSession();
            assertTrue(get(stage).isCommit());
            assertToldOnce(away);
        }
    }

    @Test
    void initiatorThatLosesItsSessionWhileItLooksLooksAgain() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.onBeginning(RequestFate.DROP_AFTER);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            away.awaitVotes();
            away.cutOffWhenItLooks();
            away.initiatorComesBackWithItsSession();
            awaitThat(() -> away.looks.get() > 0);
            away.expireInitiator();
            away.successorCleansUp();
            away.initiatorComesBackWithANewSession();
            assertTrue(get(stage).isCommit());
            assertToldOnce(away);
        }
    }

    @Test
    void beginningThatNeverArrivedIsNotSentOnTheNextSession() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.onBeginning(RequestFate.DROP_BEFORE);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            awaitThat(() -> !away.beginnings.isEmpty());
            away.expireInitiator();
            away.initiatorComesBackWithANewSession();
            assertFalse(get(stage).isCommit());
            assertEquals(List.of(), away.told);
            // what was under way arrives late, from whatever session
            RefusedException late =
                    assertThrows(RefusedException.class, () -> away.successor.execute(away.beginnings.get(0)));
            assertEquals(RefusalReason.NO_NODE, late.reason(), late::getMessage);
            assertFalse(TwoPhaseCommit.at(away.successor, PATH)
                    .decision("t1")
                    .orElseThrow()
                    .isCommit());
        }
    }

    @Test
    void initiatorThatFindsNothingSaysThatItDoesNotKnow() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.onBeginning(RequestFate.DROP_AFTER);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            away.othersFinishWithoutTheInitiator();
            away.operatorDeletes(PATH + "/records/.*/t1");
            away.initiatorComesBackWithANewSession();
            assertInstanceOf(OutcomeUnknownException.class, failure(stage));
            assertToldOnce(away);
        }
    }

    @Test
    void initiatorWithALiveSessionDoesNotBeginADeletedTransactionAgain() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.onBeginning(RequestFate.DROP_AFTER);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            awaitThat(() ->
                    away.toldTo("berlin").size() == 1 && away.toldTo("paris").size() == 1);
            away.operatorDeletes(PATH + "/(transactions|sites|records)/.*");
            away.initiatorComesBackWithItsSession();
            assertInstanceOf(OutcomeUnknownException.class, failure(stage));
            assertEquals(2, away.told.size(), away.told::toString);
        }
    }

    /** A server looks at its limits before it tries any operation: it has not looked for the ticket. */
    @ParameterizedTest
    @EnumSource(names = {"LIMIT_EXCEEDED", "BAD_ARGUMENTS", "INVALID_ACL", "UNSUPPORTED"})
    void begunTransactionIsNotTakenForRefusedWhenALimitRefusesItsSecondBeginning(RefusalReason limit) throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.onBeginning(RequestFate.DROP_AFTER);
            away.refuseLaterBeginnings(limit);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            away.awaitVotes();
            away.initiatorComesBackWithItsSession();
            assertTrue(get(stage).isCommit());
            awaitThat(() -> !away.isThere(TRANSACTION));
            assertToldOnce(away);
        }
    }

    @Test
    void beginningThatNeverArrivedIsWithdrawnWhenALimitRefusesTheSecond() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.onBeginning(RequestFate.DROP_BEFORE);
            away.refuseLaterBeginnings(RefusalReason.LIMIT_EXCEEDED);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            awaitThat(() -> !away.beginnings.isEmpty());
            away.initiatorComesBackWithItsSession();
            RefusedException refused = assertInstanceOf(RefusedException.class, failure(stage));
            assertEquals(RefusalReason.LIMIT_EXCEEDED, refused.reason(), refused::getMessage);
            away.store().faults().clear();
            RefusedException late =
                    assertThrows(RefusedException.class, () -> away.successor.execute(away.beginnings.get(0)));
            assertEquals(RefusalReason.NO_NODE, late.reason(), late::getMessage);
            assertEquals(List.of(), away.told);
            assertTrue(get(away.commit(away.successor)).isCommit(), "the id was not used");
        }
    }

    @Test
    void transactionOfTheSameIdByAnotherIsNotTakenForTheOwnOne() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            away.onBeginning(RequestFate.DROP_AFTER);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            away.othersFinishWithoutTheInitiator();
            away.operatorDeletes(PATH + "/records/.*/t1");
            CompletableFuture<io.conclave.commit.Decision> others =
                    TwoPhaseCommit.at(away.successor, PATH).commitAsync("t1", new byte[0], List.of("berlin", "oslo"));
            awaitThat(() -> away.isThere(TRANSACTION));
            away.initiatorComesBackWithANewSession();
            assertInstanceOf(OutcomeUnknownException.class, failure(stage));
            assertFalse(others.isDone()); // oslo has not voted, and the initiator must not decide for it
            assertEquals(
                    Optional.empty(), TwoPhaseCommit.at(away.successor, PATH).decision("t1"));
        }
    }

    @Test
    void idInUseIsRefusedAlsoIfTheReplyWasLost() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            CompletableFuture<io.conclave.commit.Decision> others =
                    TwoPhaseCommit.at(away.successor, PATH).commitAsync("t1", new byte[0], List.of("berlin", "oslo"));
            awaitThat(() -> away.isThere(TRANSACTION));
            away.onBeginning(RequestFate.DROP_AFTER);
            CompletableFuture<io.conclave.commit.Decision> stage = away.commit(away.initiator);
            awaitThat(() -> !away.beginnings.isEmpty());
            away.expireInitiator();
            away.initiatorComesBackWithANewSession();
            RefusedException refused = assertInstanceOf(RefusedException.class, failure(stage));
            assertEquals(RefusalReason.NODE_EXISTS, refused.reason());
            assertFalse(others.isDone());
        }
    }

    @Test
    void usedIdIsRefusedAndItsDecisionCanBeAskedFor() throws Exception {
        try (AwayInitiator away = new AwayInitiator()) {
            assertTrue(get(away.commit(away.initiator)).isCommit());
            awaitThat(() -> !away.isThere(TRANSACTION));
            RefusedException refused = assertInstanceOf(RefusedException.class, failure(away.commit(away.successor)));
            assertEquals(RefusalReason.NODE_EXISTS, refused.reason());
            assertToldOnce(away);
            assertTrue(TwoPhaseCommit.at(away.successor, PATH)
                    .decision("t1")
                    .orElseThrow()
                    .isCommit());
        }
    }
}
