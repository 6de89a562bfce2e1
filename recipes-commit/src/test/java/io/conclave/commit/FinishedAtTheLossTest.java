package io.conclave.commit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A site finishes its part as its session is lost. */
class FinishedAtTheLossTest extends CommitFixture {
    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    private static boolean isFinish(Request<?> request) {
        NodePath entry = NodePath.of(PATH + "/sites/a/t1");
        return request instanceof Multi multi
                && multi.operations().stream()
                        .anyMatch(operation -> operation instanceof Delete delete
                                && delete.path().equals(entry));
    }

    /** The process that finishes it is not the one that was asked to prepare, so it has no more to do with it. */
    @Test
    void nothingIsKeptOfIt() throws Exception {
        Coordinator others = connect();
        CompletableFuture<Void> mayVote = new CompletableFuture<>();
        Ledger slow = new Ledger("b", id -> {
            mayVote.join();
            return true;
        });
        Ledger ledger = Ledger.willing("a");
        TwoPhaseCommit.at(others, PATH).join("b", slow.participant());
        Coordinator former = connect();
        TwoPhaseCommit.at(former, PATH).join("a", ledger.participant());
        CompletableFuture<Decision> decided =
                TwoPhaseCommit.at(others, PATH).commitAsync("t1", new byte[0], List.of("a", "b"));
        await().until(() -> hasVoted(others));
        former.close();
        Coordinator coordinator = connect();
        RecipeSession session = RecipeAccess.session(coordinator);
        MemoryStore.named(store)
                .faults()
                .onNext(session.id(), FinishedAtTheLossTest::isFinish, RequestFate.EXPIRE_AFTER);
        JoinedSite site = (JoinedSite) TwoPhaseCommit.at(coordinator, PATH).join("a", ledger.participant());
        mayVote.complete(null);
        Decision decision = decided.get(PATIENCE.toSeconds(), SECONDS);
        await().until(() -> RecipeAccess.session(coordinator) != session);
        awaitNothingLeft(others, "a", "b");
        await().until(() -> isIdle(site, coordinator));
        assertEquals(Optional.of(decision.isCommit()), ledger.outcome("t1"));
    }

    @Test
    void participantThatWasToldIsNotToldAgain() throws Exception {
        Coordinator others = connect();
        Coordinator coordinator = connect();
        RecipeSession session = RecipeAccess.session(coordinator);
        MemoryStore.named(store)
                .faults()
                .onNext(session.id(), FinishedAtTheLossTest::isFinish, RequestFate.EXPIRE_AFTER);
        AtomicInteger commits = new AtomicInteger();
        JoinedSite site = (JoinedSite) TwoPhaseCommit.at(coordinator, PATH).join("a", new Participant() {
            @Override
            public Vote prepare(TransactionPart transaction) {
                return Vote.COMMIT;
            }

            @Override
            public void commit(TransactionPart transaction) {
                commits.incrementAndGet();
            }

            @Override
            public void abort(TransactionPart transaction) {
                throw new AssertionError("it is committed");
            }
        });
        TwoPhaseCommit.at(others, PATH).commit("t1", new byte[] {1}, List.of("a"));
        await().until(() -> RecipeAccess.session(coordinator) != session);
        awaitNothingLeft(others, "a");
        await().until(() -> isIdle(site, coordinator));
        assertEquals(1, commits.get());
    }

    private static boolean hasVoted(Coordinator coordinator) throws InterruptedException {
        NodePath vote = new TransactionLayout(NodePath.of(PATH), "t1").vote("a");
        try {
            return VoteWatch.stateOf(coordinator.execute(GetData.of(vote)).data()) != VoteWatch.State.NONE;
        } catch (RefusedException notBegunYet) {
            return false;
        }
    }

    private static boolean isIdle(JoinedSite site, Coordinator coordinator) {
        CompletableFuture<Boolean> idle = new CompletableFuture<>();
        RecipeAccess.session(coordinator).execute(() -> idle.complete(site.isIdle()));
        return idle.join();
    }
}
