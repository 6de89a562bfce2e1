package io.conclave.locks;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.RefusedException;
import io.conclave.line.RevocationWord;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** What a distributed semaphore promises, on every backend; a subclass says where the backend is. */
public abstract class SemaphoreContract extends SemaphoreCrowdContract {
    @Test
    void permitsAreGrantedAndGivenBack() throws Exception {
        Coordinator coordinator = connect();
        PermitGrant grant = semaphore(coordinator, 3).acquire(2, PATIENCE);
        assertEquals(2, grant.permits());
        assertTrue(grant.isHeld());
        grant.ensureHeld();
        assertTrue(grant.remaining().compareTo(sessionTimeout()) <= 0);
        assertEquals(
                grant.paths().stream().map(NodePath::name).toList(),
                leases(coordinator).stream().sorted().toList());
        for (String name : leases(coordinator)) {
            assertTrue(name.matches("_c_[0-9a-f-]{36}-lease-[0-9]{10}"), name);
        }
        assertEquals(List.of(), places(coordinator));
        grant.close();
        assertFalse(grant.isHeld());
        assertEquals(Duration.ZERO, grant.remaining());
        get(grant.closeAsync()); // close() waits no longer than the session has left
        assertEquals(List.of(), leases(coordinator));
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
        assertThrows(GrantLostException.class, grant::ensureHeld);
        grant.close();
        grant.closeAsync().toCompletableFuture().get(120, SECONDS);
    }

    @Test
    void noMorePermitsThanThereAre() throws Exception {
        Coordinator coordinator = connect();
        PermitGrant first = semaphore(coordinator, 2).acquire();
        PermitGrant second = semaphore(connect(), 2).acquire(PATIENCE);
        assertTrue(semaphore(coordinator, 2).tryAcquire(1).isEmpty());
        assertTrue(
                semaphore(coordinator, 2).tryAcquireAsync(1).get(120, SECONDS).isEmpty());
        assertThrows(
                AcquireTimeoutException.class, () -> semaphore(coordinator, 2).acquire(Duration.ofMillis(50)));
        awaitPlaces(coordinator, 0);
        CompletableFuture<PermitGrant> waiter = semaphore(coordinator, 2).acquireAsync(1);
        awaitPlaces(coordinator, 1);
        first.close();
        waiter.get(120, SECONDS).close();
        semaphore(coordinator, 2).tryAcquire(1).orElseThrow().close();
        second.close();
        awaitEmpty(coordinator);
    }

    @Test
    void severalPermitsAreGrantedTogetherOrNotAtAll() throws Exception {
        Coordinator coordinator = connect();
        PermitGrant one = semaphore(coordinator, 3).acquire();
        PermitGrant other = semaphore(coordinator, 3).acquire();
        CompletableFuture<PermitGrant> both = semaphore(connect(), 3).acquireAsync(3);
        awaitPlaces(coordinator, 1);
        one.close();
        awaitLeases(coordinator, 1); // nothing is taken while waiting for more
        assertFalse(both.isDone());
        assertEquals(1, leases(coordinator).size());
        other.close();
        PermitGrant grant = both.get(120, SECONDS);
        assertEquals(3, leases(coordinator).size());
        grant.close();
        awaitEmpty(coordinator);
    }

    @Test
    void waiterForManyPermitsIsNotOvertakenByWaitersForFew() throws Exception {
        Coordinator coordinator = connect();
        PermitGrant held = semaphore(coordinator, 3).acquire();
        CompletableFuture<PermitGrant> many = semaphore(coordinator, 3).acquireAsync(3);
        awaitPlaces(coordinator, 1);
        CompletableFuture<PermitGrant> few = semaphore(connect(), 3).acquireAsync(1);
        awaitPlaces(coordinator, 2);
        assertTrue(semaphore(coordinator, 3).tryAcquire(1).isEmpty());
        assertFalse(few.isDone());
        held.close();
        PermitGrant grant = many.get(120, SECONDS);
        awaitPlaces(coordinator, 1);
        assertFalse(few.isDone());
        grant.close();
        few.get(120, SECONDS).close();
        awaitEmpty(coordinator);
    }

    @Test
    void morePermitsThanThereAreAreRefusedAtOnceIfTheNumberIsFixed() {
        Coordinator coordinator = connect();
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> semaphore(coordinator, 3).acquire(4));
        assertTrue(refused.getMessage().contains("4") && refused.getMessage().contains("3"), refused.getMessage());
        assertThrows(
                IllegalArgumentException.class, () -> semaphore(coordinator, 3).acquireAsync(4));
        assertThrows(
                IllegalArgumentException.class, () -> semaphore(coordinator, 3).tryAcquire(0));
        assertThrows(IllegalArgumentException.class, () -> semaphore(coordinator, 0));
        assertThrows(IllegalArgumentException.class, () -> adjustable(coordinator, -1));
        assertThrows(
                IllegalArgumentException.class, () -> adjustable(coordinator, 1).setPermits(-1));
        assertThrows(
                IllegalStateException.class, () -> semaphore(coordinator, 3).setPermits(1));
        assertThrows(IllegalArgumentException.class, () -> DistributedSemaphore.at(coordinator, "/", 1));
        assertThrows(
                IllegalArgumentException.class, () -> semaphore(coordinator, 3).acquire(1, Duration.ofSeconds(-1)));
    }

    @Test
    void morePermitsThanThereAreAreWaitedForIfTheNumberMayChange() throws Exception {
        Coordinator coordinator = connect();
        DistributedSemaphore semaphore = adjustable(coordinator, 2);
        CompletableFuture<PermitGrant> waiter = adjustable(connect(), 2).acquireAsync(3);
        awaitPlaces(coordinator, 1);
        assertTrue(semaphore.tryAcquire(1).isEmpty());
        semaphore.setPermits(3);
        PermitGrant grant = waiter.get(120, SECONDS);
        assertEquals(3, semaphore.permits());
        semaphore.setPermitsAsync(1).get(120, SECONDS);
        assertTrue(grant.isHeld(), "fewer permits take none away");
        CompletableFuture<PermitGrant> next = semaphore.acquireAsync(1);
        awaitPlaces(coordinator, 1);
        grant.close();
        next.get(120, SECONDS).close();
        awaitEmpty(coordinator);
    }

    @Test
    void numberOfPermitsIsFourBytesBigEndian() throws Exception {
        Coordinator coordinator = connect();
        NodePath znode = NodePath.of(SEMAPHORE + "/permits");
        adjustable(coordinator, 258).acquire(2).close();
        assertArrayEquals(
                new byte[] {0, 0, 1, 2}, coordinator.execute(GetData.of(znode)).data());
        coordinator.execute(SetData.of(znode, new byte[] {0, 0, 0, 1}));
        assertEquals(1, adjustable(coordinator, 258).permits());
        assertTrue(adjustable(coordinator, 258).tryAcquire(2).isEmpty());
        coordinator.execute(SetData.of(znode, new byte[] {1}));
        RefusedException refused = assertThrows(
                RefusedException.class, () -> adjustable(coordinator, 258).acquire(PATIENCE));
        assertTrue(refused.getMessage().contains("four"), refused.getMessage());
        awaitEmpty(coordinator);
    }

    @Test
    void numberIsMadeAgainAfterItsDeletion() throws Exception {
        Coordinator coordinator = connect();
        DistributedSemaphore semaphore = adjustable(coordinator, 1);
        PermitGrant grant = semaphore.acquire(PATIENCE);
        CompletableFuture<PermitGrant> waiter = semaphore.acquireAsync(1);
        awaitPlaces(coordinator, 1);
        coordinator.execute(Delete.of(NodePath.of(SEMAPHORE + "/permits")));
        await().atMost(PATIENCE).until(() -> semaphore.permits() == 1);
        grant.close();
        waiter.get(120, SECONDS).close();
        awaitEmpty(coordinator);
    }

    @Test
    void holderLosesAllItsPermitsWhenOneIsDeleted() throws Exception {
        Coordinator coordinator = connect();
        PermitGrant grant = semaphore(coordinator, 3).acquire(3);
        CompletableFuture<PermitGrant> waiter = semaphore(connect(), 3).acquireAsync(3);
        awaitPlaces(coordinator, 1);
        coordinator.execute(Delete.of(grant.paths().get(1)));
        assertEquals(LossReason.NODE_DELETED, grant.lost().toCompletableFuture().get(120, SECONDS));
        assertFalse(grant.isHeld());
        PermitGrant next = waiter.get(120, SECONDS);
        grant.close();
        assertTrue(next.isHeld());
        assertEquals(3, leases(coordinator).size());
        next.close();
        awaitEmpty(coordinator);
    }

    @Test
    void waiterFailsAtOnceWhenItsPlaceIsDeleted() throws Exception {
        Coordinator coordinator = connect();
        PermitGrant grant = semaphore(coordinator, 1).acquire();
        CompletableFuture<PermitGrant> head = semaphore(coordinator, 1).acquireAsync(1);
        awaitPlaces(coordinator, 1);
        CompletableFuture<PermitGrant> second = semaphore(coordinator, 1).acquireAsync(1);
        awaitPlaces(coordinator, 2);
        for (CompletableFuture<PermitGrant> waiter : List.of(second, head)) {
            List<SemaphoreMember> waiters = semaphore(coordinator, 1).waiters();
            coordinator.execute(Delete.of(waiters.get(waiters.size() - 1).path()));
            ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
            assertInstanceOf(GrantLostException.class, failure.getCause());
        }
        assertTrue(grant.isHeld());
        grant.close();
        awaitEmpty(coordinator);
    }

    @Test
    void holderIsAskedForAPermitByTheWordInItsZnode() throws Exception {
        Coordinator coordinator = connect();
        PermitGrant grant = semaphore(coordinator, 3).acquire(2);
        CompletableFuture<Void> asked = grant.revocationRequested().toCompletableFuture();
        Coordinator other = connect();
        NodePath lease = semaphore(other, 3).holders().get(1).path();
        other.execute(SetData.of(lease, "something else".getBytes(StandardCharsets.UTF_8)));
        assertFalse(asked.isDone());
        other.execute(SetData.of(lease, RevocationWord.bytes()));
        asked.get(120, SECONDS);
        assertTrue(grant.isHeld(), "whether to follow is the holder's decision");
        other.execute(Delete.of(lease));
        assertEquals(LossReason.REVOKED, grant.lost().toCompletableFuture().get(120, SECONDS));
        awaitEmpty(coordinator);
    }

    @Test
    void permitIsGivenBackWhenAskedForOrTakenAtTheDeadline() throws Exception {
        Coordinator coordinator = connect();
        DistributedSemaphore semaphore = semaphore(connect(), 2);
        PermitGrant kind = semaphore(coordinator, 2).acquire();
        kind.revocationRequested().thenRun(kind::closeAsync);
        semaphore.requestRelease(semaphore.holders().get(0)).get(120, SECONDS);
        assertEquals(LossReason.RELEASED, kind.lost().toCompletableFuture().get(120, SECONDS));
        Duration deadline = Duration.ofMillis(50);
        LossReason reason;
        do { // a holder that had not heard of the request by then only sees that its znode is gone
            PermitGrant deaf = semaphore(coordinator, 2).acquire(2);
            semaphore.requestRelease(semaphore.holders().get(0), deadline).get(120, SECONDS);
            reason = deaf.lost().toCompletableFuture().get(120, SECONDS);
            deadline = deadline.multipliedBy(2);
        } while (reason == LossReason.NODE_DELETED);
        assertEquals(LossReason.REVOKED, reason);
        awaitEmpty(coordinator);
    }

    @Test
    void permitsOfAnExpiredSessionGoToTheNext() throws Exception {
        Coordinator awake = connect();
        ManualTimeSource clock = jumpingClock();
        Coordinator sleeper = opened(builder().timeSource(clock));
        PermitGrant grant = semaphore(sleeper, 2).acquire(2);
        stop(clock);
        CompletableFuture<PermitGrant> waiter = semaphore(awake, 2).acquireAsync(2);
        PermitGrant next = waiter.get(sessionTimeout().toMillis() * 3 + 20_000, MILLISECONDS);
        clock.advance(sessionTimeout().plusSeconds(60)); // it wakes up
        assertFalse(grant.isHeld());
        assertThrows(GrantLostException.class, grant::ensureHeld);
        grant.close();
        assertTrue(next.isHeld());
        next.close();
    }

    @Test
    void closingTheCoordinatorEndsTheGrantAndTheWait() throws Exception {
        Coordinator coordinator = connect();
        Coordinator other = connect();
        PermitGrant grant = semaphore(coordinator, 1).acquire();
        CompletableFuture<PermitGrant> waiter = semaphore(coordinator, 1).acquireAsync(1);
        awaitPlaces(other, 1);
        coordinator.close();
        assertEquals(
                LossReason.COORDINATOR_CLOSED,
                grant.lost().toCompletableFuture().get(120, SECONDS));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertInstanceOf(io.conclave.error.ClosedException.class, failure.getCause());
        awaitEmpty(other);
    }

    @Test
    void waiterThatGivesUpLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        PermitGrant grant = semaphore(coordinator, 2).acquire();
        CompletableFuture<PermitGrant> cancelled = semaphore(coordinator, 2).acquireAsync(2);
        awaitPlaces(coordinator, 1);
        Future<?> interrupted = threads.submit(() -> {
            semaphore(coordinator, 2).acquire(2);
            return null;
        });
        awaitPlaces(coordinator, 2);
        cancelled.cancel(false);
        interrupted.cancel(true);
        awaitPlaces(coordinator, 0);
        assertThrows(
                AcquireTimeoutException.class, () -> semaphore(coordinator, 2).acquire(2, Duration.ofMillis(20)));
        awaitPlaces(coordinator, 0); // the exception does not wait for the deletion
        assertEquals(1, leases(coordinator).size());
        grant.close();
        awaitEmpty(coordinator);
    }

    @Test
    void holdersAndWaitersAreSeenWithTheDataTheyLeft() throws Exception {
        Coordinator coordinator = connect();
        DistributedSemaphore semaphore = semaphore(coordinator, 2);
        assertEquals(List.of(), semaphore.holders());
        PermitGrant grant =
                semaphore.withData("first".getBytes(StandardCharsets.UTF_8)).acquire(2);
        CompletableFuture<PermitGrant> waiter =
                semaphore.withData("second".getBytes(StandardCharsets.UTF_8)).acquireAsync(1);
        awaitPlaces(coordinator, 1);
        assertEquals(
                List.of("first", "first"),
                semaphore.holders().stream().map(SemaphoreMember::text).toList());
        assertEquals(
                RecipeAccess.session(coordinator).id(),
                semaphore.holders().get(0).sessionId());
        assertEquals(
                List.of("second"),
                semaphore.waiters().stream().map(SemaphoreMember::text).toList());
        assertEquals(semaphore.holders(), semaphore.holdersAsync().get(120, SECONDS));
        assertEquals(semaphore.waiters(), semaphore.waitersAsync().get(120, SECONDS));
        assertEquals(semaphore.permits(), semaphore.permitsAsync().get(120, SECONDS));
        grant.close();
        waiter.get(120, SECONDS).close();
    }

    @Test
    void namespaceIsInFrontOfEveryPath() throws Exception {
        Coordinator plain = connect();
        Coordinator inside = opened(builder().namespace("/app/one"));
        try (PermitGrant grant = adjustable(inside, 2).acquire(2)) {
            assertEquals(
                    SEMAPHORE + "/leases",
                    grant.paths().get(0).parent().orElseThrow().toString());
            DistributedSemaphore same = DistributedSemaphore.adjustable(plain, "/app/one" + SEMAPHORE, 9);
            assertEquals(2, same.permits());
            assertEquals(2, same.permitsAsync().get(120, SECONDS));
            CompletableFuture<PermitGrant> waiter = same.acquireAsync(1);
            await().atMost(PATIENCE).until(() -> same.waiters().size() == 1);
            grant.close();
            waiter.get(120, SECONDS).close();
        }
    }
}
