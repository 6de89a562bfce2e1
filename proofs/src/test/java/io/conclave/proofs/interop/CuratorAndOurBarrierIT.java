package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.barriers.Barrier;
import io.conclave.barriers.DoubleBarrier;
import io.conclave.barriers.Participation;
import io.conclave.error.RefusedException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.request.GetChildren;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Curator's barriers and ours on one path hold each other's processes, and let them go on together. Of double barriers
 * one round: docs/recipes/double-barrier.md says what a mixture does not keep.
 */
class CuratorAndOurBarrierIT extends CuratorBesideOurs {
    private static final String PATH = "/barriers/shared";

    private Barrier ourBarrier() {
        return Barrier.at(coordinator, PATH);
    }

    private DistributedBarrier theirBarrier() {
        return new DistributedBarrier(curator, PATH);
    }

    @ParameterizedTest
    @EnumSource
    void weWaitForCuratorsBarrier(ServerKind kind) throws Exception {
        open(kind);
        theirBarrier().setBarrier();
        assertTrue(ourBarrier().isSet());
        ourBarrier().set(); // as good
        assertThrows(WaitTimeoutException.class, () -> ourBarrier().await(Duration.ofMillis(200)));
        CompletableFuture<Void> waiting = ourBarrier().awaitAsync();
        assertFalse(waiting.isDone());
        theirBarrier().removeBarrier();
        waiting.get(120, SECONDS);
        assertFalse(ourBarrier().isSet());
    }

    @ParameterizedTest
    @EnumSource
    void curatorWaitsForOurBarrier(ServerKind kind) throws Exception {
        open(kind);
        ourBarrier().set();
        theirBarrier().setBarrier(); // as good
        assertFalse(theirBarrier().waitOnBarrier(200, MILLISECONDS));
        Future<Boolean> waiting = threads.submit(() -> theirBarrier().waitOnBarrier(20, SECONDS));
        assertFalse(waiting.isDone());
        ourBarrier().remove();
        assertTrue(waiting.get(120, SECONDS));
        ourBarrier().await(Duration.ofSeconds(20));
    }

    private DoubleBarrier ourDoubleBarrier() {
        return DoubleBarrier.at(coordinator, PATH, 2);
    }

    private DistributedDoubleBarrier theirDoubleBarrier() {
        return new DistributedDoubleBarrier(curator, PATH, 2);
    }

    private List<String> children() throws InterruptedException {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(PATH))).names();
        } catch (RefusedException noBarrier) {
            return List.of(); // not yet, or it was an empty container
        }
    }

    /** No participant is left, and nothing that would let the next round's first one in. */
    private void awaitEmpty() {
        await().atMost(PATIENCE).until(() -> children().isEmpty());
    }

    @ParameterizedTest
    @EnumSource
    void weComeFirstAndCuratorOpensTheDoubleBarrier(ServerKind kind) throws Exception {
        open(kind);
        CompletableFuture<Participation> entering = ourDoubleBarrier().enterAsync();
        await().atMost(PATIENCE).until(() -> children().size() == 1);
        assertFalse(entering.isDone());
        DistributedDoubleBarrier theirs = theirDoubleBarrier();
        Future<Boolean> theirEntering = threads.submit(() -> theirs.enter(20, SECONDS));
        assertTrue(theirEntering.get(120, SECONDS));
        Participation participation = entering.get(120, SECONDS);
        CompletableFuture<Void> leaving = participation.leaveAsync();
        assertThrows(TimeoutException.class, () -> leaving.get(200, MILLISECONDS));
        Future<Boolean> theirLeaving = threads.submit(() -> theirs.leave(20, SECONDS));
        assertTrue(theirLeaving.get(120, SECONDS));
        leaving.get(120, SECONDS);
        awaitEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void curatorComesFirstAndWeOpenTheDoubleBarrier(ServerKind kind) throws Exception {
        open(kind);
        DistributedDoubleBarrier theirs = theirDoubleBarrier();
        Future<Boolean> theirEntering = threads.submit(() -> theirs.enter(20, SECONDS));
        await().atMost(PATIENCE).until(() -> children().size() == 1);
        assertFalse(theirEntering.isDone());
        Participation participation = ourDoubleBarrier().enter(Duration.ofSeconds(20));
        assertTrue(theirEntering.get(120, SECONDS));
        Future<Boolean> theirLeaving = threads.submit(() -> theirs.leave(20, SECONDS));
        assertThrows(TimeoutException.class, () -> theirLeaving.get(200, MILLISECONDS));
        participation.leave(Duration.ofSeconds(20));
        assertTrue(theirLeaving.get(120, SECONDS));
        awaitEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void ourParticipantThatDiesInsideDoesNotBlockCurator(ServerKind kind) throws Exception {
        open(kind);
        DistributedDoubleBarrier theirs = theirDoubleBarrier();
        Future<Boolean> theirEntering = threads.submit(() -> theirs.enter(20, SECONDS));
        Participation participation = ourDoubleBarrier().enter(Duration.ofSeconds(20));
        assertTrue(theirEntering.get(120, SECONDS));
        Future<Boolean> theirLeaving = threads.submit(() -> theirs.leave(20, SECONDS));
        participation.close(); // as if it had died
        assertTrue(theirLeaving.get(120, SECONDS));
        awaitEmpty();
    }
}
