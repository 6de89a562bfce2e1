package io.conclave.testkit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.ConnectException;
import io.conclave.error.SessionGoneException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Create;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A coordinator lost its session, and the backend throws when the next one is opened. */
class FailedOpeningTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final AtomicInteger losses = new AtomicInteger();
    private final AtomicInteger failures = FailingOpenBackend.failuresLeft(store);

    private Coordinator connect() {
        return Coordinator.builder("failing-open:" + store)
                .timeSource(clock)
                .metrics(new MetricsHook() {
                    @Override
                    public void count(String name, String subject) {
                        if (name.equals("session.lost")) {
                            losses.incrementAndGet();
                        }
                    }
                })
                .connect();
    }

    private void loseSession(Coordinator coordinator) {
        MemoryStore.named(store)
                .faults()
                .expire(RecipeAccess.session(coordinator).id());
    }

    @Test
    void theCoordinatorTriesAgainUntilASessionIsOpened() throws Exception {
        try (Coordinator coordinator = connect()) {
            List<SessionState> told = new CopyOnWriteArrayList<>();
            coordinator.onStateChange(told::add);
            failures.set(3);
            loseSession(coordinator);
            // what it is told: its state may be that of the former session yet
            clock.advanceUntil(Duration.ofMillis(100), () -> told.contains(SessionState.CONNECTED));
            coordinator.execute(Create.of(NodePath.of("/a")));
            assertEquals(List.of(SessionState.LOST, SessionState.CONNECTED), told, "one loss, told once");
            assertEquals(1, losses.get());
        }
    }

    @Test
    void connectingTriesAgainAndTellsWhyThereIsNoConnection() throws Exception {
        failures.set(Integer.MAX_VALUE);
        CompletableFuture<Coordinator> connecting = Coordinator.builder("failing-open:" + store)
                .timeSource(clock)
                .connectTimeout(Duration.ofSeconds(5))
                .connectAsync();
        clock.advanceUntil(Duration.ofMillis(100), connecting::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> connecting.get(120, SECONDS));
        assertInstanceOf(ConnectException.class, failure.getCause());
        assertTrue(failure.getMessage().contains("No thread can be started"), failure::getMessage);

        failures.set(2);
        CompletableFuture<Coordinator> next =
                Coordinator.builder("failing-open:" + store).timeSource(clock).connectAsync();
        clock.advanceUntil(Duration.ofMillis(100), next::isDone);
        next.get(120, SECONDS).close();
    }

    @Test
    void requestsOfASessionThatCannotBeOpenedEndWhenTheNextOneIsTried() throws Exception {
        try (Coordinator coordinator = connect()) {
            failures.set(1);
            long lost = RecipeAccess.session(coordinator).id();
            loseSession(coordinator);
            await().atMost(PATIENCE)
                    .until(() -> RecipeAccess.session(coordinator).id() != lost && failures.get() == 0);
            RecipeSession unopened = RecipeAccess.session(coordinator);
            CompletableFuture<Create.Created> request =
                    unopened.submit(Create.of(NodePath.of("/a"))).toCompletableFuture();
            // the failure is counted before the next try's timer is armed: one step could come too early
            clock.advanceUntil(Duration.ofMillis(100), request::isDone);
            ExecutionException failure = assertThrows(ExecutionException.class, () -> request.get(120, SECONDS));
            assertInstanceOf(SessionGoneException.class, failure.getCause());
            await().atMost(PATIENCE).until(() -> coordinator.state() == SessionState.CONNECTED);
        }
    }

    @Test
    void closingEndsTheTries() throws Exception {
        Coordinator coordinator = connect();
        failures.set(Integer.MAX_VALUE);
        long lost = RecipeAccess.session(coordinator).id();
        loseSession(coordinator);
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(coordinator).id() != lost);
        CompletableFuture<Create.Created> request = RecipeAccess.session(coordinator)
                .submit(Create.of(NodePath.of("/a")))
                .toCompletableFuture();
        coordinator.close();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> request.get(120, SECONDS));
        assertInstanceOf(ClosedException.class, failure.getCause());
        int left = failures.get();
        clock.advance(Duration.ofMinutes(1));
        assertEquals(left, failures.get(), "no session is tried after the close");
    }
}
