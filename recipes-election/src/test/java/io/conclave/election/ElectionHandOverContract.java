package io.conclave.election;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.line.RevocationWord;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What an election promises of handing over to a named candidate. */
abstract class ElectionHandOverContract extends ElectionUpdateContract {
    @Test
    void namedCandidateLeadsAndTheOthersKeepTheirCampaigns() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator, "leader");
        Leadership leader = election.campaign(PATIENCE);
        CompletableFuture<Leadership> a = electionOf(connect(), "a").campaignAsync();
        awaitCandidates(coordinator, 2);
        CompletableFuture<Leadership> b = electionOf(connect(), "b").campaignAsync();
        awaitCandidates(coordinator, 3);
        CompletableFuture<Leadership> named = electionOf(connect(), "named").campaignAsync();
        awaitCandidates(coordinator, 4);
        CompletableFuture<Leadership> last = electionOf(connect(), "last").campaignAsync();
        awaitCandidates(coordinator, 5);

        leader.handOver(candidate(election, "named"), PATIENCE);

        assertFalse(leader.isHeld());
        assertEquals(LossReason.RELEASED, leader.lost().toCompletableFuture().get(120, SECONDS));
        Leadership second = get(named);
        assertEquals("named", election.leader().orElseThrow().text());
        assertTrue(second.token().compareTo(leader.token()) > 0);
        assertFalse(a.isDone() || b.isDone() || last.isDone());
        awaitCandidates(coordinator, 4);
        List<String> line = names(election);
        assertEquals(List.of("named", "last"), line.subList(0, 2));
        assertEquals(Set.of("a", "b"), Set.copyOf(line.subList(2, 4)));
        second.close();
        Leadership third = get(last);
        assertTrue(third.token().compareTo(second.token()) > 0);
        third.close();
        for (int i = 0; i < 2; i++) {
            Leadership next = (Leadership) CompletableFuture.anyOf(a, b).get(120, SECONDS);
            assertTrue(next.token().compareTo(third.token()) > 0);
            next.close();
            if (a.isDone() && a.get() == next) {
                a = b;
            } else {
                b = a;
            }
        }
        awaitNothingLeft(coordinator);
    }

    @Test
    void nextCandidateNeedsNoOtherToStepBack() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator);
        Leadership leader = election.campaign(PATIENCE);
        CompletableFuture<Leadership> next = electionOf(connect(), "next").campaignAsync();
        awaitCandidates(coordinator, 2);
        leader.handOverAsync(candidate(election, "next")).get(120, SECONDS);
        get(next).close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void handOverFailsIfTheCandidateHasGone() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator);
        Leadership leader = election.campaign(PATIENCE);
        CompletableFuture<Leadership> gone = electionOf(connect(), "gone").campaignAsync();
        awaitCandidates(coordinator, 2);
        Candidate named = candidate(election, "gone");
        gone.cancel(false);
        awaitCandidates(coordinator, 1);
        TransferFailedException failure =
                assertThrows(TransferFailedException.class, () -> leader.handOver(named, PATIENCE));
        assertTrue(failure.getMessage().contains("\"gone\""), failure::toString);
        assertThrows(
                TransferFailedException.class,
                () -> leader.handOver(election.candidates().get(0)));
        assertTrue(leader.isHeld());
        leader.close();
        assertThrows(GrantLostException.class, () -> leader.handOver(named, PATIENCE));
    }

    @Test
    void handOverFailsIfACandidateAheadDoesNotYieldAndTheLeaderStays() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator, "leader");
        Leadership leader = election.campaign(PATIENCE);
        NodePath stubborn = coordinator
                .execute(Create.of(NodePath.of(PATH + "/_c_00000000-0000-0000-0000-000000000000-lock-"))
                        .withData("stubborn".getBytes(StandardCharsets.UTF_8))
                        .withMode(CreateMode.EPHEMERAL_SEQUENTIAL))
                .path();
        CompletableFuture<Leadership> named = electionOf(connect(), "named").campaignAsync();
        awaitCandidates(coordinator, 3);
        assertNamesWhoIsInTheWay(leader, candidate(election, "named"), "stubborn");
        assertTrue(leader.isHeld());
        assertFalse(named.isDone());
        org.awaitility.Awaitility.await().atMost(PATIENCE).until(() -> names(election)
                .equals(List.of("leader", "stubborn", "named"))); // it has its own words back
        leader.close();
        coordinator.execute(Delete.of(stubborn));
        get(named).close();
    }

    /** It does once it has read the line: with a longer limit, where a busy machine needs longer for that. */
    private static void assertNamesWhoIsInTheWay(Leadership leader, Candidate named, String inTheWay) {
        String message = "";
        for (Duration limit = Duration.ofMillis(300); !message.contains(inTheWay); limit = limit.multipliedBy(2)) {
            Duration present = limit;
            message = assertThrows(TransferFailedException.class, () -> leader.handOver(named, present))
                    .getMessage();
            assertTrue(message.contains(inTheWay) || message.endsWith("in the way: []"), message);
        }
    }

    @Test
    void handOverEndsWhenTheNamedCandidateGoesMeanwhile() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator, "leader");
        Leadership leader = election.campaign(PATIENCE);
        coordinator.execute(Create.of(NodePath.of(PATH + "/_c_00000000-0000-0000-0000-000000000000-lock-"))
                .withMode(CreateMode.EPHEMERAL_SEQUENTIAL));
        CompletableFuture<Leadership> named = electionOf(connect(), "named").campaignAsync();
        awaitCandidates(coordinator, 3);
        NodePath stubborn = election.candidates().get(1).path();
        CompletableFuture<Void> handOver = leader.handOverAsync(candidate(election, "named"));
        org.awaitility.Awaitility.await().atMost(PATIENCE).until(() -> new String(
                        coordinator.execute(GetData.of(stubborn)).data(), StandardCharsets.UTF_8)
                .equals("unlock"));
        named.cancel(false);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> get(handOver));
        assertTrue(failure.getCause() instanceof TransferFailedException, failure::toString);
        assertTrue(leader.isHeld());
        leader.close();
    }

    @Test
    void leaderHearsARequestToResignAndMayIgnoreIt() throws Exception {
        Coordinator coordinator = connect();
        Leadership leader = electionOf(connect()).campaign(PATIENCE);
        assertFalse(leader.revocationRequested().toCompletableFuture().isDone());
        coordinator.execute(SetData.of(leader.path(), RevocationWord.bytes()));
        leader.revocationRequested().toCompletableFuture().get(120, SECONDS);
        assertTrue(leader.isHeld());
        leader.close();
        awaitNothingLeft(coordinator);
    }
}
