package io.conclave.guards;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import io.conclave.error.GrantLostException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.locks.ReadGrant;
import io.conclave.locks.SharedLock;
import io.conclave.locks.WriteGrant;
import io.conclave.node.Acl;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import io.conclave.testkit.contract.StoreUnderTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a guard on the coordination store promises, on every backend; a subclass says where the backend is. */
public abstract class StoreGuardContract implements StoreUnderTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final NodePath DATA = NodePath.of("/orders");

    private final List<Coordinator> coordinators = new ArrayList<>();
    private Coordinator shared;

    /** The one that most tests need, with the data; made at its first use, when a subclass has said where. */
    private Coordinator coordinator() throws InterruptedException {
        if (shared == null) {
            shared = opened(builder());
            shared.execute(Create.of(DATA).withData(bytes("first")));
        }
        return shared;
    }

    @AfterEach
    void closeAll() {
        coordinators.forEach(Coordinator::close);
    }

    private CoordinatorBuilder builder() {
        return Coordinator.builder(connectString())
                .sessionTimeout(Duration.ofSeconds(30))
                .linearizableReads(true); // on an ensemble one session looks at what another has written
    }

    private Coordinator opened(CoordinatorBuilder builder) {
        Coordinator opened = builder.connect();
        coordinators.add(opened);
        return opened;
    }

    private static LockGrant acquire(Coordinator coordinator) throws InterruptedException {
        return DistributedLock.at(coordinator, "/locks/orders").acquire(PATIENCE);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void assertData(String expected) throws InterruptedException {
        assertArrayEquals(
                bytes(expected), coordinator().execute(GetData.of(DATA)).data());
    }

    private boolean exists(NodePath path) throws InterruptedException {
        try {
            coordinator().execute(GetData.of(path));
            return true;
        } catch (RefusedException e) {
            assertEquals(RefusalReason.NO_NODE, e.reason());
            return false;
        }
    }

    @Test
    void writesTakeEffectTogetherWhileTheGrantIsThere() throws Exception {
        StoreGuard guard = StoreGuard.of(acquire(coordinator()));
        List<Multi.Result> results = guard.execute(
                coordinator(),
                SetData.of(DATA, bytes("second")),
                Create.of(DATA.child("a")),
                Delete.of(DATA.child("a")));
        assertData("second");
        assertEquals(3, results.size());
        assertEquals(1, results.get(0).stat().orElseThrow().version());
        assertEquals(Optional.of(DATA.child("a")), results.get(1).path());
        assertEquals(Multi.Result.NONE, results.get(2));
    }

    @Test
    void withoutWritesItAsksWhetherTheGrantIsThere() throws Exception {
        LockGrant grant = acquire(coordinator());
        StoreGuard guard = StoreGuard.of(grant);
        assertEquals(List.of(), guard.execute(coordinator()));
        grant.close();
        assertThrows(GrantLostException.class, () -> guard.execute(coordinator()));
    }

    @Test
    void writeAfterTheReleaseIsRefusedAlsoWhileAnotherHolds() throws Exception {
        LockGrant grant = acquire(coordinator());
        StoreGuard guard = StoreGuard.of(grant);
        grant.close();
        LockGrant next = acquire(opened(builder()));
        GrantLostException failure = assertThrows(
                GrantLostException.class,
                () -> guard.execute(coordinator(), Create.of(DATA.child("a")), SetData.of(DATA, bytes("late"))));
        assertTrue(
                failure.getMessage().contains(grant.absolutePath().toString())
                        && failure.getMessage().contains(DATA.toString()),
                failure::getMessage);
        assertData("first");
        assertTrue(!exists(DATA.child("a")), "half of the writes were made");
        StoreGuard.of(next).execute(coordinator(), SetData.of(DATA, bytes("second"))); // through any coordinator
        assertData("second");
    }

    @Test
    void writeIsRefusedAfterAnOperatorHasDeletedTheHoldersZnode() throws Exception {
        LockGrant grant = acquire(coordinator());
        StoreGuard guard = StoreGuard.of(grant);
        opened(builder()).execute(Delete.of(grant.path()));
        assertThrows(GrantLostException.class, () -> guard.execute(coordinator(), SetData.of(DATA, bytes("late"))));
        assertData("first");
    }

    @Test
    void coordinatorsOfOtherNamespacesWriteUnderTheSameGrant() throws Exception {
        Coordinator owner = opened(builder().namespace("/team/locks"));
        Coordinator writer = opened(builder().namespace("/team/data"));
        LockGrant grant = acquire(owner);
        assertTrue(
                grant.absolutePath().toString().endsWith("/team/locks" + grant.path()), grant.absolutePath()::toString);
        StoreGuard guard = StoreGuard.at(grant.absolutePath().toString()); // sent as text, say
        List<Multi.Result> results = guard.execute(writer, Create.of(NodePath.of("/a")));
        assertEquals(Optional.of(NodePath.of("/a")), results.get(0).path());
        assertTrue(exists(NodePath.of("/team/data/a")));
        guard.execute(coordinator(), SetData.of(DATA, bytes("second")));
        grant.close();
        assertThrows(GrantLostException.class, () -> guard.execute(writer, Delete.of(NodePath.of("/a"))));
        assertTrue(exists(NodePath.of("/team/data/a")));
    }

    @Test
    void refusedWriteIsNoLossOfTheGrant() throws Exception {
        LockGrant grant = acquire(coordinator());
        StoreGuard guard = StoreGuard.of(grant);
        RefusedException noNode = assertThrows(
                RefusedException.class, () -> guard.execute(coordinator(), Delete.of(NodePath.of("/missing"))));
        assertEquals(RefusalReason.NO_NODE, noNode.reason());
        assertEquals(OptionalInt.of(0), noNode.operationIndex());
        RefusedException badVersion = assertThrows(
                RefusedException.class,
                () -> guard.execute(
                        coordinator(),
                        Create.of(DATA.child("a")),
                        SetData.of(DATA, bytes("x")).withVersion(7)));
        assertEquals(RefusalReason.BAD_VERSION, badVersion.reason());
        assertEquals(OptionalInt.of(1), badVersion.operationIndex());
        assertData("first");
        assertTrue(grant.isHeld());
    }

    @Test
    void writerNeedsToReadTheHoldersZnode() throws Exception {
        Coordinator owner = opened(
                builder().authentication(Authentication.digest("alice", "a")).defaultAcl(Acl.CREATOR_ONLY));
        StoreGuard guard = StoreGuard.of(acquire(owner));
        RefusedException refusal =
                assertThrows(RefusedException.class, () -> guard.execute(coordinator(), SetData.of(DATA, bytes("x"))));
        assertEquals(RefusalReason.NO_AUTH, refusal.reason());
        assertEquals(OptionalInt.empty(), refusal.operationIndex());
        assertData("first");
        guard.execute(owner, SetData.of(DATA, bytes("second")));
        assertData("second");
    }

    @Test
    void asynchronousFormSaysTheSame() throws Exception {
        LockGrant grant = acquire(coordinator());
        StoreGuard guard = StoreGuard.of(grant);
        String read = guard.executeAsync(coordinator(), SetData.of(DATA, bytes("second")))
                .thenApply(results -> {
                    try {
                        assertData("second"); // it may block: this is no dispatcher
                        return results.toString();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                })
                .get(120, SECONDS);
        assertTrue(read.contains("version=1"), read);
        grant.close();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> guard.executeAsync(coordinator())
                .get(120, SECONDS));
        assertTrue(failure.getCause() instanceof GrantLostException, failure::toString);
    }

    @Test
    void continuationsOfAGuardedWriteMayBlock() throws Exception {
        Coordinator coordinator = coordinator();
        LockGrant grant = acquire(coordinator);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch mayReturn = new CountDownLatch(1);
        CompletableFuture<Boolean> onDispatcher = new CompletableFuture<>();
        Thread attaching = new Thread(() -> StoreGuard.of(grant)
                .executeAsync(coordinator, Create.of(NodePath.of("/guarded-orders")))
                .whenComplete((results, failure) -> {
                    onDispatcher.complete(RecipeAccess.session(coordinator).isDispatcherThread());
                    entered.countDown();
                    awaitUninterruptibly(mayReturn);
                }));
        attaching.setDaemon(true);
        attaching.start(); // a future that is complete already is followed on this thread
        try {
            assertTrue(entered.await(120, SECONDS));
            assertFalse(onDispatcher.get());
            coordinator.submit(GetData.of(NodePath.ROOT)); // may have to wait behind a stage of a request
            CompletableFuture<NodeEvent> seen = new CompletableFuture<>();
            RecipeAccess.session(coordinator)
                    .submit(GetData.of(DATA).withWatcher(seen::complete))
                    .toCompletableFuture()
                    .get(120, SECONDS);
            coordinator.execute(SetData.of(DATA, bytes("while it blocks")));
            seen.get(120, SECONDS);
            DistributedLock.at(coordinator, "/locks/other")
                    .acquireAsync()
                    .get(120, SECONDS)
                    .close();
        } finally {
            mayReturn.countDown();
        }
        grant.close();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void leaderWritesUnderItsLeadershipAndNotAfterItsResignation() throws Exception {
        Leadership leadership =
                LeaderElection.at(coordinator(), "/elections/orders").campaign(PATIENCE);
        StoreGuard guard = StoreGuard.of(leadership);
        guard.execute(coordinator(), SetData.of(DATA, bytes("by the leader")));
        assertData("by the leader");
        leadership.resign();
        Leadership next = LeaderElection.at(coordinator(), "/elections/orders").campaign(PATIENCE);
        assertThrows(GrantLostException.class, () -> guard.execute(coordinator(), SetData.of(DATA, bytes("too late"))));
        assertData("by the leader");
        next.close();
    }

    @Test
    void readerOfASharedLockWritesAfterADowngradeUnderItsOwnGuardOnly() throws Exception {
        WriteGrant writing =
                SharedLock.at(coordinator(), "/locks/catalog").writeLock().acquire(PATIENCE);
        StoreGuard writers = StoreGuard.of(writing);
        ReadGrant reading = writing.downgrade();
        assertThrows(
                GrantLostException.class, () -> writers.execute(coordinator(), SetData.of(DATA, bytes("too late"))));
        StoreGuard.of(reading).execute(coordinator(), SetData.of(DATA, bytes("by the reader")));
        assertData("by the reader");
        reading.close();
    }
}
