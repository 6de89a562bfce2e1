package io.conclave.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The reply of a write is lost, and the look what became of it is refused: that says nothing of the write. */
class RefusedLookTest {
    private static final Duration STEP = Duration.ofMillis(100);

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator coordinator = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofHours(1))
            .timeSource(clock)
            .connect();

    @AfterEach
    void close() {
        faults.clear();
        coordinator.close();
        MemoryStore.forget(store);
    }

    /** The next write takes effect and its reply is lost; so many looks behind it are refused. */
    private <T> CompletableFuture<T> write(
            Supplier<CompletableFuture<T>> write, RequestFate fate, RefusalReason reason, int looks) {
        AtomicInteger left = new AtomicInteger();
        faults.refuse(request -> request.isRead() && left.getAndUpdate(one -> Math.max(0, one - 1)) > 0, reason);
        faults.onNext(
                request -> {
                    if (!request.isRead()) {
                        left.set(looks);
                    }
                    return !request.isRead();
                },
                fate);
        CompletableFuture<T> outcome = write.get();
        clock.advanceUntil(STEP, outcome::isDone);
        return outcome;
    }

    private <T> T isFoundOut(Supplier<CompletableFuture<T>> write) {
        return write(write, RequestFate.DROP_AFTER, RefusalReason.LIMIT_EXCEEDED, 3)
                .join();
    }

    private void isUnknown(Supplier<CompletableFuture<?>> write) {
        CompletableFuture<?> outcome = write(
                () -> write.get().thenApply(any -> any),
                RequestFate.DROP_AFTER,
                RefusalReason.AUTH_FAILED,
                Integer.MAX_VALUE);
        Throwable failure =
                assertThrows(CompletionException.class, outcome::join).getCause();
        assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
        assertInstanceOf(RefusedException.class, failure.getCause(), failure::toString);
        faults.clear();
    }

    private Barrier barrier() {
        return Barrier.at(coordinator, "/barrier");
    }

    private Latch latch() {
        return Latch.at(coordinator, "/latch", 3);
    }

    @Test
    void countIsLookedForAgain() throws Exception {
        latch().countDown();
        isFoundOut(latch()::countDownAsync);
        assertEquals(1, latch().remaining());
    }

    @Test
    void countThatMayNotBeLookedForIsUnknown() throws Exception {
        latch().countDown();
        isUnknown(latch()::countDownAsync);
        assertEquals(1, latch().remaining());
    }

    @Test
    void barrierThatIsSetIsLookedForAgain() throws Exception {
        isFoundOut(barrier()::setAsync);
        assertTrue(barrier().isSet());
    }

    @Test
    void barrierThatWasNotSetIsSetAfterALookThatWasRefusedAtFirst() throws Exception {
        write(barrier()::setAsync, RequestFate.DROP_BEFORE, RefusalReason.LIMIT_EXCEEDED, 3)
                .join();
        assertTrue(barrier().isSet());
    }

    @Test
    void barrierThatMayNotBeLookedForIsUnknown() throws Exception {
        isUnknown(barrier()::setAsync);
        assertTrue(barrier().isSet());
    }

    @Test
    void refusedBarrierIsRefused() throws Exception {
        faults.refuse(request -> !request.isRead(), RefusalReason.NO_AUTH);
        assertThrows(RefusedException.class, barrier()::set);
        faults.clear();
        assertFalse(barrier().isSet());
    }

    @Test
    void removalIsLookedForAgain() throws Exception {
        barrier().set();
        isFoundOut(barrier()::removeAsync);
        assertFalse(barrier().isSet());
    }

    @Test
    void removalThatMayNotBeLookedForIsUnknown() throws Exception {
        barrier().set();
        isUnknown(barrier()::removeAsync);
        assertFalse(barrier().isSet());
    }
}
