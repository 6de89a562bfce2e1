package io.conclave.election;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.NotConnectedException;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** With a limit of zero the store's answer decides, and no other candidate is waited for. */
@Timeout(300)
class ZeroLimitTest {
    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource(); // so nothing ends by its time
    private final Coordinator coordinator = store.connect(clock);
    private final Coordinator other = store.connect(clock);
    private final LeaderElection election = LeaderElection.at(coordinator, "/election");
    private final LeaderElection rivals = LeaderElection.at(other, "/election");

    private static Throwable failure(CompletableFuture<?> outcome) {
        return assertThrows(ExecutionException.class, () -> outcome.get(120, SECONDS))
                .getCause();
    }

    @Test
    void candidateLeadsIfThereIsNoOther() throws Exception {
        Leadership leadership = election.campaign(Duration.ZERO);
        assertTrue(leadership.isHeld());
        assertThrows(AcquireTimeoutException.class, () -> rivals.campaign(Duration.ZERO));
        Quiescence.await(faults, List.of(coordinator, other));
        assertEquals(1, rivals.candidates().size());
        assertEquals(0, faults.watchCount(RecipeAccess.session(other).id()));
        leadership.close();
        rivals.campaignAsync(Duration.ZERO).get(120, SECONDS);
    }

    @Test
    void withoutAnAnswerItEndsWithinTheTryTimeout() throws Exception {
        faults.holdReplies(RecipeAccess.session(coordinator).id());
        CompletableFuture<Leadership> campaign = election.campaignAsync(Duration.ZERO);
        clock.advanceUntil(Duration.ofMillis(100), campaign::isDone);
        assertInstanceOf(NotConnectedException.class, failure(campaign));
    }

    @Test
    void leaderHandsOverToTheNextOneAndAsksNobodyElse() throws Exception {
        Leadership leadership = election.campaign();
        CompletableFuture<Leadership> second = rivals.campaignAsync();
        Quiescence.await(faults, List.of(other));
        CompletableFuture<Leadership> third = rivals.campaignAsync();
        Quiescence.await(faults, List.of(other));
        List<Candidate> line = election.candidates();
        Throwable failure = failure(leadership.handOverAsync(line.get(2), Duration.ZERO));
        assertInstanceOf(TransferFailedException.class, failure);
        assertTrue(failure.getMessage().contains(line.get(1).path().name()), failure::getMessage);
        Quiescence.await(faults, List.of(coordinator, other));
        assertEquals(line, election.candidates(), "nobody has stepped back");
        leadership.handOver(line.get(1), Duration.ZERO);
        second.get(120, SECONDS).close();
        third.get(120, SECONDS);
    }

    @Test
    void handOverWithoutAnAnswerEndsWithinTheTryTimeout() throws Exception {
        Leadership leadership = election.campaign();
        CompletableFuture<Leadership> second = rivals.campaignAsync();
        Quiescence.await(faults, List.of(other));
        Candidate next = election.candidates().get(1);
        faults.holdReplies(RecipeAccess.session(coordinator).id());
        CompletableFuture<Void> handOver = leadership.handOverAsync(next, Duration.ZERO);
        clock.advanceUntil(Duration.ofMillis(100), handOver::isDone);
        Throwable failure = failure(handOver);
        assertInstanceOf(NotConnectedException.class, failure);
        assertTrue(failure.getMessage().contains("The leader stays leader"), failure::getMessage);
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        assertTrue(leadership.isHeld());
        second.cancel(false);
    }
}
