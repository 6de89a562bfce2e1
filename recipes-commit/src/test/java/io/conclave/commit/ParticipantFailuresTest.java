package io.conclave.commit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What becomes of a transaction whose participant fails in ways that it should not. */
class ParticipantFailuresTest extends CommitFixture {
    private static final List<String> SITES = List.of("good", "bad");

    private final String connectString = "memory:" + UUID.randomUUID();
    private final Ledger good = Ledger.willing("good");

    @Override
    public String connectString() {
        return connectString;
    }

    /** A participant that votes so, and whose calls to commit begin with this. */
    private record Scripted(Callable<Vote> vote, Runnable beforeCommit, Ledger ledger) implements Participant {
        @Override
        public Vote prepare(TransactionPart transaction) throws Exception {
            ledger.participant().prepare(transaction);
            return vote.call();
        }

        @Override
        public void commit(TransactionPart transaction) throws Exception {
            beforeCommit.run();
            ledger.participant().commit(transaction);
        }

        @Override
        public void abort(TransactionPart transaction) throws Exception {
            ledger.participant().abort(transaction);
        }
    }

    private Decision commit(Callable<Vote> vote, Runnable beforeCommit, Ledger bad) throws Exception {
        Coordinator coordinator = connect();
        TwoPhaseCommit transfers = TwoPhaseCommit.at(coordinator, PATH);
        transfers.join("good", good.participant());
        transfers.join("bad", new Scripted(vote, beforeCommit, bad));
        Decision decision = transfers
                .withVoteTimeout(Duration.ofSeconds(Long.MAX_VALUE)) // so it is no deadline that decides
                .commit("t1", new byte[0], SITES);
        await().atMost(PATIENCE).until(() -> List.of(good, bad).stream()
                .allMatch(one -> one.outcome("t1").equals(Optional.of(decision.isCommit()))));
        awaitNothingLeft(coordinator, "good", "bad");
        return decision;
    }

    @Test
    void errorWhilePreparingIsAVoteAgainst() throws Exception {
        Decision decision = commit(
                () -> {
                    throw new AssertionError("never reached");
                },
                () -> {},
                Ledger.willing("bad"));
        assertTrue(decision.reason().contains("never reached"), decision.reason());
    }

    @Test
    @SuppressWarnings("NullAway") // as an application without null checks may do
    void noVoteIsAVoteAgainst() throws Exception {
        Decision decision = commit(() -> null, () -> {}, Ledger.willing("bad"));
        assertTrue(decision.reason().contains("bad could not prepare"), decision.reason());
    }

    @Test
    void commitThatFailsWithAnErrorIsCalledAgain() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Runnable failsOnce = () -> {
            if (calls.incrementAndGet() == 1) {
                throw new AssertionError("not yet");
            }
        };
        assertTrue(commit(() -> Vote.COMMIT, failsOnce, Ledger.willing("bad")).isCommit());
        assertEquals(2, calls.get());
    }
}
