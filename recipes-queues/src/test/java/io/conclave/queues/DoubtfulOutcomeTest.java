package io.conclave.queues;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.NotConnectedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Request;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of callers whose transaction was not answered, and of those beside them. */
class DoubtfulOutcomeTest {
    private static final NodePath PATH = NodePath.of("/queues/doubt");
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration STEP = Duration.ofMillis(100);
    private static final Duration AWAY = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofSeconds(1);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator coordinator = store.connect(clock);
    private final Coordinator rival = store.connect(new ManualTimeSource());
    private final DistributedQueue<String> queue = DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);
    private final DistributedQueue<String> rivals = DistributedQueue.at(rival, PATH, DataCodec.TEXT);

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static boolean puts(Request<?> request) {
        return request instanceof Multi multi && multi.operations().stream().anyMatch(DoubtfulOutcomeTest::isItem);
    }

    private static boolean isItem(Operation<?> operation) {
        return operation instanceof Create create
                && create.path().name().contains("queue-")
                && create.path().parent().filter(PATH::equals).isPresent();
    }

    private void awaitAway() {
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(coordinator).state() == SessionState.SUSPENDED);
    }

    @Test
    void limitOfAPutHoldsAlsoIfItIsOverWhileTheReplyIsLost() throws Exception {
        DistributedQueue<String> bounded = queue.withBound(1);
        faults.reconnectAfter(AWAY);
        faults.onNext(DoubtfulOutcomeTest::puts, RequestFate.DROP_BEFORE);
        CompletableFuture<Boolean> put = bounded.putAsync("too late", LIMIT);
        awaitAway();
        rivals.put("fills it");
        clock.advance(LIMIT.plus(STEP));
        assertFalse(put.isDone(), "it may have been put");
        clock.advanceUntil(STEP, put::isDone);
        assertFalse(put.join());
        assertEquals("fills it", rivals.take());
        assertEquals(new QueueCount(0, 0, 0), rivals.count());
    }

    @Test
    void plainTryOfAPutHoldsItsTimeAlsoIfItIsOverWhileTheReplyIsLost() throws Exception {
        DistributedQueue<String> bounded = queue.withBound(1);
        faults.reconnectAfter(AWAY);
        faults.onNext(DoubtfulOutcomeTest::puts, RequestFate.DROP_BEFORE);
        CompletableFuture<Boolean> put = bounded.putAsync("too late", Duration.ZERO);
        awaitAway();
        clock.advance(RecipeAccess.session(coordinator).tryTimeout().plus(STEP));
        assertFalse(put.isDone(), "it may have been put");
        clock.advanceUntil(STEP, put::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, put::get);
        assertInstanceOf(NotConnectedException.class, failure.getCause());
        assertEquals(new QueueCount(0, 0, 0), rivals.count());
    }

    @Test
    void putThatWasCancelledWhileTheReplyIsLostIsNotSentAgain() throws Exception {
        faults.reconnectAfter(AWAY);
        faults.onNext(DoubtfulOutcomeTest::puts, RequestFate.DROP_BEFORE);
        CompletableFuture<Void> put = queue.putAsync("cancelled");
        awaitAway();
        put.cancel(true);
        CompletableFuture<Void> later = queue.putAsync("later"); // behind it
        clock.advanceUntil(STEP, later::isDone);
        later.join();
        assertEquals("later", rivals.take());
    }

    @Test
    void takeThatIsInDoubtFailsNoOtherCallerOfItsProcess() throws Exception {
        List<CompletableFuture<String>> takes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            takes.add(queue.takeAsync());
        }
        CompletableFuture<Void> struck = new CompletableFuture<>();
        faults.intercept((session, request, index) -> {
            boolean isTake = session == RecipeAccess.session(coordinator).id()
                    && request instanceof Multi multi
                    && multi.describe().contains("claim-");
            if (!isTake || !struck.complete(null)) {
                return RequestFate.PROCEED;
            }
            deleteItems(); // another consumer is quicker
            return RequestFate.DROP_BEFORE;
        });
        rivals.put("one");
        get(struck);
        await().atMost(PATIENCE).until(() -> takes.stream().anyMatch(CompletableFuture::isDone));
        rivals.put("two");
        rivals.put("three");
        List<String> outcomes = new ArrayList<>();
        for (CompletableFuture<String> take : takes) {
            try {
                outcomes.add(get(take));
            } catch (ExecutionException e) {
                outcomes.add(e.getCause().getClass().getSimpleName());
            }
        }
        outcomes.sort(null);
        assertEquals(List.of(OutcomeUnknownException.class.getSimpleName(), "three", "two"), outcomes);
    }

    private void deleteItems() {
        store.memory().snapshot().keySet().stream()
                .filter(path -> path.parent().filter(PATH::equals).isPresent()
                        && path.name().contains("queue-"))
                .forEach(faults::deleteAsOperator);
    }
}
