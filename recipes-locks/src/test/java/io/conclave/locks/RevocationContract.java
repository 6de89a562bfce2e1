package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.RevocationOutcome;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.Permission;
import io.conclave.request.SetAcl;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/**
 * What is promised to a client that asks a holder or a waiter to give up, and to the one that is asked, on every
 * backend.
 */
public abstract class RevocationContract extends LockFixture {
    private static final Duration SOON = Duration.ofMillis(150);
    private static final Acl READ_BY_ALL = new Acl(List.of(
            new Acl.Entry(EnumSet.of(Permission.READ), "world", "anyone"),
            new Acl.Entry(EnumSet.allOf(Permission.class), "auth", "")));

    private static LockMember holder(Coordinator coordinator) throws InterruptedException {
        return lockOf(coordinator).holder().orElseThrow();
    }

    @Test
    void holderThatIsAskedMayGiveUp() throws Exception {
        LockGrant grant = lockOf(connect()).acquire(PATIENCE);
        Coordinator revoker = connect();
        CompletableFuture<Void> closed =
                grant.revocationRequested().thenRun(grant::close).toCompletableFuture();
        assertEquals(
                RevocationOutcome.RELEASED,
                lockOf(revoker).requestRelease(holder(revoker)).get(120, SECONDS));
        closed.get(120, SECONDS);
        assertEquals(LossReason.RELEASED, grant.lost().toCompletableFuture().get(120, SECONDS));
    }

    @Test
    void holderThatIsAskedNeedNotFollow() throws Exception {
        LockGrant grant = lockOf(connect()).acquire(PATIENCE);
        Coordinator revoker = connect();
        CompletableFuture<RevocationOutcome> asked = lockOf(revoker).requestRelease(holder(revoker));
        grant.revocationRequested().toCompletableFuture().get(120, SECONDS);
        assertTrue(grant.isHeld());
        assertThrows(AcquireTimeoutException.class, () -> lockOf(revoker).acquire(SOON));
        assertFalse(asked.isDone());
        grant.close();
        assertEquals(RevocationOutcome.RELEASED, asked.get(120, SECONDS));
    }

    @Test
    void holderIsThrownOutAtTheDeadlineAndTheNextOneGetsTheLock() throws Exception {
        Duration deadline = SOON;
        while (!isThrownOutAfterItHeard(deadline)) {
            deadline = deadline.multipliedBy(2);
        }
    }

    /** False if the holder was thrown out before it had heard of the request, as happens on a busy machine. */
    private boolean isThrownOutAfterItHeard(Duration deadline) throws Exception {
        LockGrant grant = lockOf(connect()).acquire(PATIENCE);
        Coordinator revoker = connect();
        CompletableFuture<LockGrant> next = lockOf(revoker).acquireAsync();
        assertEquals(
                RevocationOutcome.DELETED,
                lockOf(revoker).requestRelease(holder(revoker), deadline).get(120, SECONDS));
        LossReason reason = grant.lost().toCompletableFuture().get(120, SECONDS);
        assertFalse(grant.isHeld());
        assertThrows(GrantLostException.class, grant::ensureHeld);
        LockGrant granted = next.get(120, SECONDS);
        assertTrue(granted.token().compareTo(grant.token()) > 0);
        grant.close();
        assertTrue(granted.isHeld());
        granted.close();
        return isOfARequestThatWasHeard(reason);
    }

    private static boolean isOfARequestThatWasHeard(LossReason reason) {
        if (reason != LossReason.NODE_DELETED) {
            assertEquals(LossReason.REVOKED, reason);
        }
        return reason == LossReason.REVOKED;
    }

    @Test
    void holderThatGivesUpBeforeTheDeadlineIsNotThrownOut() throws Exception {
        LockGrant grant = lockOf(connect()).acquire(PATIENCE);
        Coordinator revoker = connect();
        grant.revocationRequested().thenRun(grant::close);
        assertEquals(
                RevocationOutcome.RELEASED,
                lockOf(revoker).requestRelease(holder(revoker), PATIENCE).get(120, SECONDS));
    }

    @Test
    void requestToAReleasedHolderIsAnsweredAtOnce() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        LockMember member = holder(coordinator);
        grant.close();
        assertEquals(
                RevocationOutcome.ALREADY_GONE,
                lockOf(coordinator).requestRelease(member, Duration.ZERO).get(120, SECONDS));
    }

    @Test
    void anotherZnodeOfTheSameNameIsLeftAlone() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        LockMember present = holder(coordinator);
        LockMember past = new LockMember(
                present.path(),
                present.data(),
                present.mode(),
                present.sessionId(),
                present.sequence() - 1,
                Instant.now());
        assertEquals(
                RevocationOutcome.ALREADY_GONE,
                lockOf(coordinator).requestRelease(past, Duration.ZERO).get(120, SECONDS));
        assertTrue(grant.isHeld());
        assertFalse(grant.revocationRequested().toCompletableFuture().isDone());
        assertEquals(present.text(), holder(coordinator).text());
        grant.close();
    }

    @Test
    void waiterThatIsAskedHearsItWithItsGrant() throws Exception {
        Coordinator coordinator = connect();
        LockGrant first = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(connect()).acquireAsync();
        awaitMembers(coordinator, 2);
        CompletableFuture<RevocationOutcome> asked =
                lockOf(coordinator).requestRelease(lockOf(coordinator).members().get(1));
        await().atMost(PATIENCE)
                .until(() -> lockOf(coordinator).members().get(1).text().equals("__REVOKE__"));
        first.close();
        LockGrant grant = waiter.get(120, SECONDS);
        grant.revocationRequested().toCompletableFuture().get(120, SECONDS);
        grant.close();
        assertEquals(RevocationOutcome.RELEASED, asked.get(120, SECONDS));
    }

    @Test
    void waiterIsThrownOutAtTheDeadline() throws Exception {
        Coordinator coordinator = connect();
        LockGrant first = lockOf(coordinator).acquire(PATIENCE);
        CompletableFuture<LockGrant> waiter = lockOf(connect()).acquireAsync();
        awaitMembers(coordinator, 2);
        LockMember member = lockOf(coordinator).members().get(1);
        assertEquals(
                RevocationOutcome.DELETED,
                lockOf(coordinator).requestRelease(member, SOON).get(120, SECONDS));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
        assertInstanceOf(GrantLostException.class, failure.getCause());
        assertTrue(first.isHeld());
        first.close();
    }

    @Test
    void twoMayAskAndBothAreAnswered() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(connect()).acquire(PATIENCE);
        LockMember member = holder(coordinator);
        CompletableFuture<RevocationOutcome> one = lockOf(coordinator).requestRelease(member);
        CompletableFuture<RevocationOutcome> two = lockOf(connect()).requestRelease(member, PATIENCE);
        grant.revocationRequested().thenRun(grant::closeAsync);
        List<RevocationOutcome> outcomes = List.of(one.get(120, SECONDS), two.get(120, SECONDS));
        assertTrue(outcomes.contains(RevocationOutcome.RELEASED), outcomes::toString);
        assertFalse(outcomes.contains(RevocationOutcome.DELETED), outcomes::toString);
    }

    @Test
    void cancellingLiftsTheDeadline() throws Exception {
        Duration deadline = Duration.ofMillis(400);
        while (!isLiftedByCancelling(deadline)) {
            deadline = deadline.multipliedBy(2);
        }
    }

    /** False if the deadline was over before the request was cancelled, as happens on a busy machine. */
    private boolean isLiftedByCancelling(Duration deadline) throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(connect()).acquire(PATIENCE);
        LockMember holder = holder(coordinator);
        long asked = System.nanoTime();
        CompletableFuture<RevocationOutcome> request = lockOf(coordinator).requestRelease(holder, deadline);
        grant.revocationRequested().toCompletableFuture().get(120, SECONDS);
        request.cancel(true);
        boolean inTime = System.nanoTime() - asked < deadline.toNanos() / 2;
        if (inTime) {
            Duration beyond = deadline.multipliedBy(2);
            assertThrows(
                    AcquireTimeoutException.class, () -> lockOf(coordinator).acquire(beyond));
            assertTrue(grant.isHeld());
        }
        grant.close();
        return inTime;
    }

    @Test
    void revokerLearnsThatItsCoordinatorIsClosed() throws Exception {
        LockGrant grant = lockOf(connect()).acquire(PATIENCE);
        Coordinator closing = connect();
        CompletableFuture<RevocationOutcome> asked = lockOf(closing).requestRelease(holder(closing));
        grant.revocationRequested().toCompletableFuture().get(120, SECONDS);
        holder(closing); // behind the answer to the request: the holder may know of it before
        closing.close();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> asked.get(120, SECONDS));
        assertInstanceOf(ClosedException.class, failure.getCause());
        assertTrue(grant.isHeld());
        grant.close();
    }

    @Test
    void unlockInTheHoldersZnodeIsARequest() throws Exception {
        LockGrant grant = lockOf(connect()).acquire(PATIENCE);
        connect().execute(SetData.of(grant.path(), "unlock".getBytes(StandardCharsets.UTF_8)));
        grant.revocationRequested().toCompletableFuture().get(120, SECONDS);
        assertTrue(grant.isHeld());
        grant.close();
    }

    @Test
    void readersAndWritersAreAsked() throws Exception {
        Coordinator coordinator = connect();
        SharedLock lock = SharedLock.at(connect(), PATH);
        SharedLock revoker = SharedLock.at(coordinator, PATH);
        ReadGrant one = lock.readLock().acquire(PATIENCE);
        ReadGrant two = lock.readLock().acquire(PATIENCE);
        one.revocationRequested().thenRun(one::close);
        List<LockMember> readers = revoker.holders();
        assertEquals(
                RevocationOutcome.RELEASED,
                revoker.readLock().requestRelease(readers.get(0)).get(120, SECONDS));
        assertFalse(two.revocationRequested().toCompletableFuture().isDone());
        get(two.closeAsync());
        Duration deadline = SOON;
        while (!isRevokedAtTheDeadline(lock.readLock().acquire(PATIENCE), revoker, deadline)) {
            deadline = deadline.multipliedBy(2);
        }
        WriteGrant writer = lock.writeLock().acquire(PATIENCE);
        CompletableFuture<ReadGrant> downgraded = new CompletableFuture<>();
        writer.revocationRequested().thenRun(() -> writer.downgradeAsync().thenAccept(downgraded::complete));
        assertEquals(
                RevocationOutcome.RELEASED,
                revoker.writeLock()
                        .requestRelease(revoker.holders().get(0), PATIENCE)
                        .get(120, SECONDS),
                "to go on as a reader is to give up as a writer");
        ReadGrant reader = downgraded.get(120, SECONDS);
        assertFalse(reader.revocationRequested().toCompletableFuture().isDone());
        assertTrue(reader.isHeld());
        reader.close();
    }

    private static boolean isRevokedAtTheDeadline(ReadGrant grant, SharedLock revoker, Duration deadline)
            throws Exception {
        LockMember reader = revoker.holders().get(0);
        assertEquals(
                RevocationOutcome.DELETED,
                revoker.readLock().requestRelease(reader, deadline).get(120, SECONDS));
        return isOfARequestThatWasHeard(grant.lost().toCompletableFuture().get(120, SECONDS));
    }

    private Coordinator connectAs(String user, Acl acl) {
        return opened(
                builder().authentication(Authentication.digest(user, "secret")).defaultAcl(acl));
    }

    @Test
    void revokerWithoutPermissionOnTheHoldersZnodeIsRefusedWithItsPath() throws Exception {
        Coordinator owner = connectAs("owner", Acl.CREATOR_ONLY);
        LockGrant grant = lockOf(owner).acquire(PATIENCE);
        LockMember member = holder(owner);
        Coordinator stranger = connect();
        assertRefused(lockOf(stranger).requestRelease(member), member.path());
        owner.execute(SetAcl.of(grant.path(), READ_BY_ALL));
        assertRefused(lockOf(stranger).requestRelease(member, Duration.ZERO), member.path());
        assertTrue(grant.isHeld());
        assertFalse(grant.revocationRequested().toCompletableFuture().isDone());
        grant.close();
    }

    @Test
    void revokerWithoutPermissionToDeleteIsRefusedWithThePathAtTheDeadline() throws Exception {
        Coordinator owner = connectAs("owner", Acl.CREATOR_ONLY);
        LockGrant grant = lockOf(owner).acquire(PATIENCE);
        LockMember member = holder(owner);
        owner.execute(SetAcl.of(grant.path(), Acl.OPEN)); // to delete it needs a right on the lock's znode
        assertRefused(
                lockOf(connect()).requestRelease(member, SOON), lockOf(owner).path());
        grant.revocationRequested().toCompletableFuture().get(120, SECONDS);
        assertTrue(grant.isHeld());
        grant.close();
    }

    private static void assertRefused(CompletableFuture<RevocationOutcome> asked, NodePath named) {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> asked.get(120, SECONDS));
        RefusedException refused = assertInstanceOf(RefusedException.class, failure.getCause());
        assertEquals(RefusalReason.NO_AUTH, refused.reason());
        assertTrue(refused.getMessage().contains(named.toString()), refused::getMessage);
    }

    @Test
    void requestsToNonMembersAndNegativeDeadlinesAreRefusedByName() throws Exception {
        Coordinator coordinator = connect();
        LockGrant grant = lockOf(coordinator).acquire(PATIENCE);
        LockMember member = holder(coordinator);
        DistributedLock other = DistributedLock.at(coordinator, NodePath.of("/locks/other"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> other.requestRelease(member))
                .getMessage()
                .contains(member.path().toString()));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> lockOf(coordinator)
                        .requestRelease(member, Duration.ofSeconds(-1)))
                .getMessage()
                .contains("PT-1S"));
        grant.close();
    }
}
