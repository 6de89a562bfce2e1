package io.conclave.commit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** What two-phase commit promises, on every backend; a subclass says where the backend is. */
public abstract class CommitContract extends CommitFixture {
    private static final byte[] PAYLOAD = {1, 2, 3, '\n', 4};
    private static final List<String> SITES = List.of("berlin", "paris", "rome");

    private static TwoPhaseCommit of(Coordinator coordinator) {
        return TwoPhaseCommit.at(coordinator, PATH);
    }

    private List<Ledger> joined() {
        List<Ledger> ledgers = SITES.stream().map(Ledger::willing).toList();
        ledgers.forEach(ledger -> of(connect()).join(ledger.site(), ledger.participant()));
        return ledgers;
    }

    private static void awaitOutcome(List<Ledger> ledgers, String id, boolean isCommit) {
        await().atMost(PATIENCE).until(() -> ledgers.stream()
                .allMatch(ledger -> ledger.outcome(id).equals(Optional.of(isCommit))));
        ledgers.forEach(ledger -> assertEquals(List.of(), ledger.violations()));
    }

    /** A participant that waits in its first call of one kind until the test lets it go. */
    private static final class Slow implements Participant {
        final CountDownLatch called = new CountDownLatch(1);
        final CountDownLatch mayGoOn = new CountDownLatch(1);
        final boolean inCommit;
        final Participant then;

        Slow(boolean inCommit, Participant then) {
            this.inCommit = inCommit;
            this.then = then;
        }

        private void pause() throws InterruptedException {
            called.countDown();
            mayGoOn.await();
        }

        @Override
        public Vote prepare(TransactionPart transaction) throws Exception {
            if (!inCommit) {
                pause();
            }
            return then.prepare(transaction);
        }

        @Override
        public void commit(TransactionPart transaction) throws Exception {
            if (inCommit) {
                pause();
                throw new IllegalStateException("its process has died meanwhile");
            }
            then.commit(transaction);
        }

        @Override
        public void abort(TransactionPart transaction) throws Exception {
            then.abort(transaction);
        }
    }

    @Test
    void allSitesCommitWhenAllHaveVotedToCommit() throws Exception {
        allSitesCommitWhenAllHaveVotedToCommit(Propagation.THROUGH_COORDINATOR);
    }

    @Test
    void allSitesCommitWhenAllHaveVotedToCommitWhenEveryoneWatches() throws Exception {
        allSitesCommitWhenAllHaveVotedToCommit(Propagation.EVERYONE_WATCHES);
    }

    private void allSitesCommitWhenAllHaveVotedToCommit(Propagation propagation) throws Exception {
        Coordinator coordinator = connect();
        List<Ledger> ledgers = joined();
        Decision decision = of(coordinator).withPropagation(propagation).commit("t1", PAYLOAD, SITES);
        assertEquals(Decision.COMMIT, decision);
        awaitOutcome(ledgers, "t1", true);
        awaitNothingLeft(coordinator, "berlin", "paris", "rome");
    }

    @Test
    void oneVoteAgainstAbortsEverywhere() throws Exception {
        oneVoteAgainstAbortsEverywhere(Propagation.THROUGH_COORDINATOR);
    }

    @Test
    void oneVoteAgainstAbortsEverywhereWhenEveryoneWatches() throws Exception {
        oneVoteAgainstAbortsEverywhere(Propagation.EVERYONE_WATCHES);
    }

    private void oneVoteAgainstAbortsEverywhere(Propagation propagation) throws Exception {
        Coordinator coordinator = connect();
        List<Ledger> ledgers = new ArrayList<>(joined());
        Ledger unwilling = new Ledger("oslo", id -> false);
        ledgers.add(unwilling);
        of(connect()).join("oslo", unwilling.participant());
        Decision decision = of(coordinator)
                .withPropagation(propagation)
                .commit("t1", PAYLOAD, List.of("berlin", "paris", "rome", "oslo"));
        assertFalse(decision.isCommit());
        assertTrue(decision.reason().contains("oslo"), decision.reason());
        awaitOutcome(ledgers, "t1", false);
        awaitNothingLeft(coordinator, "berlin", "paris", "rome", "oslo");
    }

    @Test
    void participantGetsThePayloadAndItsFailureToPrepareIsAVoteAgainst() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<TransactionPart> seen = new CompletableFuture<>();
        Ledger ledger = Ledger.willing("berlin");
        Participant then = ledger.participant();
        of(coordinator).join("berlin", new Participant() {
            @Override
            public Vote prepare(TransactionPart transaction) {
                seen.complete(transaction);
                throw new IllegalStateException("disk full");
            }

            @Override
            public void commit(TransactionPart transaction) throws Exception {
                then.commit(transaction);
            }

            @Override
            public void abort(TransactionPart transaction) throws Exception {
                then.abort(transaction);
            }
        });
        Decision decision = of(coordinator).commit("t1", PAYLOAD, List.of("berlin"));
        assertTrue(decision.reason().contains("disk full"), decision.reason());
        assertArrayEquals(PAYLOAD, get(seen).payload());
        awaitOutcome(List.of(ledger), "t1", false);
    }

    @Test
    void siteThatDoesNotVoteInTimeAbortsItAndHearsOfItWhenItComes() throws Exception {
        siteThatDoesNotVoteInTimeAbortsItAndHearsOfItWhenItComes(Propagation.THROUGH_COORDINATOR);
    }

    @Test
    void siteThatDoesNotVoteInTimeAbortsItAndHearsOfItWhenItComesWhenEveryoneWatches() throws Exception {
        siteThatDoesNotVoteInTimeAbortsItAndHearsOfItWhenItComes(Propagation.EVERYONE_WATCHES);
    }

    private void siteThatDoesNotVoteInTimeAbortsItAndHearsOfItWhenItComes(Propagation propagation) throws Exception {
        Coordinator coordinator = connect();
        List<Ledger> ledgers = new ArrayList<>(joined());
        Decision decision = of(coordinator)
                .withPropagation(propagation)
                .withVoteTimeout(Duration.ofMillis(500))
                .commit("t1", PAYLOAD, List.of("berlin", "paris", "rome", "late"));
        assertFalse(decision.isCommit());
        assertEquals(Optional.of(decision), of(connect()).decision("t1")); // until the last one has finished
        Ledger late = Ledger.willing("late");
        ledgers.add(late);
        of(connect()).join("late", late.participant());
        awaitOutcome(ledgers, "t1", false);
        awaitNothingLeft(coordinator, "berlin", "paris", "rome", "late");
        assertEquals(Optional.of(decision), of(connect()).decision("t1")); // it is kept
        assertEquals(
                Optional.of(decision),
                of(connect()).decisionAsync("t1").get(120, java.util.concurrent.TimeUnit.SECONDS));
    }

    @Test
    void siteThatDiesWithoutAVoteAbortsItAtOnce() throws Exception {
        siteThatDiesWithoutAVoteAbortsItAtOnce(Propagation.THROUGH_COORDINATOR);
    }

    @Test
    void siteThatDiesWithoutAVoteAbortsItAtOnceWhenEveryoneWatches() throws Exception {
        siteThatDiesWithoutAVoteAbortsItAtOnce(Propagation.EVERYONE_WATCHES);
    }

    private void siteThatDiesWithoutAVoteAbortsItAtOnce(Propagation propagation) throws Exception {
        Coordinator coordinator = connect();
        List<Ledger> ledgers = joined();
        Ledger dying = Ledger.willing("dying");
        Slow slow = new Slow(false, dying.participant());
        Coordinator its = connect();
        of(its).join("dying", slow);
        CompletableFuture<Decision> decision = of(coordinator)
                .withPropagation(propagation)
                .withVoteTimeout(Duration.ofHours(1))
                .commitAsync("t1", PAYLOAD, List.of("berlin", "paris", "rome", "dying"));
        slow.called.await();
        await().atMost(PATIENCE)
                .until(() -> children(coordinator, PATH + "/transactions/t1").contains("here-dying"));
        await().atMost(PATIENCE) // the others are waiting for it
                .until(() ->
                        ledgers.stream().allMatch(ledger -> ledger.toString().contains("[t1]")));
        its.close();
        slow.mayGoOn.countDown();
        assertFalse(get(decision).isCommit());
        awaitOutcome(ledgers, "t1", false);
        of(connect()).join("dying", dying.participant());
        awaitOutcome(List.of(dying), "t1", false);
        awaitNothingLeft(coordinator, "berlin", "paris", "rome", "dying");
    }

    @Test
    void sitesFinishWhenTheCoordinatingProcessDies() throws Exception {
        sitesFinishWhenTheCoordinatingProcessDies(Propagation.THROUGH_COORDINATOR);
    }

    @Test
    void sitesFinishWhenTheCoordinatingProcessDiesWhenEveryoneWatches() throws Exception {
        sitesFinishWhenTheCoordinatingProcessDies(Propagation.EVERYONE_WATCHES);
    }

    private void sitesFinishWhenTheCoordinatingProcessDies(Propagation propagation) throws Exception {
        Coordinator initiators = connect();
        List<Ledger> ledgers = new ArrayList<>(joined());
        Ledger last = Ledger.willing("last");
        Slow slow = new Slow(false, last.participant());
        of(connect()).join("last", slow);
        ledgers.add(last);
        of(initiators)
                .withPropagation(propagation)
                .withVoteTimeout(Duration.ofSeconds(3))
                .commitAsync("t1", PAYLOAD, List.of("berlin", "paris", "rome", "last"));
        slow.called.await();
        initiators.close();
        Coordinator successor = connect();
        slow.mayGoOn.countDown();
        await().atMost(PATIENCE).until(() -> ledgers.stream()
                .allMatch(ledger -> ledger.outcome("t1").isPresent()));
        boolean isCommit = last.outcome("t1").orElseThrow();
        awaitOutcome(ledgers, "t1", isCommit);
        await().atMost(PATIENCE).until(() -> {
            Map<String, Decision> recovered = of(successor).recover();
            return recovered.isEmpty() || recovered.get("t1").isCommit() == isCommit;
        });
        await().atMost(PATIENCE).until(() -> {
            of(successor).recover();
            return children(successor, PATH + "/transactions").isEmpty();
        });
    }

    @Test
    void siteThatDiesInDoubtFinishesWhenItJoinsAgain() throws Exception {
        Coordinator coordinator = connect();
        List<Ledger> ledgers = new ArrayList<>(joined());
        Ledger doubtful = Ledger.willing("doubtful");
        ledgers.add(doubtful);
        Slow slow = new Slow(true, doubtful.participant());
        Coordinator its = connect();
        of(its).join("doubtful", slow);
        assertTrue(of(coordinator)
                .commit("t1", PAYLOAD, List.of("berlin", "paris", "rome", "doubtful"))
                .isCommit());
        slow.called.await();
        its.close(); // in the middle of its commit
        slow.mayGoOn.countDown();
        assertEquals(Optional.empty(), doubtful.outcome("t1"));
        of(connect()).join("doubtful", doubtful.participant());
        awaitOutcome(ledgers, "t1", true);
        awaitNothingLeft(coordinator, "berlin", "paris", "rome", "doubtful");
    }

    @Test
    void successorDecidesWhatADeadProcessHasBegun() throws Exception {
        Coordinator initiators = connect();
        CompletableFuture<Decision> ended =
                of(initiators).withVoteTimeout(Duration.ofHours(1)).commitAsync("t1", PAYLOAD, SITES);
        Coordinator successor = connect();
        await().atMost(PATIENCE)
                .until(() -> children(successor, PATH + "/transactions").contains("t1"));
        assertEquals(Map.of(), of(successor).recover()); // its coordinating process lives
        initiators.close();
        assertThrows(Exception.class, () -> get(ended));
        await().atMost(PATIENCE).until(() -> !of(successor).recover().isEmpty());
        assertFalse(of(successor).decision("t1").orElseThrow().isCommit());
        awaitOutcome(joined(), "t1", false);
        await().atMost(PATIENCE).until(() -> {
            of(successor).recover();
            return children(successor, PATH + "/transactions").isEmpty();
        });
    }

    @Test
    void cancelledTransactionIsAborted() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<Decision> stage =
                of(coordinator).withVoteTimeout(Duration.ofHours(1)).commitAsync("t1", PAYLOAD, SITES);
        await().atMost(PATIENCE)
                .until(() -> children(coordinator, PATH + "/transactions").contains("t1"));
        stage.cancel(false);
        awaitOutcome(joined(), "t1", false);
        awaitNothingLeft(coordinator, "berlin", "paris", "rome");
    }

    @Test
    void idThatIsInUseIsRefused() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<Decision> first = of(coordinator).commitAsync("t1", PAYLOAD, SITES);
        await().atMost(PATIENCE)
                .until(() -> children(coordinator, PATH + "/transactions").contains("t1"));
        RefusedException refused =
                assertThrows(RefusedException.class, () -> of(connect()).commit("t1", PAYLOAD, SITES));
        assertEquals(RefusalReason.NODE_EXISTS, refused.reason());
        awaitOutcome(joined(), "t1", true);
        assertTrue(get(first).isCommit());
    }

    @Test
    void idThatWasUsedIsRefusedAndItsDecisionIsKept() throws Exception {
        Coordinator coordinator = connect();
        List<Ledger> ledgers = joined();
        Decision decision = of(coordinator).commit("t1", PAYLOAD, SITES);
        awaitOutcome(ledgers, "t1", true);
        awaitNothingLeft(coordinator, "berlin", "paris", "rome");
        RefusedException refused =
                assertThrows(RefusedException.class, () -> of(connect()).commit("t1", PAYLOAD, SITES));
        assertEquals(RefusalReason.NODE_EXISTS, refused.reason());
        assertTrue(refused.getMessage().contains("\"t1\" has been used"), refused.getMessage());
        assertEquals(Optional.of(decision), of(connect()).decision("t1"));
        assertEquals(Optional.empty(), of(connect()).decision("t2"));
        assertEquals(List.of(), children(coordinator, PATH + "/tickets"));
    }

    @Test
    void initiatorWithALostSessionLearnsTheDecisionOfItsSuccessor() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator initiators = opened(builder().timeSource(clock));
        CompletableFuture<Decision> stage = of(initiators).commitAsync("t1", PAYLOAD, SITES);
        Coordinator successor = connect();
        await().atMost(PATIENCE)
                .until(() -> children(successor, PATH + "/transactions").contains("t1"));
        loseSession(initiators, clock);
        List<Ledger> ledgers = joined();
        await().atMost(PATIENCE).until(() -> {
            of(successor).recover(); // or the initiator itself, on its next session
            return children(successor, PATH + "/transactions").isEmpty();
        });
        Decision decision = get(stage);
        awaitOutcome(ledgers, "t1", decision.isCommit());
        assertEquals(Optional.of(decision), of(successor).decision("t1"));
    }

    @Test
    void manyTransactionsAtOnceAreAtomic() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("many transactions, seed " + seed);
        Random random = new Random(seed);
        List<Ledger> ledgers = new ArrayList<>();
        for (String name : SITES) {
            Ledger ledger = new Ledger(name, id -> Math.floorMod((id + name).hashCode() ^ seed, 5) > 0);
            ledgers.add(ledger);
            of(connect()).join(name, ledger.participant());
        }
        Coordinator coordinator = connect();
        List<CompletableFuture<Decision>> decisions = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Propagation propagation = Propagation.values()[random.nextInt(2)];
            decisions.add(of(coordinator).withPropagation(propagation).commitAsync("t" + i, PAYLOAD, SITES));
        }
        for (int i = 0; i < 30; i++) {
            awaitOutcome(ledgers, "t" + i, get(decisions.get(i)).isCommit());
        }
        awaitNothingLeft(coordinator, "berlin", "paris", "rome");
    }

    @Test
    void badInputIsRefusedByName() {
        Coordinator coordinator = connect();
        TwoPhaseCommit transfers = of(coordinator);
        assertThrows(IllegalArgumentException.class, () -> TwoPhaseCommit.at(coordinator, "/"));
        assertThrows(IllegalArgumentException.class, () -> transfers.commit("a/b", PAYLOAD, SITES));
        assertThrows(IllegalArgumentException.class, () -> transfers.commit("t", PAYLOAD, List.of()));
        assertThrows(IllegalArgumentException.class, () -> transfers.withVoteTimeout(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> transfers.withRetention(Duration.ofSeconds(59)));
        assertTrue(assertThrows(
                        IllegalArgumentException.class,
                        () -> transfers.join("a,b", Ledger.willing("a").participant()))
                .getMessage()
                .contains("a,b"));
    }
}
