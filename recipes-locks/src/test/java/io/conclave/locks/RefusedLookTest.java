package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The reply of a write is lost, and the look what became of it is refused: that says nothing of the write. */
@Timeout(300)
class RefusedLookTest {
    private static final Duration STEP = Duration.ofMillis(100);
    private static final Duration LEASE = Duration.ofMinutes(10);
    private static final Duration DEADLINE = Duration.ofSeconds(1);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator holder = store.connect(new ManualTimeSource());
    private final Coordinator coordinator = store.connect(clock);

    /** The next such write meets that fate; so many reads behind it are refused. */
    private <T> CompletableFuture<T> call(
            Class<? extends Request<?>> write,
            RequestFate fate,
            RefusalReason reason,
            int looks,
            Supplier<CompletableFuture<T>> call) {
        AtomicInteger left = new AtomicInteger();
        faults.refuse(request -> request.isRead() && left.getAndUpdate(one -> Math.max(0, one - 1)) > 0, reason);
        faults.onNext(
                RecipeAccess.session(coordinator).id(),
                request -> {
                    if (write.isInstance(request)) {
                        left.set(looks);
                    }
                    return write.isInstance(request);
                },
                fate);
        CompletableFuture<T> outcome = call.get();
        clock.advanceUntil(STEP, outcome::isDone);
        return outcome;
    }

    private void isUnknown(
            Class<? extends Request<?>> write, RequestFate fate, Supplier<? extends CompletableFuture<?>> call) {
        CompletableFuture<?> outcome = call(write, fate, RefusalReason.AUTH_FAILED, Integer.MAX_VALUE, () -> call.get()
                .thenApply(any -> any));
        Throwable failure =
                assertThrows(CompletionException.class, outcome::join).getCause();
        assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
        assertInstanceOf(RefusedException.class, failure.getCause(), failure::toString);
        faults.clear();
    }

    private LeasedLock leasedLock() {
        return LeasedLock.at(coordinator, "/leased", LEASE);
    }

    @Test
    void releaseThatMayNotBeLookedUpIsUnknown() throws Exception {
        String id = leasedLock().acquire().id();
        isUnknown(Delete.class, RequestFate.DROP_AFTER, () -> leasedLock().releaseAsync(id));
        assertFalse(leasedLock().release(id), "it was released");
    }

    @Test
    void releaseIsLookedUpAgain() throws Exception {
        String id = leasedLock().acquire().id();
        assertTrue(call(Delete.class, RequestFate.DROP_AFTER, RefusalReason.LIMIT_EXCEEDED, 3, () -> leasedLock()
                        .releaseAsync(id))
                .join());
    }

    @Test
    void releaseThatIsRefusedOnceALookHasShownTheLeaseIsToldAsRefused() throws Exception {
        String id = leasedLock().acquire().id();
        AtomicInteger deletions = new AtomicInteger();
        faults.refuse(request -> request instanceof Delete && deletions.incrementAndGet() > 1, RefusalReason.NO_AUTH);
        CompletableFuture<Boolean> released =
                call(Delete.class, RequestFate.DROP_BEFORE, RefusalReason.OTHER, 0, () -> leasedLock()
                        .releaseAsync(id));
        Throwable failure =
                assertThrows(CompletionException.class, released::join).getCause();
        assertInstanceOf(RefusedException.class, failure, failure::toString);
        faults.clear();
        assertTrue(leasedLock().release(id));
    }

    @Test
    void releaseWhoseReplyIsMissingWhenTheCoordinatorIsClosedIsUnknown() throws Exception {
        String id = LeasedLock.at(holder, "/leased", LEASE).acquire().id();
        faults.onNext(RecipeAccess.session(coordinator).id(), Delete.class::isInstance, RequestFate.HOLD_REPLY);
        CompletableFuture<Boolean> released = leasedLock().releaseAsync(id);
        Awaitility.await().until(() -> !LeasedLock.at(holder, "/leased", LEASE).holders().stream()
                .anyMatch(lease -> lease.id().equals(id)));
        CompletableFuture<Void> closed = CompletableFuture.runAsync(coordinator::close);
        clock.advanceUntil(STEP, closed::isDone);
        Throwable failure =
                assertThrows(CompletionException.class, released::join).getCause();
        assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
    }

    private CompletableFuture<RevocationOutcome> requestRelease() {
        DistributedLock lock = DistributedLock.at(coordinator, "/lock");
        try {
            return lock.requestRelease(lock.holder().orElseThrow(), DEADLINE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** By a holder that hears nothing from now on, and whose time stands: it does not read, so it is not refused. */
    private LockGrant held() throws InterruptedException {
        LockGrant grant = DistributedLock.at(holder, "/lock").acquire();
        faults.holdReplies(RecipeAccess.session(holder).id());
        return grant;
    }

    private boolean isAsked(LockGrant grant) throws InterruptedException {
        return coordinator.execute(GetData.of(grant.path())).stat().version() > 0;
    }

    @Test
    void wordThatMayNotBeLookedForIsUnknown() throws Exception {
        LockGrant grant = held();
        isUnknown(SetData.class, RequestFate.DROP_AFTER, this::requestRelease);
        assertTrue(isAsked(grant));
    }

    @Test
    void wordThatIsWrittenButWhoseEffectMayNotBeLookedUpIsUnknown() throws Exception {
        LockGrant grant = held();
        isUnknown(SetData.class, RequestFate.PROCEED, this::requestRelease);
        assertTrue(isAsked(grant));
    }

    @Test
    void deletionAtTheDeadlineThatMayNotBeLookedUpIsUnknown() throws Exception {
        LockGrant grant = held();
        isUnknown(Delete.class, RequestFate.DROP_BEFORE, this::requestRelease);
        assertTrue(isAsked(grant));
    }

    @Test
    void requestForAReleaseIsLookedUpAgain() throws Exception {
        for (Class<? extends Request<?>> write : List.<Class<? extends Request<?>>>of(SetData.class, Delete.class)) {
            held();
            assertEquals(
                    RevocationOutcome.DELETED,
                    call(write, RequestFate.DROP_AFTER, RefusalReason.LIMIT_EXCEEDED, 3, this::requestRelease)
                            .join());
            faults.clear();
        }
    }
}
