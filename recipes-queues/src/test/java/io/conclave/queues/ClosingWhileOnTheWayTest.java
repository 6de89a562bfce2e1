package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.NotConnectedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers learn what became of their acknowledgements, puts and takes on the way when the coordinator was closed. */
class ClosingWhileOnTheWayTest {
    private static final NodePath PATH = NodePath.of("/queues/closing");
    private static final int ITEMS = GatheredAcknowledgements.MAX_AT_ONCE * 2 + 3;

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource(); // so nothing ends by its time
    private final Coordinator coordinator = connect();
    private final RecipeSession session = RecipeAccess.session(coordinator);
    private final DistributedQueue<String> queue = DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);

    private Coordinator connect() {
        return store.opened(
                store.builder().sessionTimeout(Duration.ofMinutes(5)).timeSource(clock));
    }

    private List<Claim<String>> claims(int count) throws Exception {
        List<Claim<String>> claims = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            queue.put("item " + i);
        }
        for (int i = 0; i < count; i++) {
            claims.add(queue.claim());
        }
        return claims;
    }

    /** All in one task of the dispatcher, so that all but the first wait for its reply. */
    private List<CompletableFuture<Void>> acknowledge(List<Claim<String>> claims) throws Exception {
        CompletableFuture<List<CompletableFuture<Void>>> begun = new CompletableFuture<>();
        session.execute(() ->
                begun.complete(claims.stream().map(Claim::acknowledgeAsync).toList()));
        return begun.get(120, SECONDS);
    }

    /** Holds the answer to the next reading of an item; completes when it is asked for. */
    private CompletableFuture<Void> holdTheReadOfAnItem() {
        CompletableFuture<Void> read = new CompletableFuture<>();
        faults.onNext(
                request ->
                        request instanceof GetData get && get.path().name().contains("queue-") && read.complete(null),
                RequestFate.HOLD_REPLY);
        return read;
    }

    private static boolean isDequeue(Request<?> request) {
        return request instanceof Multi multi
                && multi.operations().stream()
                        .anyMatch(operation -> operation instanceof Create creation
                                && creation.path().name().startsWith("claim-"));
    }

    private CompletableFuture<Void> beginClosing() {
        CompletableFuture<Void> closed = CompletableFuture.runAsync(coordinator::close);
        await().atMost(Duration.ofMinutes(2)).until(() -> !session.state().isLive());
        return closed;
    }

    private QueueCount leftBehind() throws Exception {
        try (Coordinator another = connect()) {
            return DistributedQueue.at(another, PATH, DataCodec.TEXT).count();
        }
    }

    private static <E extends Exception> E failure(Class<E> kind, CompletableFuture<?> outcome) {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> outcome.get(120, SECONDS));
        return assertInstance(kind, failure.getCause());
    }

    private static <E extends Exception> E assertInstance(Class<E> kind, Throwable failure) {
        assertEquals(kind, failure.getClass(), failure.toString());
        return kind.cast(failure);
    }

    @Test
    void acknowledgementsThatWaitForAnEarlierOneGoOutBeforeTheSessionEnds() throws Exception {
        List<Claim<String>> claims = claims(ITEMS);
        faults.onNext(request -> request instanceof Multi, RequestFate.HOLD_REPLY);
        List<CompletableFuture<Void>> outcomes = acknowledge(claims);
        CompletableFuture<Void> closed = beginClosing();
        faults.releaseReplies(session.id());
        for (CompletableFuture<Void> outcome : outcomes) {
            outcome.get(120, SECONDS);
        }
        for (Claim<String> claim : claims) {
            assertEquals(ClaimEnd.ACKNOWLEDGED, claim.ended().get(120, SECONDS));
        }
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(0, 0, 0), leftBehind());
    }

    @Test
    void acknowledgementWhoseReplyIsLostAtTheEndIsUnknown() throws Exception {
        Claim<String> claim = claims(1).get(0);
        faults.onNext(request -> request instanceof Multi, RequestFate.DROP_AFTER);
        faults.reconnectAfter(Duration.ofMinutes(1));
        CompletableFuture<Void> outcome = acknowledge(List.of(claim)).get(0);
        coordinator.close();
        failure(OutcomeUnknownException.class, outcome);
        assertEquals(ClaimEnd.COORDINATOR_CLOSED, claim.ended().get(120, SECONDS));
        assertEquals(new QueueCount(0, 0, 0), leftBehind());
    }

    @Test
    void acknowledgementsWithoutAConnectionAreNotSentAndTheItemsStay() throws Exception {
        List<Claim<String>> claims = claims(3);
        faults.suspend(session.id());
        List<CompletableFuture<Void>> outcomes = acknowledge(claims);
        coordinator.close();
        for (CompletableFuture<Void> outcome : outcomes) {
            failure(ClosedException.class, outcome);
        }
        assertEquals(new QueueCount(0, 3, 0), leftBehind()); // they come back when the session has expired
    }

    @Test
    void putThatIsOnItsWayIsAnsweredAndOneThatWaitsIsNotSent() throws Exception {
        queue.put("first");
        faults.onNext(request -> request instanceof Multi, RequestFate.HOLD_REPLY);
        CompletableFuture<CompletableFuture<Void>> begun = new CompletableFuture<>();
        CompletableFuture<CompletableFuture<Void>> behind = new CompletableFuture<>();
        session.execute(() -> {
            begun.complete(queue.putAsync("on its way"));
            behind.complete(queue.putAsync("behind it"));
        });
        CompletableFuture<Void> waiting = behind.get(120, SECONDS);
        CompletableFuture<Void> closed = beginClosing();
        failure(ClosedException.class, waiting);
        faults.releaseReplies(session.id());
        begun.get(120, SECONDS).get(120, SECONDS);
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(2, 0, 0), leftBehind());
    }

    @Test
    void takeThatIsOnItsWayIsAnsweredAndOneThatWaitsIsNotSent() throws Exception {
        queue.put("first");
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.HOLD_REPLY);
        CompletableFuture<String> taken = queue.takeAsync();
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 0, 0)));
        CompletableFuture<CompletableFuture<String>> behind = new CompletableFuture<>();
        session.execute(() -> behind.complete(queue.takeAsync()));
        CompletableFuture<String> waiting = behind.get(120, SECONDS);
        CompletableFuture<Void> closed = beginClosing();
        failure(ClosedException.class, waiting);
        faults.releaseReplies(session.id());
        assertEquals("first", taken.get(120, SECONDS));
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(0, 0, 0), leftBehind());
    }

    @Test
    void takesThatAreOnTheirWayShareTheirTransactionsOutcome() throws Exception {
        DistributedQueue<String> sharing = DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);
        sharing.put("one");
        sharing.put("two");
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.HOLD_REPLY);
        CompletableFuture<List<CompletableFuture<String>>> begun = new CompletableFuture<>();
        session.execute(() -> begun.complete(List.of(sharing.takeAsync(), sharing.takeAsync(), sharing.takeAsync())));
        List<CompletableFuture<String>> takes = begun.get(120, SECONDS);
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 0, 0)));
        CompletableFuture<Void> closed = beginClosing();
        failure(ClosedException.class, takes.get(2));
        faults.releaseReplies(session.id());
        assertEquals("one", takes.get(0).get(120, SECONDS));
        assertEquals("two", takes.get(1).get(120, SECONDS));
        closed.get(120, SECONDS);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void takeThatIsOnItsWayIsNotEndedByItsTimeWhenItsItemCouldNotGoBack(long timeoutSeconds) throws Exception {
        queue.put("first");
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.HOLD_REPLY);
        CompletableFuture<Optional<String>> taken = queue.takeAsync(Duration.ofSeconds(timeoutSeconds));
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 0, 0)));
        CompletableFuture<Void> closed = beginClosing();
        clock.advance(Duration.ofSeconds(2));
        CompletableFuture<Void> timersHaveRun = new CompletableFuture<>();
        session.execute(() -> timersHaveRun.complete(null));
        timersHaveRun.get(120, SECONDS);
        faults.releaseReplies(session.id());
        assertEquals(Optional.of("first"), taken.get(120, SECONDS));
        closed.get(120, SECONDS);
    }

    @Test
    void itemOfACallerThatHadGoneComesBack() throws Exception {
        queue.put("first");
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.HOLD_REPLY);
        CompletableFuture<String> taken = queue.takeAsync();
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 0, 0)));
        taken.cancel(false);
        CompletableFuture<Void> closed = beginClosing();
        faults.releaseReplies(session.id());
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(1, 0, 0), leftBehind());
        try (Coordinator another = connect()) {
            assertEquals(
                    "first", DistributedQueue.at(another, PATH, DataCodec.TEXT).take());
        }
    }

    @Test
    void itemOfATryThatHadEndedComesBack() throws Exception {
        queue.put("before");
        assertEquals("before", queue.take()); // the commit marker is there
        queue.put("first");
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.HOLD_REPLY);
        CompletableFuture<Optional<String>> taken = queue.takeAsync(Duration.ZERO);
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 0, 0)));
        clock.advanceUntil(Duration.ofMillis(100), taken::isDone);
        failure(NotConnectedException.class, taken);
        CompletableFuture<Void> closed = beginClosing();
        faults.releaseReplies(session.id());
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(1, 0, 0), leftBehind());
    }

    @Test
    void itemOfATryThatHadEndedComesBackThoughAnotherQueueWasUsedMeanwhile() throws Exception {
        queue.put("first");
        CompletableFuture<Void> read = holdTheReadOfAnItem();
        CompletableFuture<Optional<String>> taken = queue.tryTakeAsync();
        read.get(120, SECONDS);
        DistributedQueue<String> other = DistributedQueue.at(coordinator, "/queues/other", DataCodec.TEXT);
        CompletableFuture<Optional<String>> none = other.tryTakeAsync();
        CompletableFuture<Void> isUsed = new CompletableFuture<>();
        session.execute(() -> isUsed.complete(null));
        isUsed.get(120, SECONDS);
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.HOLD_REPLY);
        faults.releaseReplies(session.id());
        assertEquals(Optional.empty(), none.get(120, SECONDS));
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 0, 0)));
        taken.cancel(false);
        CompletableFuture<Void> closed = beginClosing();
        faults.releaseReplies(session.id());
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(1, 0, 0), leftBehind());
    }

    @Test
    void ofItemsTakenTogetherThoseOfCallersThatHadGoneComeBack() throws Exception {
        queue.put("one");
        queue.put("two");
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.HOLD_REPLY);
        CompletableFuture<List<CompletableFuture<String>>> begun = new CompletableFuture<>();
        session.execute(() -> begun.complete(List.of(queue.takeAsync(), queue.takeAsync())));
        List<CompletableFuture<String>> takes = begun.get(120, SECONDS);
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 0, 0)));
        takes.get(0).cancel(false);
        CompletableFuture<Void> closed = beginClosing();
        faults.releaseReplies(session.id());
        assertEquals("one", takes.get(1).get(120, SECONDS));
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(1, 0, 0), leftBehind());
    }

    @Test
    void nothingComesBackOfATakeThatHadNoEffect() throws Exception {
        queue.put("first");
        CompletableFuture<Void> read = holdTheReadOfAnItem();
        CompletableFuture<String> taken = queue.takeAsync();
        try (Coordinator another = connect()) {
            DistributedQueue<String> rivals = DistributedQueue.at(another, PATH, DataCodec.TEXT);
            read.get(120, SECONDS);
            assertEquals(Optional.of("first"), rivals.tryTake());
        }
        CompletableFuture<Void> sent = new CompletableFuture<>();
        faults.onNext(request -> isDequeue(request) && sent.complete(null), RequestFate.HOLD_REPLY);
        faults.releaseReplies(session.id());
        sent.get(120, SECONDS);
        taken.cancel(false);
        CompletableFuture<Void> closed = beginClosing();
        faults.releaseReplies(session.id());
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(0, 0, 0), leftBehind());
    }

    @Test
    void takeWhoseReplyIsLostAtTheEndIsUnknown() throws Exception {
        queue.put("first");
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.DROP_AFTER);
        faults.reconnectAfter(Duration.ofMinutes(1));
        CompletableFuture<String> taken = queue.takeAsync();
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 0, 0)));
        coordinator.close();
        failure(OutcomeUnknownException.class, taken);
    }

    @Test
    void takeThatHasSentNothingYetFailsAndTheItemStays() throws Exception {
        queue.put("first");
        faults.suspend(session.id());
        CompletableFuture<String> taken = queue.takeAsync();
        coordinator.close();
        failure(ClosedException.class, taken);
        assertEquals(new QueueCount(1, 0, 0), leftBehind());
    }

    @Test
    void claimThatIsOnItsWayFailsAndTheItemComesBack() throws Exception {
        queue.put("first");
        faults.onNext(ClosingWhileOnTheWayTest::isDequeue, RequestFate.HOLD_REPLY);
        CompletableFuture<Claim<String>> claimed = queue.claimAsync();
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(0, 1, 0)));
        CompletableFuture<Void> closed = beginClosing();
        failure(ClosedException.class, claimed);
        faults.releaseReplies(session.id());
        closed.get(120, SECONDS);
        assertEquals(new QueueCount(1, 0, 0), leftBehind());
    }

    @Test
    void putWhoseReplyIsLostAtTheEndIsUnknown() throws Exception {
        queue.put("first");
        faults.onNext(request -> request instanceof Multi, RequestFate.DROP_AFTER);
        faults.reconnectAfter(Duration.ofMinutes(1));
        CompletableFuture<Void> put = queue.putAsync("on its way");
        await().atMost(Duration.ofMinutes(2)).until(() -> leftBehind().equals(new QueueCount(2, 0, 0)));
        coordinator.close();
        failure(OutcomeUnknownException.class, put);
    }
}
