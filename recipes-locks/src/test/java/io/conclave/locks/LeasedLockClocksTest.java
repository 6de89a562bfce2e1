package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** By which clocks a lease is over: of the holder by both, of a waiter by its monotonic one, each by its own. */
@Timeout(value = 300, unit = SECONDS)
class LeasedLockClocksTest {
    private static final String PATH = "/leases/clocks";
    private static final Duration LEASE = Duration.ofSeconds(60);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final ManualTimeSource holdersClock = new ManualTimeSource();
    private final ManualTimeSource waitersClock = new ManualTimeSource();
    private final Coordinator holding = store.connect(holdersClock);
    private final Coordinator waiting = store.connect(waitersClock);

    private static LeasedLock lock(Coordinator coordinator) {
        return LeasedLock.at(coordinator, PATH, LEASE);
    }

    private void awaitWaiters(int count) {
        await().until(() -> RecipeFixture.children(holding, PATH + "/line").size() == count);
    }

    @Test
    void waitersWallClockDoesNotCount() throws Exception {
        LeasedGrant grant = lock(holding).acquire();
        assertEquals(Optional.empty(), lock(waiting).tryAcquire());
        waitersClock.advanceWallOnly(Duration.ofMinutes(30));
        assertEquals(Optional.empty(), lock(waiting).tryAcquire());
        assertTrue(grant.isHeld());
        waitersClock.advance(LEASE.minusMillis(1));
        assertEquals(Optional.empty(), lock(waiting).tryAcquire());
        waitersClock.advance(Duration.ofMillis(1));
        assertTrue(lock(waiting).tryAcquire().isPresent());
    }

    @Test
    void holderGivesUpByTheClockThatSaysSoFirst() throws Exception {
        LeasedGrant grant = lock(holding).acquire();
        assertTrue(grant.remaining().compareTo(LEASE.minusSeconds(1)) > 0);
        holdersClock.advanceWallOnly(Duration.ofMillis(59_500)); // and one percent for drift
        assertFalse(grant.isHeld());
        holdersClock.advanceWallOnly(Duration.ofMinutes(-10));
        assertFalse(grant.isHeld(), "what has passed stays passed");
        GrantLostException lost = assertThrows(GrantLostException.class, grant::ensureHeld);
        assertEquals(LossReason.TIME_OVER, lost.reason());
        assertThrows(GrantLostException.class, () -> grant.extend(LEASE));
    }

    /** The holder deletes what it does not hold any more, so that others need not wait for as long again. */
    @Test
    void holderWhoseTimeIsOverFreesTheLock() throws Exception {
        LeasedGrant grant = lock(holding).acquire();
        CompletableFuture<LeasedGrant> next = lock(waiting).acquireAsync();
        awaitWaiters(1);
        holdersClock.advanceUntil(Duration.ofSeconds(5), next::isDone);
        assertEquals(LossReason.TIME_OVER, grant.lost().get(120, SECONDS));
        assertTrue(next.get(120, SECONDS).isHeld());
    }

    /** After a pause of the machine the time is over by its wall clock, and the session is lost: no timer is due. */
    @Test
    void holderThatComesBackToALostSessionIsToldThatItsTimeIsOver() throws Exception {
        LeasedGrant grant = lock(holding).acquire();
        holdersClock.advanceWallOnly(LEASE);
        store.faults().expire(RecipeAccess.session(holding).id());
        holdersClock.advanceUntil(Duration.ofMillis(10), grant.lost()::isDone);
        assertEquals(LossReason.TIME_OVER, grant.lost().get(120, SECONDS));
        assertTrue(lock(waiting).acquire(Duration.ofMinutes(1)).isHeld(), "it has deleted its record");
    }

    /** The holder's extension takes effect, and its connection breaks before the reply; it comes back too late. */
    private LeasedGrant holderThatIsAwayWhileItsExtensionTakesEffect() throws Exception {
        LeasedGrant grant = lock(holding).acquire();
        Faults faults = store.faults();
        faults.keepAway(holdersClock);
        faults.onNext(request -> request instanceof SetData, RequestFate.DROP_AFTER);
        grant.extendAsync(LEASE);
        await().until(() -> holding.state() == SessionState.SUSPENDED);
        return grant;
    }

    @Test
    void holderFreesTheLockThoughItDidNotHearThatItHadExtendedItsLease() throws Exception {
        LeasedGrant grant = holderThatIsAwayWhileItsExtensionTakesEffect();
        CompletableFuture<LeasedGrant> next = lock(waiting).acquireAsync();
        holdersClock.advanceUntil(Duration.ofSeconds(5), grant.lost()::isDone);
        store.faults().rejoin(holdersClock);
        assertTrue(next.get(60, SECONDS).isHeld());
    }

    @Test
    void holderThatDidNotHearOfItsExtensionLeavesALeaseAloneThatAnotherHasExtendedSince() throws Exception {
        LeasedGrant grant = holderThatIsAwayWhileItsExtensionTakesEffect();
        LeasedGrant resumed = lock(waiting).resume(grant.id()).orElseThrow();
        holdersClock.advanceUntil(Duration.ofSeconds(5), grant.lost()::isDone);
        store.faults().rejoin(holdersClock);
        grant.closeAsync().get(60, SECONDS);
        assertEquals(1, lock(waiting).holders().size());
        assertTrue(resumed.isHeld());
    }

    @Test
    void extensionCountsForThoseWhoHaveLookedBefore() throws Exception {
        LeasedGrant grant = lock(holding).acquire();
        assertEquals(Optional.empty(), lock(waiting).tryAcquire());
        waitersClock.advance(LEASE.minusSeconds(10));
        grant.extend(LEASE);
        waitersClock.advance(Duration.ofSeconds(20));
        assertEquals(Optional.empty(), lock(waiting).tryAcquire());
        waitersClock.advance(LEASE);
        assertTrue(lock(waiting).tryAcquire().isPresent());
        assertThrows(GrantLostException.class, () -> grant.extend(LEASE)); // somebody else has acted meanwhile
        assertEquals(LossReason.NODE_DELETED, grant.lost().get(120, SECONDS));
    }

    @Test
    void timeOfAWaiterBehindAnotherCountsFromItsOwnFirstLook() throws Exception {
        lock(holding).acquire();
        try (Coordinator first = store.connect(new ManualTimeSource())) {
            CompletableFuture<LeasedGrant> ahead = lock(first).acquireAsync();
            awaitWaiters(1);
            CompletableFuture<LeasedGrant> behind = lock(waiting).acquireAsync();
            awaitWaiters(2);
            // its look is answered, so its next request is as well
            assertEquals(1, lock(waiting).holders().size());
            waitersClock.advance(LEASE);
            assertFalse(behind.isDone());
            ahead.cancel(true);
            assertTrue(behind.get(120, SECONDS).isHeld());
        }
    }
}
