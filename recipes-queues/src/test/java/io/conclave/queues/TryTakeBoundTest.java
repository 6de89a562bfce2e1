package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.NotConnectedException;
import io.conclave.metrics.MetricsHook;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import io.conclave.node.DataCodec;
import io.conclave.request.Multi;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A try for an item never takes longer than it says, and an item that it had taken by then goes back. */
class TryTakeBoundTest {
    private static final Duration BOUND = Duration.ofSeconds(1);
    private static final Duration A_LITTLE = Duration.ofMillis(1);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator other = connect(TimeSource.system());
    private final Coordinator coordinator = connect(clock);
    private final Faults faults = store.faults();

    private Coordinator connect(TimeSource time) {
        return builder(time).connect();
    }

    private CoordinatorBuilder builder(TimeSource time) {
        return store.builder().sessionTimeout(Duration.ofSeconds(60)).timeSource(time);
    }

    private static DistributedQueue<String> queue(Coordinator coordinator) {
        return DistributedQueue.at(coordinator, "/queues/orders", DataCodec.TEXT);
    }

    private static FutureTask<?> begin(Callable<?> call) {
        FutureTask<?> task = new FutureTask<>(call);
        Thread thread = new Thread(task);
        thread.start();
        await().until(() -> thread.getState() == Thread.State.WAITING || task.isDone());
        return task;
    }

    private void assertEndsAtTheBound(FutureTask<?> call) {
        clock.advance(BOUND.minus(A_LITTLE));
        assertFalse(call.isDone());
        clock.advance(A_LITTLE);
        assertInstanceOf(
                NotConnectedException.class,
                assertThrows(ExecutionException.class, () -> call.get(120, SECONDS))
                        .getCause());
    }

    @Test
    void tryWithoutAConnectionEndsWithinItsBound() throws Exception {
        queue(other).put("order");
        faults.suspend(RecipeAccess.session(coordinator).id());
        await().until(() -> coordinator.state() == SessionState.SUSPENDED);
        DistributedQueue<String> queue = queue(coordinator);
        List<Callable<?>> tries = List.of(
                queue::tryTake, queue::tryClaim, () -> queue.take(Duration.ZERO), () -> queue.claim(Duration.ZERO));
        for (Callable<?> one : tries) {
            assertEndsAtTheBound(begin(one));
        }
        faults.restoreAll();
        assertEquals(Optional.of("order"), queue(other).take(Duration.ofSeconds(20)));
    }

    @Test
    void hookIsToldOfATryWithoutAConnectionThatItFailed() throws Exception {
        List<Outcome> outcomes = new CopyOnWriteArrayList<>();
        MetricsHook hook = new MetricsHook() {
            @Override
            public Ongoing begin(String name, String subject) {
                return new Ongoing() {
                    @Override
                    public void end(Outcome outcome) {
                        outcomes.add(outcome);
                    }
                };
            }
        };
        try (Coordinator observed = builder(clock).metrics(hook).connect()) {
            faults.suspend(RecipeAccess.session(observed).id());
            await().until(() -> observed.state() == SessionState.SUSPENDED);
            assertEndsAtTheBound(begin(queue(observed)::tryTake));
            assertEquals(List.of(Outcome.FAILED), outcomes);
        }
    }

    @Test
    void itemTakenAfterTheTimeoutIsReturned() throws Exception {
        long session = RecipeAccess.session(coordinator).id();
        queue(other).put("order");
        assertEquals(Optional.of("order"), queue(coordinator).tryTake()); // makes the commit marker
        queue(other).put("next");
        faults.onNext(request -> request instanceof Multi, RequestFate.HOLD_REPLY);
        FutureTask<?> call = begin(() -> queue(coordinator).tryTake());
        await().until(() -> queue(other).count().waiting() == 0);
        assertEndsAtTheBound(call);
        faults.releaseReplies(session);
        assertEquals(Optional.of("next"), queue(other).take(Duration.ofSeconds(20)));
    }

    @Test
    void itemClaimedAfterTheTimeoutIsReturned() throws Exception {
        long session = RecipeAccess.session(coordinator).id();
        queue(other).put("order");
        faults.onNext(request -> request instanceof Multi, RequestFate.HOLD_REPLY);
        FutureTask<?> call = begin(() -> queue(coordinator).tryClaim());
        await().until(() -> queue(other).count().waiting() == 0);
        assertEndsAtTheBound(call);
        faults.releaseReplies(session);
        assertEquals(Optional.of("order"), queue(other).take(Duration.ofSeconds(20)));
    }
}
