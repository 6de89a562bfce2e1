package io.conclave.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.DataCodec;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The reply of a queue's first transaction is lost, and the look what became of it is refused: that says nothing of the
 * transaction, which took effect.
 */
class RefusedLookTest {
    private static final String PATH = "/queues/looks";
    private static final int ALL = Integer.MAX_VALUE;
    private static final Duration STEP = Duration.ofMillis(100);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator coordinator = store.connect(clock);
    private final Coordinator rival = store.connect(new ManualTimeSource());
    private final DistributedQueue<String> queue = DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);
    private final DistributedQueue<String> rivals = DistributedQueue.at(rival, PATH, DataCodec.TEXT);
    private final AtomicInteger refusalsLeft = new AtomicInteger();

    @BeforeEach
    void makeQueue() throws Exception {
        rivals.put("first");
        assertEquals("first", rivals.take());
    }

    /** The next transaction whose description has this takes effect, and the looks behind it are refused. */
    private void refuseLooksAfter(String transaction, Predicate<Request<?>> look, RefusalReason reason, int times) {
        refuseLooksAfter(transaction, RequestFate.DROP_AFTER, look, reason, times);
    }

    private void refuseLooksAfter(
            String transaction, RequestFate fate, Predicate<Request<?>> look, RefusalReason reason, int times) {
        faults.refuse(
                request -> look.test(request) && refusalsLeft.getAndUpdate(left -> Math.max(0, left - 1)) > 0, reason);
        faults.onNext(
                request -> {
                    boolean isMeant =
                            request instanceof Multi && request.describe().contains(transaction);
                    if (isMeant) {
                        refusalsLeft.set(times);
                    }
                    return isMeant;
                },
                fate);
    }

    private static boolean isCommitMarker(Request<?> request) {
        return request instanceof GetData get && get.path().toString().contains("/witnesses/");
    }

    /** Not those at places in the line, which are not about the transaction. */
    private static boolean isAny(Request<?> request) {
        return request.isRead() && !request.describe().contains("/consumers");
    }

    private <T> T get(CompletableFuture<T> call) {
        clock.advanceUntil(STEP, call::isDone);
        return call.join();
    }

    private void isUnknown(CompletableFuture<?> call) {
        Throwable failure =
                assertThrows(CompletionException.class, () -> get(call)).getCause();
        assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
        assertInstanceOf(RefusedException.class, failure.getCause(), failure::toString);
        faults.clear();
    }

    private void isEmptyAndWorks() throws Exception {
        assertEquals(new QueueCount(0, 0, 0), rivals.count());
        get(queue.putAsync("next"));
        assertEquals("next", get(queue.takeAsync()));
    }

    @Test
    void putIsLookedForAgain() throws Exception {
        refuseLooksAfter("queue-", RefusedLookTest::isAny, RefusalReason.LIMIT_EXCEEDED, 3);
        get(queue.putAsync("one"));
        assertEquals("one", rivals.take());
        isEmptyAndWorks();
    }

    @Test
    void putIsFoundWithoutItsCommitMarker() throws Exception {
        refuseLooksAfter("queue-", RefusedLookTest::isCommitMarker, RefusalReason.NO_AUTH, ALL);
        get(queue.putAsync("one"));
        assertEquals("one", rivals.take());
        isEmptyAndWorks();
    }

    @Test
    void putThatMayNotBeLookedForIsUnknownAndNoOtherIs() throws Exception {
        refuseLooksAfter("queue-", RefusedLookTest::isAny, RefusalReason.AUTH_FAILED, ALL);
        CompletableFuture<Void> first = queue.putAsync("one");
        CompletableFuture<Void> second = queue.putAsync("two");
        isUnknown(first);
        get(second);
        assertEquals(List.of("one", "two"), List.of(rivals.take(), rivals.take()));
        isEmptyAndWorks();
    }

    @Test
    void takeIsLookedForAgain() throws Exception {
        rivals.put("one");
        refuseLooksAfter("claim-", RefusedLookTest::isAny, RefusalReason.LIMIT_EXCEEDED, 3);
        assertEquals("one", get(queue.takeAsync()));
        isEmptyAndWorks();
    }

    @Test
    void takeThatMayNotBeLookedForIsUnknown() throws Exception {
        rivals.put("one");
        refuseLooksAfter("claim-", RefusedLookTest::isAny, RefusalReason.NO_AUTH, ALL);
        isUnknown(queue.takeAsync());
        isEmptyAndWorks();
    }

    @Test
    void claimIsLookedForAgain() throws Exception {
        rivals.put("one");
        refuseLooksAfter("claim-", RefusedLookTest::isAny, RefusalReason.LIMIT_EXCEEDED, 3);
        get(get(queue.claimAsync()).acknowledgeAsync());
        isEmptyAndWorks();
    }

    @Test
    void claimIsFoundWithoutItsCommitMarker() throws Exception {
        rivals.put("one");
        refuseLooksAfter("claim-", RefusedLookTest::isCommitMarker, RefusalReason.NO_AUTH, ALL);
        get(get(queue.claimAsync()).acknowledgeAsync());
        isEmptyAndWorks();
    }

    @Test
    void claimThatMayNotBeLookedForIsUnknown() throws Exception {
        rivals.put("one");
        refuseLooksAfter("claim-", RefusedLookTest::isAny, RefusalReason.NO_AUTH, ALL);
        isUnknown(queue.claimAsync());
        get(queue.putAsync("next"));
        assertEquals("next", get(queue.takeAsync()));
    }

    @Test
    void acknowledgementIsLookedForAgain() throws Exception {
        rivals.put("one");
        Claim<String> claim = get(queue.claimAsync());
        refuseLooksAfter("claim-", RefusedLookTest::isAny, RefusalReason.LIMIT_EXCEEDED, 3);
        get(claim.acknowledgeAsync());
        assertEquals(ClaimEnd.ACKNOWLEDGED, get(claim.ended()));
        isEmptyAndWorks();
    }

    @Test
    void acknowledgementThatMayNotBeLookedForIsUnknown() throws Exception {
        rivals.put("one");
        Claim<String> claim = get(queue.claimAsync());
        refuseLooksAfter("claim-", RefusedLookTest::isAny, RefusalReason.NO_AUTH, ALL);
        isUnknown(claim.acknowledgeAsync());
        assertEquals(ClaimEnd.RELEASED, get(claim.ended()));
        isEmptyAndWorks();
    }

    @Test
    void claimComesBackWhoseAcknowledgementWasNotCarriedOutAndMayNotBeLookedFor() throws Exception {
        rivals.put("one");
        Claim<String> claim = get(queue.claimAsync());
        refuseLooksAfter("claim-", RequestFate.DROP_BEFORE, RefusedLookTest::isAny, RefusalReason.NO_AUTH, ALL);
        isUnknown(claim.acknowledgeAsync());
        assertEquals("one", rivals.take());
        isEmptyAndWorks();
    }
}
