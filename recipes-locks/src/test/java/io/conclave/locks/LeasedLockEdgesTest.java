package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a call says of a lease by its id when replies are lost, and what it leaves at the store when it is refused. */
@Timeout(value = 300, unit = SECONDS)
class LeasedLockEdgesTest {
    private static final String PATH = "/leases/edges";
    private static final Duration LEASE = Duration.ofMinutes(10);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator one = store.connect();
    private final Coordinator other = store.connect();
    private final Faults faults = store.faults();

    private static LeasedLock lock(Coordinator coordinator) {
        return LeasedLock.at(coordinator, PATH, LEASE);
    }

    /** What the next request of this kind meets that {@code one} sends for the znode of this lease. */
    private void onNext(Class<?> kind, String id, RequestFate fate) {
        faults.onNext(
                RecipeAccess.session(one).id(),
                request -> kind.isInstance(request) && request.toString().contains(id),
                fate);
    }

    @Test
    void releaseOfWhatWasNeverThereIsFalseAlsoWhenRepliesAreLost() throws Exception {
        for (Class<?> kind : new Class<?>[] {Delete.class, Request.class}) {
            for (RequestFate fate : new RequestFate[] {RequestFate.DROP_AFTER, RequestFate.EXPIRE_AFTER}) {
                String id = LeaseLayout.newId();
                onNext(kind, id, fate);
                assertFalse(lock(one).release(id), () -> kind + " " + fate);
            }
        }
    }

    @Test
    void releaseOfWhatIsThereIsTrueAlsoWhenRepliesAreLost() throws Exception {
        for (Class<?> kind : new Class<?>[] {Delete.class, Request.class}) {
            for (RequestFate fate : new RequestFate[] {RequestFate.DROP_AFTER, RequestFate.EXPIRE_AFTER}) {
                String id = lock(other).acquire().id();
                onNext(kind, id, fate);
                assertTrue(lock(one).release(id), () -> kind + " " + fate);
                assertFalse(lock(one).release(id));
                assertEquals(0, lock(other).holders().size());
            }
        }
    }

    /** Its reply was lost, and another process has gone on with it before that is known. */
    @Test
    void leaseThatAnotherHasMadeLongerBeforeItWasKnownGetsNoShorter() throws Exception {
        lock(other).acquire().close(); // so that all parents are there
        long session = RecipeAccess.session(one).id();
        faults.reconnectAfter(Duration.ofHours(1));
        faults.onNext(Multi.class::isInstance, RequestFate.DROP_AFTER);
        CompletableFuture<LeasedGrant> acquiring = lock(one).acquireAsync();
        await().until(() -> lock(other).holders().size() == 1);
        LeasedLock longer = LeasedLock.at(other, PATH, LEASE.multipliedBy(2));
        String id = longer.holders().get(0).id();
        assertTrue(longer.resume(id).isPresent());
        faults.restore(session);
        LeasedGrant grant = acquiring.get(120, SECONDS);
        assertEquals(id, grant.id());
        grant.extend(LEASE);
        assertEquals(LEASE.multipliedBy(2), longer.holders().get(0).lease());
    }

    @Test
    void refusedResumeLeavesNoWatch() throws Exception {
        LeasedGrant grant = lock(other).acquire();
        other.execute(SetData.of(grant.path(), new byte[0]));
        long session = RecipeAccess.session(one).id();
        int before = faults.watchCount(session);
        assertThrows(IllegalStateException.class, () -> lock(one).resume(grant.id()));
        await().until(() -> faults.watchCount(session) == before);
    }

    @Test
    void resumeThatAClosedCoordinatorEndsDoesNotSayThatThereIsNoSuchGrant() throws Exception {
        LeasedGrant grant = lock(other).acquire();
        faults.suspend(RecipeAccess.session(one).id());
        CompletableFuture<Optional<LeasedGrant>> resumed = lock(one).resumeAsync(grant.id());
        one.close();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> resumed.get(60, SECONDS));
        assertTrue(failure.getCause() instanceof ClosedException, () -> "was " + failure);
    }

    @Test
    void grantThatIsClosedRightBeforeItsCoordinatorIsReleased() throws Exception {
        LeasedGrant grant = lock(one).acquire();
        RecipeSession session = RecipeAccess.session(one);
        session.execute(
                () -> { // one right behind the other
                    grant.closeAsync();
                    one.close();
                });
        await().atMost(Duration.ofMinutes(2)).until(() -> !faults.liveSessions().contains(session.id()));
        assertEquals(List.of(), lock(other).holders());
    }

    @Test
    void holdersAreReadLinearizablyIfTheCoordinatorReadsSo() throws Exception {
        LeasedGrant grant = lock(other).acquire();
        try (Coordinator reader = store.builder()
                .linearizableReads(true)
                .timeSource(new ManualTimeSource()) // so that its server lags until it is asked to catch up
                .connect()) {
            faults.onNext(RecipeAccess.session(reader).id(), Delete.class::isInstance, RequestFate.DROP_AND_LAG);
            assertThrows(OutcomeUnknownException.class, () -> reader.execute(Delete.of(grant.path())));
            assertEquals(List.of(), lock(reader).holders());
        }
    }

    /** The connection goes at the first of the reads, which is sent again behind the others. */
    @Test
    void holderWhoseZnodeIsReadAgainIsNotLeftOut() throws Exception {
        LeasedSemaphore theirs = LeasedSemaphore.at(other, "/leases/permits", 3, LEASE);
        for (int i = 0; i < 3; i++) {
            theirs.acquire();
        }
        faults.onNext(RecipeAccess.session(one).id(), GetData.class::isInstance, RequestFate.DROP_BEFORE);
        assertEquals(
                3,
                LeasedSemaphore.at(one, "/leases/permits", 3, LEASE).holders().size());
    }

    /** The pause after a refusal ends when the next session has sent it already. */
    @Test
    void extensionThatWasRefusedOnALostSessionIsNotSentTwiceOnTheNext() throws Exception {
        ManualTimeSource clock = new ManualTimeSource();
        try (Coordinator extending = store.opened(store.builder().timeSource(clock))) {
            LeasedGrant grant = lock(extending).acquire();
            AtomicInteger sent = new AtomicInteger();
            faults.refuse(
                    request -> request instanceof SetData && sent.incrementAndGet() <= 2, RefusalReason.NOT_WRITABLE);
            CompletableFuture<Void> extended = grant.extendAsync(LEASE);
            await().until(() -> sent.get() == 1);
            RecipeSession before = RecipeAccess.session(extending);
            awaitDispatcher(before);
            faults.expire(before.id());
            await().until(() -> sent.get() == 2);
            RecipeSession next = RecipeAccess.session(extending);
            faults.holdReplies(next.id()); // waits until what is being refused is refused
            awaitDispatcher(next); // so both pauses have begun
            clock.advance(Duration.ofSeconds(2)); // both pauses
            awaitDispatcher(before);
            awaitDispatcher(next);
            faults.releaseReplies(next.id());
            extended.get(120, SECONDS);
            assertEquals(3, sent.get());
        }
    }

    /** What the dispatcher was given before is done when this returns. */
    private static void awaitDispatcher(RecipeSession session) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        session.execute(() -> done.complete(null));
        done.get(120, SECONDS);
    }
}
