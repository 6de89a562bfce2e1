package io.conclave.election;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.grant.FencingToken;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What an election promises of the data that its leader changes. */
abstract class ElectionUpdateContract extends CandidacyContract {
    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static void awaitData(Coordinator coordinator, String text) {
        await().atMost(PATIENCE).until(() -> electionOf(coordinator)
                .leader()
                .filter(leader -> leader.text().equals(text))
                .isPresent());
    }

    private static GrantLostException failure(CompletableFuture<Void> update) {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> update.get(120, SECONDS));
        return assertInstanceOf(GrantLostException.class, failure.getCause());
    }

    @Test
    void observersSeeTheDataThatTheLeaderHasChanged() throws Exception {
        Coordinator coordinator = connect();
        Told told = new Told();
        electionOf(connect()).observe(told);
        told.awaitLast("-");
        Leadership leadership = electionOf(connect(), "starting").campaign(PATIENCE);
        told.awaitLast("starting");
        Leader before = electionOf(coordinator).leader().orElseThrow();
        leadership.update(bytes("serving at 10.0.0.7"));
        Leader after = electionOf(coordinator).leader().orElseThrow();
        assertEquals("serving at 10.0.0.7", after.text());
        assertEquals(new Leader(after.bytes(), before.token(), before.sessionId(), before.since()), after);
        told.awaitLast("serving at 10.0.0.7");
        assertEquals(List.of("-", "starting", "serving at 10.0.0.7"), told.states);
        assertEquals(List.of("starting"), names(electionOf(coordinator)), "a candidate's data stays");
        leadership.update(new byte[0]);
        told.awaitLast("");
        assertTrue(leadership.isHeld());
        leadership.close();
        awaitNothingLeft(coordinator);
        told.awaitLast("-");
    }

    @Test
    void updatesAreWrittenInTheOrderOfTheCalls() throws Exception {
        Coordinator coordinator = connect();
        Leadership leadership = electionOf(connect()).campaign(PATIENCE);
        List<CompletableFuture<Void>> updates = new ArrayList<>();
        for (int i = 0; i <= 20; i++) {
            updates.add(leadership.updateAsync(bytes("update " + i)));
        }
        for (CompletableFuture<Void> update : updates) {
            get(update);
        }
        assertEquals("update 20", electionOf(coordinator).leader().orElseThrow().text());
        CompletableFuture<Void> last = leadership.updateAsync(bytes("last"));
        leadership.closeAsync();
        get(last.handle((done, failure) -> null));
        awaitNothingLeft(coordinator);
    }

    @Test
    void leaderNodeThatIsDeletedOrChangedComesBackWithTheLatestData() throws Exception {
        Coordinator coordinator = connect();
        Leadership leadership = electionOf(connect(), "first").campaign(PATIENCE);
        leadership.update(bytes("second"));
        coordinator.execute(Delete.of(ACKNOWLEDGEMENT));
        awaitData(coordinator, "second");
        coordinator.execute(SetData.of(ACKNOWLEDGEMENT, bytes("nonsense")));
        leadership.update(bytes("third"));
        awaitData(coordinator, "third");
        coordinator.execute(Delete.of(ACKNOWLEDGEMENT));
        awaitData(coordinator, "third");
        assertTrue(leadership.isHeld());
    }

    @Test
    void leaderNodeWhoseTokenIsStillThereOrLargerComesBackWithTheLatestData() throws Exception {
        Coordinator coordinator = connect();
        Leadership leadership = electionOf(connect(), "first").campaign(PATIENCE);
        byte[] ours = coordinator.execute(GetData.of(ACKNOWLEDGEMENT)).data();
        byte[] appended = Arrays.copyOf(ours, ours.length + 1);
        coordinator.execute(SetData.of(ACKNOWLEDGEMENT, appended));
        get(leadership.updateAsync(bytes("second")));
        awaitData(coordinator, "second");
        FencingToken larger = new FencingToken(Long.MAX_VALUE, 1);
        coordinator.execute(SetData.of(ACKNOWLEDGEMENT, new LeaderRecord(larger, "theirs", new byte[0]).toBytes()));
        awaitData(coordinator, "second");
        get(leadership.updateAsync(bytes("third")));
        awaitData(coordinator, "third");
        assertTrue(leadership.isHeld());
    }

    @Test
    void leaderThatHasResignedChangesNothing() throws Exception {
        Coordinator coordinator = connect();
        Leadership first = electionOf(connect(), "first").campaign(PATIENCE);
        CompletableFuture<Leadership> waiter = electionOf(connect(), "second").campaignAsync();
        awaitCandidates(coordinator, 2);
        first.close();
        Leadership second = get(waiter);
        GrantLostException lost = assertThrows(GrantLostException.class, () -> first.update(bytes("late")));
        assertEquals(LossReason.RELEASED, lost.reason());
        assertTrue(lost.getMessage().contains(PATH), lost::getMessage);
        assertEquals("second", electionOf(coordinator).leader().orElseThrow().text());
        second.close();
    }

    @Test
    void leaderWhosePlaceWasDeletedChangesNothing() throws Exception {
        Coordinator coordinator = connect();
        Leadership first = electionOf(connect(), "first").campaign(PATIENCE);
        CompletableFuture<Leadership> waiter = electionOf(connect(), "second").campaignAsync();
        awaitCandidates(coordinator, 2);
        Told told = new Told();
        electionOf(coordinator).observe(told);
        coordinator.execute(Delete.of(first.path()));
        List<CompletableFuture<Void>> updates = new ArrayList<>(); // some of them before it has heard of that
        for (int i = 0; i < 20; i++) {
            updates.add(first.updateAsync(bytes("late")));
        }
        for (CompletableFuture<Void> update : updates) {
            assertEquals(LossReason.NODE_DELETED, failure(update).reason());
        }
        Leadership second = get(waiter);
        told.awaitLast("second");
        assertTrue(!told.states.contains("late"), told.states::toString);
        second.close();
    }

    @Test
    void leaderWhoseSessionIsLostChangesNothing() throws Exception {
        connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        Leadership leadership = electionOf(coordinator).campaign();
        loseSession(coordinator, clock);
        GrantLostException lost = failure(leadership.updateAsync(bytes("late")));
        assertEquals(LossReason.SESSION_LOST, lost.reason());
    }
}
