package io.conclave.commit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Multi;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long decisions are kept, which process deletes them, and that they do not grow without bound. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class DecisionRecordsTest {
    private static final String PATH = "/transfers";
    private static final List<String> SITES = List.of("a");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String store = "records-" + UUID.randomUUID();
    private final ManualTimeSource time = new ManualTimeSource();
    private final Coordinator coordinator = connect();
    private final Ledger ledger = Ledger.willing("a");
    private final TwoPhaseCommit transfers = TwoPhaseCommit.at(coordinator, PATH);

    private Coordinator connect() {
        return Coordinator.builder("memory:" + store)
                .timeSource(time)
                .sessionTimeout(Duration.ofHours(2)) // so that time may jump
                .connect();
    }

    @AfterEach
    void close() {
        coordinator.close();
        MemoryStore.forget(store);
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(condition);
    }

    private List<String> paths(String pattern) {
        return MemoryStore.named(store).snapshot().keySet().stream()
                .map(NodePath::toString)
                .filter(path -> path.matches(PATH + pattern))
                .toList();
    }

    /** Until it is deleted as well. */
    private void finish(TwoPhaseCommit by, String id) throws Exception {
        assertTrue(by.commit(id, new byte[0], SITES).isCommit());
        awaitThat(() -> paths("/transactions/" + id).isEmpty());
    }

    @Test
    void decisionsAreKeptForTheRetentionAndThenDeletedByLaterTransactions() throws Exception {
        transfers.join("a", ledger.participant());
        TwoPhaseCommit forEightMinutes = transfers.withRetention(Duration.ofMinutes(8));
        for (int minute = 0; minute < 40; minute++) {
            finish(forEightMinutes, "t" + minute);
            for (int ago = 0; ago <= Math.min(minute, 8); ago++) {
                assertTrue(transfers.decision("t" + (minute - ago)).isPresent(), "of " + ago + " minutes ago");
            }
            time.advance(Duration.ofMinutes(1));
            // in eight minutes, in the quarter until the next sweep, and in the minute that has just begun
            awaitThat(() -> paths("/records/../.*").size() <= 8 + 2 + 1);
        }
        assertEquals(Optional.empty(), transfers.decision("t0"));
        assertThrows(RefusedException.class, () -> forEightMinutes.commit("t39", new byte[0], SITES));
        assertTrue(paths("/records/..").size() <= 64);
    }

    @Test
    void idCanBeUsedAgainWhenTheRetentionIsOver() throws Exception {
        transfers.join("a", ledger.participant());
        TwoPhaseCommit forTenMinutes = transfers.withRetention(Duration.ofMinutes(10));
        finish(forTenMinutes, "t1");
        time.advance(Duration.ofMinutes(10));
        finish(forTenMinutes, "t2"); // its sweep finds t1 at its last moment
        assertThrows(RefusedException.class, () -> forTenMinutes.commit("t1", new byte[0], SITES));
        time.advance(Duration.ofMinutes(3));
        finish(forTenMinutes, "t3");
        awaitThat(() -> transfers.decision("t1").isEmpty());
        Ledger again = Ledger.willing("b"); // for a ledger remembers
        transfers.join("b", again.participant());
        assertTrue(forTenMinutes.commit("t1", new byte[0], List.of("b")).isCommit());
        awaitThat(() -> again.outcome("t1").equals(Optional.of(true)));
    }

    @Test
    void shortRetentionOfOneProcessDoesNotDeleteWhatAnotherKeeps() throws Exception {
        transfers.join("a", ledger.participant());
        finish(transfers.withRetention(Duration.ofDays(1)), "kept");
        TwoPhaseCommit forAMinute = transfers.withRetention(Duration.ofMinutes(1));
        for (int i = 0; i < 20; i++) {
            finish(forAMinute, "t" + i);
            time.advance(Duration.ofMinutes(3));
        }
        awaitThat(() -> transfers.decision("t17").isEmpty());
        assertTrue(transfers.decision("kept").orElseThrow().isCommit());
        assertThrows(RefusedException.class, () -> forAMinute.commit("kept", new byte[0], SITES));
    }

    @Test
    void unusedTicketIsDeleted() throws Exception {
        transfers.join("a", ledger.participant());
        finish(transfers, "t1");
        coordinator.execute(Create.of(NodePath.of(PATH + "/tickets/" + UUID.randomUUID()))); // its process has died
        time.advance(Duration.ofMinutes(61));
        assertEquals(1, paths("/tickets/.*").size());
        finish(transfers, "t2");
        awaitThat(() -> paths("/tickets/.*").isEmpty());
    }

    @Test
    void ticketThatCannotBeDeletedKeepsNoRecordThere() throws Exception {
        transfers.join("a", ledger.participant());
        finish(transfers, "t1");
        NodePath ticket = NodePath.of(PATH + "/tickets/" + UUID.randomUUID());
        coordinator.execute(Create.of(ticket));
        coordinator.execute(Create.of(ticket.child("note")));
        time.advance(Duration.ofMinutes(61));
        finish(transfers, "t2"); // its sweep looks at the tickets first
        awaitThat(() -> transfers.decision("t1").isEmpty());
        assertEquals(2, paths("/tickets/.*").size());
    }

    @Test
    void znodesThatAreNoRecordsAreLeftAlone() throws Exception {
        transfers.join("a", ledger.participant());
        finish(transfers, "t1");
        NodePath shard = NodePath.of(paths("/records/..").get(0));
        coordinator.execute(Create.of(shard.child("note")).withData("of an operator".getBytes(UTF_8)));
        time.advance(Duration.ofDays(1));
        finish(transfers, "t2");
        awaitThat(() -> transfers.decision("t1").isEmpty());
        assertEquals(1, paths("/records/../note").size());
    }

    @Test
    void transactionOfAnEarlierVersionIsFinishedAndLeavesARecord() throws Exception {
        String old = "conclave transaction\nsome-guid\nTHROUGH_COORDINATOR\n30000\na\n";
        for (String parent : List.of("", "/transactions", "/sites", "/sites/a")) {
            coordinator.execute(Create.of(NodePath.of(PATH + parent)));
        }
        NodePath transaction = NodePath.of(PATH + "/transactions/t1");
        coordinator.execute(Multi.of(
                Create.of(transaction).withData(old.getBytes(UTF_8)),
                Create.of(transaction.child("vote-a")),
                Create.of(NodePath.of(PATH + "/sites/a/t1"))));
        assertFalse(transfers.recover().get("t1").isCommit()); // no site has voted
        transfers.join("a", ledger.participant());
        awaitThat(() -> ledger.outcome("t1").equals(Optional.of(false)));
        awaitThat(() -> {
            Map<String, Decision> recovered = transfers.recover();
            return recovered.isEmpty() && paths("/transactions/t1").isEmpty();
        });
        assertFalse(transfers.decision("t1").orElseThrow().isCommit());
        assertThrows(RefusedException.class, () -> transfers.commit("t1", new byte[0], SITES));
    }

    /** A transaction of ours has no such sites. */
    @ParameterizedTest
    @ValueSource(strings = {"a/b", "", "a,..", "/"})
    void recoveryPassesOverWhatNamesSitesThatCannotBe(String sites) throws Exception {
        coordinator.execute(Create.of(NodePath.of(PATH)));
        coordinator.execute(Create.of(NodePath.of(PATH + "/transactions")));
        String data = "conclave transaction\nsome-guid\nTHROUGH_COORDINATOR\n30000 60000\n" + sites + "\n";
        coordinator.execute(Create.of(NodePath.of(PATH + "/transactions/odd")).withData(data.getBytes(UTF_8)));
        assertEquals(Map.of(), transfers.recoverAsync().get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    }
}
