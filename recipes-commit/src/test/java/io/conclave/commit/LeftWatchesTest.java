package io.conclave.commit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A transaction that is over leaves no watch at the server; a site keeps the one on its inbox. */
class LeftWatchesTest extends CommitFixture {
    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    private void awaitWatches(Coordinator coordinator, int count) {
        long session = RecipeAccess.session(coordinator).id();
        await().atMost(PATIENCE)
                .untilAsserted(() ->
                        assertEquals(count, MemoryStore.named(store).faults().watchCount(session)));
    }

    @ParameterizedTest
    @EnumSource(Propagation.class)
    void transactions(Propagation propagation) throws Exception {
        Coordinator initiator = connect();
        Coordinator at = connect();
        Ledger first = Ledger.willing("a");
        Ledger second = new Ledger("b", id -> !id.equals("t2"));
        Site a = TwoPhaseCommit.at(at, PATH).join("a", first.participant());
        Site b = TwoPhaseCommit.at(at, PATH).join("b", second.participant());
        TwoPhaseCommit transfers =
                TwoPhaseCommit.at(initiator, PATH).withPropagation(propagation).withVoteTimeout(Duration.ofSeconds(1));
        transfers.commit("t1", new byte[0], List.of("a", "b"));
        transfers.commit("t2", new byte[0], List.of("a", "b"));
        transfers.commit("t3", new byte[0], List.of("a", "b", "absent"));
        await().atMost(PATIENCE)
                .until(() -> first.outcome("t3").equals(Optional.of(false))
                        && second.outcome("t3").equals(Optional.of(false)));
        Site absent = TwoPhaseCommit.at(connect(), PATH)
                .join("absent", Ledger.willing("absent").participant());
        awaitNothingLeft(initiator, "a", "b", "absent");
        awaitWatches(initiator, 0);
        awaitWatches(at, 2);
        a.close();
        b.close();
        absent.close();
        awaitWatches(at, 0);
    }

    @Test
    void recoveryWhileASiteIsAbsentLeavesNone() throws Exception {
        Coordinator initiator = connect();
        Coordinator at = connect();
        Ledger first = Ledger.willing("a");
        try (Site a = TwoPhaseCommit.at(at, PATH).join("a", first.participant())) {
            CompletableFuture<Decision> ended = TwoPhaseCommit.at(initiator, PATH)
                    .withVoteTimeout(Duration.ofHours(1))
                    .commitAsync("t1", new byte[0], List.of("a", "absent"));
            await().atMost(PATIENCE)
                    .until(() -> children(at, PATH + "/transactions").contains("t1"));
            initiator.close();
            assertThrows(ExecutionException.class, () -> ended.get(2, TimeUnit.MINUTES));
            Coordinator successor = connect();
            TwoPhaseCommit recovering = TwoPhaseCommit.at(successor, PATH);
            for (int i = 0; i < 3; i++) {
                assertFalse(recovering.recover().get("t1").isCommit());
                awaitWatches(successor, 0);
            }
            await().atMost(PATIENCE).until(() -> first.outcome("t1").equals(Optional.of(false)));
            awaitWatches(at, 1);
        }
    }
}
