package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.grant.RevocationOutcome;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A client that asks a holder to give up is closed meanwhile: it is unknown whether the holder was asked only if the
 * answer to that was missing.
 */
@Timeout(300)
class ClosedRevocationTest {
    private static final Duration DEADLINE = Duration.ofSeconds(1);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator holder = store.connect(new ManualTimeSource());
    private final Coordinator revoker = store.connect(clock);

    /** What it fails with if the revoker is closed while the reply to that request is missing. */
    private Class<?> failureOfClosingBefore(Predicate<Request<?>> answered) throws Exception {
        DistributedLock.at(holder, "/lock").acquire();
        DistributedLock lock = DistributedLock.at(revoker, "/lock");
        LockMember member = lock.holder().orElseThrow();
        AtomicBoolean isHeld = new AtomicBoolean();
        faults.onNext(
                RecipeAccess.session(revoker).id(),
                request -> answered.test(request) && isHeld.compareAndSet(false, true),
                RequestFate.HOLD_REPLY);
        CompletableFuture<RevocationOutcome> outcome = lock.requestRelease(member, DEADLINE);
        clock.advanceUntil(Duration.ofMillis(100), isHeld::get);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(revoker::close);
        clock.advanceUntil(Duration.ofMillis(100), closed::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> outcome.get(120, SECONDS));
        return failure.getCause().getClass();
    }

    private static Predicate<Request<?>> behindTheWord(Class<? extends Request<?>> read) {
        AtomicBoolean isAsked = new AtomicBoolean();
        return request -> {
            boolean matches = isAsked.get() && read.isInstance(request);
            isAsked.compareAndSet(false, request instanceof SetData);
            return matches;
        };
    }

    @Test
    void beforeTheHolderIsKnownToBeAskedItIsUnknown() throws Exception {
        assertEquals(OutcomeUnknownException.class, failureOfClosingBefore(SetData.class::isInstance));
    }

    @Test
    void beforeAnythingIsWrittenItIsKnown() throws Exception {
        assertEquals(ClosedException.class, failureOfClosingBefore(GetData.class::isInstance));
    }

    @Test
    void whileItLooksWhetherTheHolderHasGoneItIsKnown() throws Exception {
        assertEquals(ClosedException.class, failureOfClosingBefore(behindTheWord(GetData.class)));
    }

    @Test
    void beforeTheDeletionAtTheDeadlineIsAnsweredItIsUnknown() throws Exception {
        assertEquals(OutcomeUnknownException.class, failureOfClosingBefore(Delete.class::isInstance));
    }
}
