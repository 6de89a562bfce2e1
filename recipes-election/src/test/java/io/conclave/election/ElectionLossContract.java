package io.conclave.election;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What an election promises when a znode, a session or a coordinator goes away under a leader or a candidate. */
abstract class ElectionLossContract extends ElectionObserverContract {
    @Test
    void candidateFailsAtOnceWhenItsZnodeIsDeleted() throws Exception {
        Coordinator coordinator = connect();
        Leadership leadership = electionOf(coordinator).campaign(PATIENCE);
        CompletableFuture<Leadership> waiter = electionOf(coordinator).campaignAsync();
        awaitCandidates(coordinator, 2);
        coordinator.execute(
                Delete.of(electionOf(coordinator).candidates().get(1).path()));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertTrue(failure.getCause() instanceof GrantLostException, failure::toString);
        assertTrue(leadership.isHeld());
    }

    @Test
    void nextLeaderReplacesTheAcknowledgementOfOneWhosePlaceWasDeleted() throws Exception {
        Coordinator coordinator = connect();
        Leadership first = electionOf(connect(), "first").campaign(PATIENCE);
        CompletableFuture<Leadership> waiter = electionOf(connect(), "second").campaignAsync();
        awaitCandidates(coordinator, 2);
        coordinator.execute(Delete.of(first.path()));
        assertEquals(LossReason.NODE_DELETED, first.lost().toCompletableFuture().get(120, SECONDS));
        assertFalse(first.isHeld());
        Leadership second = get(waiter);
        assertTrue(second.token().compareTo(first.token()) > 0);
        first.close();
        Told told = new Told();
        electionOf(coordinator).observe(told);
        told.awaitLast("second"); // also if the first one's late deletion met it: then it was made again
        assertTrue(second.isHeld(), "a stale resignation leaves a newer leader alone");
        second.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void leaderNodeThatIsDeletedOrChangedIsCreatedAgain() throws Exception {
        Coordinator coordinator = connect();
        Leadership leadership = electionOf(connect(), "steady").campaign(PATIENCE);
        coordinator.execute(Delete.of(ACKNOWLEDGEMENT));
        await().atMost(PATIENCE).until(() -> electionOf(coordinator).leader().isPresent());
        coordinator.execute(SetData.of(ACKNOWLEDGEMENT, "nonsense".getBytes(StandardCharsets.UTF_8)));
        await().atMost(PATIENCE).until(() -> electionOf(coordinator)
                .leader()
                .filter(leader -> leader.text().equals("steady"))
                .isPresent());
        assertTrue(leadership.isHeld());
        leadership.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void znodeThatIsNoAcknowledgementIsNotReplaced() throws Exception {
        Coordinator coordinator = connect();
        makePlaceThatStays(coordinator);
        electionOf(coordinator).campaign(PATIENCE).close();
        coordinator.execute(Create.of(ACKNOWLEDGEMENT));
        RefusedException refused = assertThrows(
                RefusedException.class, () -> electionOf(coordinator).campaign(PATIENCE));
        assertTrue(refused.getMessage().contains(ACKNOWLEDGEMENT.toString()), refused::toString);
        assertTrue(electionOf(coordinator).leader().isEmpty());
        // the exception does not wait for the deletion of its place
        await().atMost(PATIENCE).until(() -> children(coordinator).equals(List.of("leader")));
    }

    /** No container: the server may delete an empty one between two requests of a test. */
    private static void makePlaceThatStays(Coordinator coordinator) throws InterruptedException {
        coordinator.execute(Create.of(NodePath.of(PATH).parent().orElseThrow()));
        coordinator.execute(Create.of(NodePath.of(PATH)));
    }

    @Test
    void candidateWithAnOlderTokenThanAFormerLeaderEntersTheLineAgain() throws Exception {
        Coordinator coordinator = connect();
        makePlaceThatStays(coordinator);
        Leadership earlier = electionOf(coordinator).campaign(PATIENCE);
        earlier.close();
        // Another client led by a number of its own choice, and its session is still alive.
        Create.Created former = coordinator.execute(Create.of(ACKNOWLEDGEMENT).withMode(CreateMode.EPHEMERAL));
        FencingToken token =
                new FencingToken(earlier.token().generation(), former.stat().czxid() + 20);
        coordinator.execute(
                SetData.of(ACKNOWLEDGEMENT, new LeaderRecord(token, "chosen-lock-0000000000", new byte[0]).toBytes()));
        Leadership leadership = electionOf(connect(), "later").campaign(PATIENCE);
        assertTrue(leadership.token().compareTo(token) > 0, () -> leadership + " after " + token);
        assertEquals("later", electionOf(coordinator).leader().orElseThrow().text());
        leadership.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void nextCandidateLeadsWhenTheLeadersSessionExpires() throws Exception {
        Coordinator awake = connect();
        ManualTimeSource clock = jumpingClock();
        Coordinator sleeper = opened(builder().timeSource(clock));
        Leadership first = electionOf(sleeper, "sleeper").campaign();
        stop(clock);
        CompletableFuture<Leadership> waiter = electionOf(awake, "awake").campaignAsync();
        Leadership next =
                waiter.get(sessionTimeout().toMillis() * 3 + 20_000, java.util.concurrent.TimeUnit.MILLISECONDS);
        assertTrue(next.token().compareTo(first.token()) > 0);
        assertEquals("awake", electionOf(awake).leader().orElseThrow().text());
        clock.advance(sessionTimeout().plusSeconds(60)); // it wakes up
        assertFalse(first.isHeld());
        assertThrows(GrantLostException.class, first::ensureHeld);
        first.close();
        assertTrue(next.isHeld());
        next.close();
    }

    @Test
    void lostSessionEndsLeadershipAndFailsTheCampaign() throws Exception {
        connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        Leadership leadership = electionOf(coordinator).campaign();
        stop(clock);
        CompletableFuture<Leadership> waiter = electionOf(coordinator).campaignAsync();
        clock.advanceWallOnly(sessionTimeout()); // the machine was suspended: no timer has run
        assertFalse(leadership.isHeld());
        awaitNextSession(coordinator, clock);
        assertEquals(
                LossReason.SESSION_LOST, leadership.lost().toCompletableFuture().get(120, SECONDS));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertTrue(failure.getCause() instanceof SessionGoneException, failure::toString);
    }

    @Test
    void closingTheCoordinatorResignsAndFailsWaitingCandidates() throws Exception {
        Coordinator closing = connect();
        Leadership leadership = electionOf(closing).campaign(PATIENCE);
        CompletableFuture<Leadership> waiter = electionOf(closing).campaignAsync();
        Coordinator other = connect();
        awaitCandidates(other, 2);
        closing.close();
        awaitNothingLeft(other);
        assertFalse(leadership.isHeld());
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertTrue(failure.getCause() instanceof ClosedException, failure::toString);
        assertThrows(ClosedException.class, () -> electionOf(closing).campaign(PATIENCE));
        leadership.close();
    }
}
