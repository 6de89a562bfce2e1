package io.conclave.barriers;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.NotConnectedException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** With a limit of zero the store's answer decides, and no other participant is waited for. */
@Timeout(300)
class ZeroLimitTest {
    private static final NodePath PATH = NodePath.of("/barrier");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource(); // so nothing ends by its time
    private final Coordinator coordinator = store.connect(clock);

    private void leavesNoWatch() throws InterruptedException {
        Quiescence.await(faults, List.of(coordinator));
        assertEquals(0, faults.watchCount(RecipeAccess.session(coordinator).id()));
    }

    private static Throwable failure(CompletableFuture<?> outcome) {
        return assertThrows(ExecutionException.class, () -> outcome.get(120, SECONDS))
                .getCause();
    }

    @Test
    void barrierIsLookedAtOnce() throws Exception {
        Barrier barrier = Barrier.at(coordinator, PATH);
        barrier.await(Duration.ZERO);
        barrier.set();
        assertThrows(WaitTimeoutException.class, () -> barrier.await(Duration.ZERO));
        leavesNoWatch();
        barrier.remove();
        barrier.awaitAsync(Duration.ZERO).get(120, SECONDS);
    }

    @Test
    void latchIsLookedAtOnce() throws Exception {
        Latch latch = Latch.at(coordinator, PATH, 1);
        assertThrows(WaitTimeoutException.class, () -> latch.await(Duration.ZERO));
        leavesNoWatch();
        latch.countDown();
        latch.await(Duration.ZERO);
        assertThrows(IllegalArgumentException.class, () -> Latch.at(coordinator, PATH, 2)
                .await(Duration.ZERO));
    }

    @Test
    void doubleBarrierIsEnteredByTheLastOneToCome() throws Exception {
        DoubleBarrier barrier = DoubleBarrier.at(coordinator, PATH, 2);
        assertThrows(WaitTimeoutException.class, () -> barrier.enter(Duration.ZERO));
        leavesNoWatch();
        assertEquals(List.of(), coordinator.execute(GetChildren.of(PATH)).names(), "nothing of it is counted any more");
        CompletableFuture<Participation> first = barrier.enterAsync();
        Quiescence.await(faults, List.of(coordinator));
        Participation second = barrier.enter(Duration.ZERO);
        Participation waiting = first.get(120, SECONDS);
        assertInstanceOf(WaitTimeoutException.class, failure(barrier.enterAsync(Duration.ZERO)), "of the next round");
        assertInstanceOf(WaitTimeoutException.class, failure(second.leaveAsync(Duration.ZERO)));
        assertFalse(second.isHeld(), "it has left anyway");
        waiting.leave(Duration.ZERO);
        assertTrue(coordinator.execute(Exists.of(PATH.child("ready"))).isEmpty());
        leavesNoWatch();
    }

    @Test
    void withoutAnAnswerItEndsWithinTheTryTimeout() throws Exception {
        faults.holdReplies(RecipeAccess.session(coordinator).id());
        List<CompletableFuture<?>> waits = List.of(
                Barrier.at(coordinator, PATH).awaitAsync(Duration.ZERO),
                Latch.at(coordinator, PATH, 1).awaitAsync(Duration.ZERO),
                DoubleBarrier.at(coordinator, PATH, 2).enterAsync(Duration.ZERO));
        for (CompletableFuture<?> wait : waits) {
            clock.advanceUntil(Duration.ofMillis(100), wait::isDone);
            assertInstanceOf(NotConnectedException.class, failure(wait));
        }
    }
}
