package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.LossReason;
import io.conclave.testkit.contract.RecipeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What permits with a lease promise, on every backend; a subclass says where the backend is. */
public abstract class LeasedSemaphoreContract extends RecipeFixture {
    private static final String PATH = "/leases/licences";
    private static final int PERMITS = 3;
    private static final Duration LONG = Duration.ofMinutes(10);

    /** Longer than a request takes on a busy machine; the clock of the store in memory waits for such a one. */
    private Duration shortLease() {
        return Duration.ofMillis(connectString().startsWith("memory:") ? 700 : 3_000);
    }

    private static LeasedSemaphore semaphore(Coordinator coordinator, Duration lease) {
        return LeasedSemaphore.at(coordinator, PATH, PERMITS, lease);
    }

    private static void awaitWaiters(Coordinator coordinator, int count) {
        awaitChildren(coordinator, PATH + "/line", count);
    }

    private static void awaitNothingLeft(Coordinator coordinator) {
        awaitWaiters(coordinator, 0);
        // the line is a container: the server deletes it when it has been empty
        await().until(() -> children(coordinator, PATH).stream().allMatch("line"::equals));
    }

    @Test
    void asManyHoldAsThereArePermits() throws Exception {
        Coordinator coordinator = connect();
        List<LeasedGrant> grants = new ArrayList<>();
        for (int i = 0; i < PERMITS; i++) {
            grants.add(semaphore(connect(), LONG).acquire(PATIENCE));
        }
        assertTrue(grants.stream().allMatch(LeasedGrant::isHeld));
        assertEquals(
                grants.stream().map(LeasedGrant::token).sorted().distinct().toList(),
                grants.stream().map(LeasedGrant::token).toList());
        assertEquals(Optional.empty(), semaphore(coordinator, LONG).tryAcquire());
        CompletableFuture<LeasedGrant> waiting = semaphore(coordinator, LONG).acquireAsync();
        awaitWaiters(coordinator, 1);
        assertFalse(waiting.isDone());
        grants.get(1).close();
        get(waiting).close();
        grants.forEach(LeasedGrant::close);
        awaitNothingLeft(coordinator);
    }

    @Test
    void severalComeAtOnceOrNotAtAllAndAreNotOvertaken() throws Exception {
        Coordinator coordinator = connect();
        LeasedGrant two = semaphore(connect(), LONG).together(2).acquire();
        assertEquals(2, two.permits());
        CompletableFuture<LeasedGrant> three =
                semaphore(coordinator, LONG).together(3).acquireAsync();
        awaitWaiters(coordinator, 1);
        assertEquals(Optional.empty(), semaphore(connect(), LONG).tryAcquire(), "one is ahead in the line");
        assertEquals(1, semaphore(coordinator, LONG).holders().size());
        two.close();
        LeasedGrant all = get(three);
        assertEquals(3, semaphore(coordinator, LONG).holders().get(0).permits());
        all.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void permitsOfDeadHoldersComeBackAfterAWholeLease() throws Exception {
        Coordinator coordinator = connect();
        LeasedGrant stays = semaphore(coordinator, LONG).acquire();
        leaveTwoByADeadProcess();
        assertEquals(3, semaphore(coordinator, LONG).holders().size());
        LeasedGrant two = semaphore(coordinator, LONG).together(2).acquire(PATIENCE);
        assertEquals(2, semaphore(coordinator, LONG).holders().size());
        assertTrue(stays.isHeld());
        two.close();
        stays.close();
        awaitNothingLeft(coordinator);
    }

    /** Of a process that held them when it died: of longer leases, where a busy machine needs longer for that. */
    private void leaveTwoByADeadProcess() throws Exception {
        boolean wereHeld = false;
        for (Duration lease = shortLease(); !wereHeld; lease = lease.multipliedBy(2)) {
            Coordinator dying = connect();
            LeasedGrant one = semaphore(dying, lease).acquire(PATIENCE);
            LeasedGrant other = semaphore(dying, lease).acquire(PATIENCE);
            dying.close();
            wereHeld = get(one.lost()) != LossReason.TIME_OVER && get(other.lost()) != LossReason.TIME_OVER;
        }
    }

    @Test
    void anyProcessReleasesOrGoesOnByTheId() throws Exception {
        Coordinator leaving = connect();
        Coordinator coordinator = connect();
        LeasedGrant two = semaphore(leaving, LONG).together(2).acquire();
        leaving.close();
        LeasedGrant resumed = semaphore(coordinator, LONG).resume(two.id()).orElseThrow();
        assertEquals(2, resumed.permits());
        assertEquals(two.token(), resumed.token());
        assertTrue(semaphore(connect(), LONG).release(two.id()));
        assertEquals(LossReason.NODE_DELETED, get(resumed.lost()));
        semaphore(coordinator, LONG).together(3).acquire(PATIENCE).close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void neverMoreAreOutThanThereAre() throws Exception {
        AtomicInteger out = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int session = 0; session < 4; session++) {
            int count = 1 + session % 2;
            LeasedSemaphore semaphore = semaphore(connect(), LONG).together(count);
            all.add(threads.submit(() -> {
                for (int i = 0; i < 6; i++) {
                    try (LeasedGrant grant = semaphore.acquire()) {
                        assertTrue(out.addAndGet(grant.permits()) <= PERMITS);
                        out.addAndGet(-grant.permits());
                    }
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(120, SECONDS);
        }
        awaitNothingLeft(connect());
    }

    @Test
    void numbersOutOfRangeAreRefusedByName() {
        Coordinator coordinator = connect();
        assertThrows(IllegalArgumentException.class, () -> LeasedSemaphore.at(coordinator, PATH, 0, LONG));
        IllegalArgumentException tooMany =
                assertThrows(IllegalArgumentException.class, () -> semaphore(coordinator, LONG)
                        .together(4));
        assertEquals("Invalid number of permits 4 of " + PATH + ": it must be from 1 to 3", tooMany.getMessage());
    }
}
