package io.conclave.election;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.grant.FencingToken;
import io.conclave.node.CreateMode;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A former leader's acknowledgement with a token that no candidate can have, while its session lives. */
class SupersededCandidateTest extends ElectionFixture {
    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource time = new ManualTimeSource();
    private final AtomicInteger places = new AtomicInteger();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    private Coordinator leaderOfALaterGeneration() throws Exception {
        Coordinator former = connect();
        electionOf(former).campaign(PATIENCE).close(); // makes the election
        byte[] record = new LeaderRecord(new FencingToken(Long.MAX_VALUE, 1), "chosen", new byte[0]).toBytes();
        former.execute(Create.of(ACKNOWLEDGEMENT).withData(record).withMode(CreateMode.EPHEMERAL));
        MemoryStore.named(store).faults().intercept((session, request, index) -> {
            if (request instanceof Create create && create.path().name().contains("lock-")) {
                places.incrementAndGet();
            }
            return RequestFate.PROCEED;
        });
        return former;
    }

    private CompletableFuture<Leadership> supersededOnce(Coordinator former) {
        Coordinator candidate =
                opened(builder().timeSource(time).sessionTimeout(PATIENCE.multipliedBy(2))); // nobody keeps it alive
        CompletableFuture<Leadership> campaign = electionOf(candidate).campaignAsync();
        await().until(() -> places.get() > 0 && children(former).equals(List.of("leader")));
        return campaign;
    }

    @Test
    void supersededCandidatePausesBeforeItEntersAgainAndLeadsOnceTheFormerLeaderHasGone() throws Exception {
        Coordinator former = leaderOfALaterGeneration();
        CompletableFuture<Leadership> campaign = supersededOnce(former);
        await().during(Duration.ofMillis(300)).until(() -> places.get() == 1);
        assertFalse(campaign.isDone());
        former.execute(Delete.of(ACKNOWLEDGEMENT));
        time.advanceUntil(Duration.ofMillis(10), campaign::isDone);
        Leadership leadership = get(campaign);
        assertTrue(leadership.isHeld());
        assertFalse(leadership.lost().toCompletableFuture().isDone());
        leadership.close();
        awaitNothingLeft(former);
    }

    @Test
    void plainTryOfASupersededCandidateFailsWithWhatIsInItsWay() throws Exception {
        Coordinator former = leaderOfALaterGeneration();
        LeaderElection election = electionOf(opened(builder().timeSource(time)));
        AcquireTimeoutException failure =
                assertThrows(AcquireTimeoutException.class, () -> election.campaign(Duration.ZERO));
        assertTrue(failure.getMessage().contains(ACKNOWLEDGEMENT.toString()), failure::getMessage);
        await().until(() -> children(former).equals(List.of("leader")));
    }

    @Test
    void candidateThatIsGivenUpDuringItsPauseLeavesNothingBehind() throws Exception {
        Coordinator former = leaderOfALaterGeneration();
        CompletableFuture<Leadership> campaign = supersededOnce(former);
        campaign.cancel(true);
        electionOf(former).candidates(); // a round trip
        time.advance(Duration.ofSeconds(1));
        await().during(Duration.ofMillis(200)).until(() -> children(former).equals(List.of("leader")));
        assertEquals(1, places.get());
    }
}
