package io.conclave.election;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.SetData;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A hand-over that has failed leaves nothing behind: neither its word in another's znode nor itself with the leader.
 */
class FailedHandOverTest extends ElectionFixture {
    private static final NodePath STUBBORN = NodePath.of(PATH + "/_c_00000000-0000-0000-0000-000000000000-lock-");

    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    @Test
    void requestWithALostReplyIsWithdrawnWhenTheHandOverIsGivenUp() throws Exception {
        wordIsTakenBack(RequestFate.DROP_AFTER);
    }

    @Test
    void requestThatArrivesLateIsWithdrawnWhenTheHandOverIsGivenUp() throws Exception {
        wordIsTakenBack(RequestFate.DROP_AND_APPLY_LATE);
    }

    @Test
    void requestThatTheNextServerHasNotHeardOfIsWithdrawnWhenTheHandOverIsGivenUp() throws Exception {
        wordIsTakenBack(RequestFate.DROP_AND_LAG);
    }

    private void wordIsTakenBack(RequestFate decision) throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator, "leader");
        Leadership leader = election.campaign(PATIENCE);
        coordinator.execute(
                Create.of(STUBBORN).withData("stubborn".getBytes(UTF_8)).withMode(CreateMode.EPHEMERAL_SEQUENTIAL));
        electionOf(connect(), "named").campaignAsync();
        awaitCandidates(coordinator, 3);
        CompletableFuture<CompletableFuture<Void>> handOver = new CompletableFuture<>();
        CompletableFuture<Void> struck = new CompletableFuture<>();
        MemoryStore.named(store).faults().intercept((session, request, index) -> {
            if (request instanceof SetData && !struck.isDone()) {
                struck.complete(null);
                handOver.join().cancel(false); // before it hears of the loss
                return decision;
            }
            return RequestFate.PROCEED;
        });
        Candidate named = candidate(election, "named");
        handOver.complete(leader.handOverAsync(named));
        get(struck);
        await().atMost(PATIENCE).during(java.time.Duration.ofMillis(200)).until(() -> names(election)
                .equals(List.of("leader", "stubborn", "named")));
        assertTrue(leader.isHeld());
    }

    @Test
    void leaderThatTriesAgainAndAgainGathersNothing() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator, "leader");
        Campaign campaign =
                Campaign.begin(RecipeAccess.session(coordinator), NodePath.of(PATH), "leader".getBytes(UTF_8));
        campaign.granted().toCompletableFuture().get(120, SECONDS);
        CompletableFuture<LossReason> lost = campaign.lost().toCompletableFuture();
        int before = lost.getNumberOfDependents();
        Candidate self = candidate(election, "leader");
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Void> handOver = TransferAttempt.begin(
                            campaign, campaign.place().path().orElseThrow(), self, Optional.empty())
                    .stage();
            assertInstanceOf(
                    TransferFailedException.class,
                    assertThrows(ExecutionException.class, () -> get(handOver)).getCause());
        }
        assertEquals(before, lost.getNumberOfDependents());
    }

    @Test
    void handOverThatIsUnderWayWhenTheLeadershipIsLostSaysSo() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator, "leader");
        Leadership leader = election.campaign(PATIENCE);
        coordinator.execute(Create.of(STUBBORN).withMode(CreateMode.EPHEMERAL_SEQUENTIAL));
        electionOf(connect(), "named").campaignAsync();
        awaitCandidates(coordinator, 3);
        CompletableFuture<Void> handOver = leader.handOverAsync(candidate(election, "named"));
        await().atMost(PATIENCE).until(() -> names(election).contains("unlock"));
        coordinator.execute(Delete.of(leader.path()));
        assertInstanceOf(
                GrantLostException.class,
                assertThrows(ExecutionException.class, () -> get(handOver)).getCause());
    }
}
