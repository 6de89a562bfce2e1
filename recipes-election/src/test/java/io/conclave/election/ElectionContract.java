package io.conclave.election;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.testkit.history.LockHistory;
import io.conclave.testkit.history.LockHistoryChecker;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * What an election promises, on every backend; a subclass says where the backend is.
 *
 * <p>The parts of the contract stand one above the other, so that a class that extends this one runs them all: here is
 * what holds of campaigns and leaders without trouble.
 */
public abstract class ElectionContract extends ElectionContinuationContract {
    @Test
    void onlyCandidateLeadsAndResigns() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator, "alone");
        assertTrue(election.leader().isEmpty());
        Leadership leadership = election.campaign(PATIENCE);
        assertTrue(leadership.isHeld());
        leadership.ensureHeld();
        assertTrue(leadership.remaining().compareTo(sessionTimeout()) <= 0);
        leadership.resign();
        assertFalse(leadership.isHeld());
        assertEquals(Duration.ZERO, leadership.remaining());
        assertEquals(
                LossReason.RELEASED, leadership.lost().toCompletableFuture().get(120, SECONDS));
        assertThrows(GrantLostException.class, leadership::ensureHeld);
        get(leadership.resignAsync()); // resign() waits no longer than the session has left
        assertEquals(List.of(), children(coordinator));
        assertTrue(election.leader().isEmpty());
    }

    @Test
    void leaderMayBeAskedForWhereAnAnswerOfTheCoordinatorComes() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator);
        CompletableFuture<Optional<Leader>> nested = coordinator
                .submit(Exists.of(NodePath.ROOT))
                .thenApply(root -> election.leaderAsync().join())
                .toCompletableFuture();
        assertEquals(Optional.empty(), get(nested));
    }

    @Test
    void campaignEndsOnlyWhenTheLeaderHasSaidThatItLeads() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(connect(), "first");
        Leadership leadership = election.campaign(PATIENCE);
        Leader leader = electionOf(coordinator).leader().orElseThrow();
        assertEquals("first", leader.text());
        assertEquals(leadership.token(), leader.token());
        assertEquals(electionOf(coordinator).candidates().get(0).sessionId(), leader.sessionId());
        assertEquals(leader, electionOf(coordinator).leader().orElseThrow(), "the same leader, read twice");
        assertEquals(
                electionOf(coordinator).candidates(),
                electionOf(coordinator).candidates(),
                "the same candidates, read twice");
        assertEquals(
                electionOf(coordinator).candidates(),
                electionOf(coordinator).candidatesAsync().get(120, SECONDS));
        CompletableFuture<Leadership> second = electionOf(coordinator, "second").campaignAsync();
        awaitCandidates(coordinator, 2);
        assertEquals("first", election.leader().orElseThrow().text());
        leadership.close();
        Leadership next = get(second);
        assertEquals("second", election.leader().orElseThrow().text());
        assertTrue(next.token().compareTo(leadership.token()) > 0);
        next.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void candidatesAreSeenInOrderAndLeadInOrder() throws Exception {
        Coordinator coordinator = connect();
        LockHistory history = new LockHistory(TimeSource.system());
        List<CompletableFuture<Leadership>> campaigns = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            campaigns.add(
                    electionOf(i % 2 == 0 ? coordinator : connect(), "c" + i).campaignAsync());
            awaitCandidates(coordinator, i + 1);
        }
        assertEquals(List.of("c0", "c1", "c2", "c3", "c4"), names(electionOf(coordinator)));
        for (int i = 0; i < 5; i++) {
            Leadership leadership = get(campaigns.get(i));
            history.granted("c" + i, leadership);
            assertEquals(
                    leadership.token().sequence(),
                    electionOf(coordinator).candidates().get(0).sequence());
            history.released("c" + i);
            leadership.close();
        }
        assertEquals(List.of(), LockHistoryChecker.check(history));
        awaitNothingLeft(coordinator);
    }

    @Test
    void campaignThatRunsOutOfTimeLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        try (Leadership leadership = electionOf(coordinator).campaign()) {
            LeaderElection other = electionOf(connect());
            assertThrows(AcquireTimeoutException.class, () -> other.campaign(Duration.ofMillis(50)));
            // the exception does not wait for the deletion
            await().atMost(PATIENCE).until(() -> other.candidates().size() == 1);
            assertTrue(leadership.isHeld());
        }
        awaitNothingLeft(coordinator);
    }

    @Test
    void interruptedCampaignLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        try (Leadership leadership = electionOf(coordinator).campaign()) {
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                try {
                    electionOf(coordinator).campaign().close();
                    interrupted.complete(false);
                } catch (InterruptedException e) {
                    interrupted.complete(true);
                }
            });
            thread.start();
            awaitCandidates(coordinator, 2);
            thread.interrupt();
            assertTrue(get(interrupted));
            awaitCandidates(coordinator, 1);
            assertTrue(leadership.isHeld());
        }
    }

    @Test
    void cancelledCampaignLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        Leadership leadership = electionOf(coordinator).campaign();
        CompletableFuture<Leadership> waiting = electionOf(coordinator).campaignAsync(PATIENCE);
        awaitCandidates(coordinator, 2);
        waiting.cancel(false);
        awaitCandidates(coordinator, 1);
        leadership.resignAsync().toCompletableFuture().get(120, SECONDS);
        awaitNothingLeft(coordinator);
    }

    @Test
    void namespaceIsInFrontOfEveryPath() throws Exception {
        Coordinator plain = connect();
        Coordinator inside = opened(builder().namespace("/app/one"));
        try (Leadership leadership = electionOf(inside).campaign()) {
            assertEquals(NodePath.of(PATH), leadership.path().parent().orElseThrow());
            List<String> names = plain.execute(GetChildren.of(NodePath.of("/app/one" + PATH)))
                    .names();
            assertEquals(
                    List.of(leadership.path().name(), "leader"),
                    names.stream().sorted().toList());
        }
    }

    @Test
    void badInputIsRefusedByName() throws Exception {
        Coordinator coordinator = connect();
        assertTrue(assertThrows(IllegalArgumentException.class, () -> LeaderElection.at(coordinator, "/"))
                .getMessage()
                .contains("\"/\""));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> electionOf(coordinator)
                        .campaign(Duration.ofMillis(-1)))
                .getMessage()
                .contains("PT-0.001S"));
        try (Leadership leadership = electionOf(coordinator).campaign()) {
            assertNamed("candidate", () -> leadership.handOver(null));
            assertNamed("candidate", () -> leadership.handOver(null, PATIENCE));
            assertNamed("candidate", () -> leadership.handOverAsync(null));
            assertNamed("candidate", () -> leadership.handOverAsync(null, PATIENCE));
        }
    }

    private static void assertNamed(String argument, Executable call) {
        NullPointerException refusal =
                assertTimeoutPreemptively(PATIENCE, () -> assertThrows(NullPointerException.class, call));
        assertEquals(argument, refusal.getMessage());
    }

    @Test
    void neverTwoLeadersAmongManyThatComeAndGo() throws Exception {
        LockHistory history = new LockHistory(TimeSource.system());
        List<Future<?>> workers = new ArrayList<>();
        for (int worker = 0; worker < 6; worker++) {
            LeaderElection election = electionOf(connect());
            int number = worker;
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 10; round++) {
                    String name = number + "-" + round;
                    try (Leadership leadership = election.campaign(PATIENCE)) {
                        history.granted(name, leadership);
                        assertEquals(
                                leadership.token(),
                                election.leader().orElseThrow().token());
                        history.released(name);
                    }
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(120, SECONDS);
        }
        assertEquals(List.of(), LockHistoryChecker.check(history));
        await().atMost(PATIENCE).until(() -> children(connect()).isEmpty());
    }
}
